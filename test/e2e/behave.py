#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What users see besides answers: messages of faulty programs and settings, counters, the cache, EXPLAIN."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"


class Bench:
    """Compiles and runs programs in a scratch folder; counts failures."""

    def __init__(self, options):
        self.o = options
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="cofuse-behave-"))
        self.passed = self.failed = 0

    def compile(self, name, *sources, flags=()):
        out = self.tmp / name
        command = [self.o.build + "/bin/cofuse-cc", "-O2", *self.o.cflags.split(), *flags, *map(str, sources),
                   "-o", str(out), "-lm"]
        subprocess.run(command, check=True, timeout=120)
        return out

    def run(self, program, *args, ranks=1, cache=None, stdin="", **settings):
        env = dict(os.environ, COFUSE_DEVICE="cpu", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   COFUSE_CACHE_DIR=str(cache or self.tmp / "cache"))
        env.update({k: str(v) for k, v in settings.items()})
        command = [str(program), *map(str, args)]
        if ranks > 1:
            command = [self.o.mpiexec, "--oversubscribe", "-n", str(ranks)] + command
        p = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, cwd=self.tmp,
                           input=stdin)
        return p.returncode, p.stdout, p.stderr

    def counters(self, program, *args, **kw):
        path = self.tmp / "stats.json"
        path.unlink(missing_ok=True)
        code, out, err = self.run(program, *args, COFUSE_STATS=path, **kw)
        if code != 0:
            return {"failed": err}
        return json.loads(path.read_text())

    def check(self, what, ok, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {what}\n  {detail}")

    def expect(self, what, result, code, *patterns):
        got, out, err = result
        text = out + err
        missing = [p for p in patterns if not re.search(p, text)]
        self.check(what, (got == 0) == (code == 0) and got >= 0 and not missing,
                   f"exit {got}, wanted {'0' if code == 0 else 'a failure'}; missing {missing}\n  {text[:2000]}")


def faults(b):
    b.expect("access beyond the extents", b.run(b.compile("beyond", HERE / "behave/beyond.c")), 1,
             r"beyond\.c:10: loop of line 8 accesses a\[i\] beyond store\(a\[0.*n\]\) of .*beyond\.c:7",
             r"elements 0 to 10, but the store has 10")
    carried = b.compile("carried", HERE / "behave/carried.c")
    result = b.run(carried)
    b.expect("a dependence that addresses show", result, 0, r"^0 1 2 3 4 5 6 7 8 9 10 11 \n",
             r"carried\.c:5: loop runs serially.*to\[i\] \(line 7\).*from\[i\] \(line 7\)")
    b.check("it is reported once", result[2].count("runs serially") == 1, result[2])
    slow = b.compile("slow", HERE / "behave/slow.c", flags=["-lm"])
    b.expect("time that serial loops took", b.run(slow, 1000000, 3), 0,
             r"s went to loops that did not run in parallel:.*slow\.c:\d+ \(chain:\d+\) 3 times serially",
             r"slow\.c:\d+ \(replica\) 3 times")
    result = b.run(slow, 100, 1)
    b.check("no line about loops that took no time", "did not run in parallel" not in result[2], result[2])
    fork = b.compile("fork", HERE / "behave/fork.c")
    b.expect("a forked child on one rank", b.run(fork), 0, r"^child 0\n")
    if b.o.mpiexec:
        b.expect("a forked child cannot fetch", b.run(fork, ranks=3), 0, r"(?m)^child 1\n", r"fork\.c:14.*: a forked child "
                 r"uses store\(a\) .*fork\.c:7.*update\(")
    abi = b.compile("abi", HERE / "behave/abi.c", flags=["-I" + str(HERE.parent.parent / "include")])
    for way in ("load", "loop"):
        b.expect(f"other ABI, at {way}", b.run(abi, way), 1, r"ABI version \d+, but libcofuse has version \d+: recompile")
    b.expect("other ABI, at store", b.run(abi, "store"), 1, r"other\.c:9 was compiled by .*ABI version")


def settings(b):
    maps = b.compile("maps", HERE / "behave/maps.c")
    b.expect("bad COFUSE_WINDOW", b.run(maps, COFUSE_WINDOW="abc"), 1, r"COFUSE_WINDOW=abc: expected a whole number")
    b.expect("bad COFUSE_THREADS", b.run(maps, COFUSE_THREADS="0"), 1, r"COFUSE_THREADS=0: expected")
    b.expect("bad COFUSE_LOG", b.run(maps, COFUSE_LOG="loud"), 1, r"COFUSE_LOG=loud: expected one of")
    b.expect("misspelt variable", b.run(maps, COFUSE_WINDWO="4"), 0, r"COFUSE_WINDWO", r"COFUSE_WINDOW")
    b.expect("COFUSE_DISABLE", b.run(maps, COFUSE_DISABLE="1"), 0, r"5587\.56 clean")
    shutil.rmtree(b.tmp / "cache")
    cold, warm = b.run(maps), b.run(maps)
    b.expect("cold cache compiles with LLVM", cold, 0, r"5587\.56 llvm")
    b.expect("warm cache loads no LLVM", warm, 0, r"5587\.56 clean")
    for entry in (b.tmp / "cache").iterdir():
        data = bytearray(entry.read_bytes())
        for at in range(100, len(data), 997):
            data[at] ^= 0x55
        entry.write_bytes(data)
    b.expect("corrupt cache file", b.run(maps), 0, r"5587\.56 llvm", r"cache")
    b.expect("and it was replaced", b.run(maps), 0, r"5587\.56 clean")
    shut = b.tmp / "file"
    shut.write_text("no folder")
    b.expect("cache folder that cannot be one", b.run(maps, cache=shut), 0, r"5587\.56 llvm", re.escape(str(shut)))
    b.expect("no cache", b.run(maps, cache="off"), 0, r"5587\.56 llvm")
    code, out, err = b.run(b.o.build + "/bin/cofuse-env")
    b.check("cofuse-env lists the variables", code == 0 and "COFUSE_WINDOW" in out and "COFUSE_STATS" in out, out + err)


def streams(b):
    program = b.compile("input", HERE / "behave/input.c")
    for ranks in (1, 2, 3) if b.o.mpiexec else (1,):
        code, out, err = b.run(program, ranks=ranks, stdin="40 1.5\nhello world\n")
        b.check(f"stdin and files on {ranks} ranks", code == 0 and out == "116.5 58.5 hello world\n", f"{code} {out} {err}")


def counters(b):
    scalar = b.compile("scalar", HERE / "behave/scalar.c")
    two = b.counters(scalar, 2, cache="off")
    many = b.counters(scalar, 1000, cache="off")
    b.check("1000 iterations with a changing scalar compile the kernels of 2",
            two.get("kernels_compiled", 0) > 0 and two["kernels_compiled"] == many.get("kernels_compiled"),
            f"{two} {many}")
    b.check("windows replay", many.get("memo_hits", 0) >= 990, str(many))

    stencil = b.compile("stencil", EXAMPLES / "stencil.c", EXAMPLES / "array_ops.c")
    b.expect("table of groups", b.run(stencil, 40, 30, 10, COFUSE_STATS="1"), 0, r"group +calls +tasks +time/s",
             r"cofuse: [a-z_+:0-9]+ +10 +5 +[0-9.e-]+ +[0-9.]+% ")
    for ranks in (1, 2) if b.o.mpiexec else (1,):
        path = b.tmp / "trace.json"
        b.run(stencil, 40, 30, 10, ranks=ranks, COFUSE_TRACE=path)
        events = json.loads(path.read_text())["traceEvents"]
        spans = {(e["pid"], e["cat"]) for e in events if e["ph"] == "X"}
        wanted = {(r, c) for r in range(ranks) for c in ["windows", "groups", "kernels"] + ["messages"] * (ranks > 1)}
        b.check(f"timeline of {ranks} ranks", wanted <= spans and all(e["dur"] >= 0 for e in events if e["ph"] == "X"),
                f"{wanted - spans}")
    n, m = 40, 30
    few, more = (b.counters(stencil, n, m, k) for k in (10, 20))
    per = {k: (more[k] - few[k]) / 10 for k in ("tasks", "groups", "temporaries_eliminated")}
    b.check("stencil: six tasks an iteration run as two groups, all temporaries but the copy's go",
            per == {"tasks": 6, "groups": 2, "temporaries_eliminated": 4}, str(per))
    if b.o.mpiexec:
        few, more = (b.counters(stencil, n, m, k, ranks=4) for k in (10, 20))
        per = {k: (more[k] - few[k]) / 10 for k in ("messages", "bytes_sent", "collectives")}
        b.check("stencil on 4 ranks: two halo rows per inner rank and iteration, nothing else",
                per == {"messages": 6, "bytes_sent": 6 * m * 8, "collectives": 0}, str(per))
    keys = ["tasks", "groups", "temporaries_eliminated", "windows", "memo_hits", "kernels_compiled",
            "cache_hits_memory", "cache_hits_disk", "compile_ms", "analysis_ns", "messages", "bytes_sent", "flushes",
            "serial_loops", "peak_rss_bytes", "flushes_guard_read", "flushes_reduction"]
    b.check("COFUSE_STATS has its keys", all(k in few for k in keys), str(few))

    options = b.compile("bs", EXAMPLES / "black_scholes.c")
    n = 2000000
    b.counters(options, n, 1)
    c = b.counters(options, n, 1)  # warm: LLVM is not in the process
    b.check("Black-Scholes is one group (beside one of the set-up and one of the check afterwards)",
            c.get("groups") == 3 and c["tasks"] >= 64 and c["temporaries_eliminated"] >= 50, str(c))
    arrays = 16 * 8 * n  # five inputs and eleven results stay
    b.check("peak memory: inputs, outputs and 10 % over an idle process",
            c.get("peak_rss_bytes", 1 << 60) <= 1.1 * arrays + (16 << 20) or not b.o.memory,
            f"{c.get('peak_rss_bytes')} bytes, arrays {arrays}")

    lazy = b.compile("lazy", HERE / "behave/lazy.c")
    for window in ("1", "1024"):
        b.counters(lazy, COFUSE_WINDOW=window)
        c = b.counters(lazy, COFUSE_WINDOW=window)
        b.check(f"200 x (malloc, store, two loops, free), window {window}: at most 3 arrays of memory",
                c.get("peak_rss_bytes", 1 << 60) <= 3 * (16 << 20) + (12 << 20) or not b.o.memory, str(c))

    code, out, err = b.run(stencil, 40, 30, 3, COFUSE_EXPLAIN=1)
    b.check("EXPLAIN names the constraint, both accesses and both lines",
            re.search(r"ends: anti dependence: .* read at array_ops\.c:\d+ .*, then .* written at array_ops\.c:\d+", err)
            and "temporaries removed" in err, err[:2000])
    dump = b.tmp / "dump"
    b.run(stencil, 40, 30, 3, COFUSE_DUMP=dump)
    suffixes = {p.suffix for p in dump.iterdir()} if dump.is_dir() else set()
    b.check("COFUSE_DUMP writes windows, MLIR, LLVM IR and assembly", {".ir", ".mlir", ".ll", ".s"} <= suffixes,
            str(suffixes))
    tool = b.o.build + "/bin/cofuse-ir"
    for window in sorted(dump.glob("*.ir")):
        said = subprocess.run([tool, "check", window], capture_output=True, text=True, timeout=60)
        again = subprocess.run([tool, "text", window], capture_output=True, text=True, timeout=60).stdout
        lines = [[x for x in t.splitlines() if x and x[0] != "#"] for t in (window.read_text(), again)]
        b.check("cofuse-ir reads what COFUSE_DUMP wrote, and writes it again", said.returncode == 0 and
                not said.stderr and lines[0] == lines[1], said.stderr or again)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", required=True)
    p.add_argument("--mpiexec", default="")
    p.add_argument("--cflags", default="")
    p.add_argument("--no-memory", dest="memory", action="store_false", help="skip checks of resident memory")
    o = p.parse_args()
    o.build = str(pathlib.Path(o.build).resolve())
    b = Bench(o)
    for part in (faults, settings, streams, counters):
        part(b)
    shutil.rmtree(b.tmp)
    print(f"{b.passed} passed, {b.failed} failed")
    return b.failed != 0


if __name__ == "__main__":
    sys.exit(main())
