#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cofuse against the plain program, against itself without fusion and against programs fused by hand
(docs/benchmarks.md). Called by ./dev bench.

Everything is a ratio of runs of one round; rounds are interleaved, the order rotates, and the median counts, so a busy
machine blurs the figures but does not shift them.
"""

import argparse
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import cases
import picture

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-O3", "-march=native"]
# No flag that changes a number; threads, and no errno of a negative square root.
HAND_FLAGS = ["-fopenmp", "-fno-math-errno"]
WAYS = ["plain", "unfused", "fused", "hand"]


class Failure(Exception):
    pass


# ---- programs

class Programs:
    """Compiles each program once per way."""

    def __init__(self, options, tmp):
        self.o, self.tmp, self.made, self.objects = options, tmp, {}, {}
        self.cofuse = str(options.build / "bin" / "cofuse-cc")

    def run(self, command):
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise Failure(f"{' '.join(str(c) for c in command)}\n{done.stdout}")

    def libraries(self, compiler, flags):
        key = (compiler, flags)
        if key not in self.objects:
            self.objects[key] = []
            for source in sorted(ROOT.glob("lib/*/*.c")):
                out = self.tmp / f"{len(self.objects)}-{source.parent.name}-{source.stem}.o"
                self.run([compiler, *flags, "-c", source, "-o", out])
                self.objects[key].append(out)
        return self.objects[key]

    def get(self, sources, way, extra=()):
        """The path of the program: way is plain, cofuse or hand."""
        key = (tuple(sources), way, tuple(extra))
        if key not in self.made:
            out = self.tmp / f"{pathlib.Path(sources[0]).stem}-{way}-{len(self.made)}"
            compiler = self.cofuse if way == "cofuse" else self.o.clang
            flags = (*FLAGS, "-Wno-unknown-pragmas", "-Wno-invalid-feature-combination", *extra)
            if way == "hand":
                flags = (*flags, *HAND_FLAGS, *self.o.hand_flags.split())
            files = [ROOT / s for s in sources]
            if way != "hand" and re.search(r'#include "(\.\./lib/|krylov)', files[0].read_text()):
                files += self.libraries(compiler, flags)
            self.run([compiler, *flags, *files, "-o", out, "-lm"])
            self.made[key] = out
        return self.made[key]


class Run:
    """One run of a program: output without the time, the time it took by its own clock, peak memory, wall time."""

    def __init__(self, command, env):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("COFUSE_", "OMP_", "KMP_"))}
        start = time.perf_counter()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen([str(c) for c in command], env={**clean, **env}, stdin=subprocess.DEVNULL,
                                     stdout=out, stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.wall = time.perf_counter() - start
            out.seek(0)
            err.seek(0)
            text, errors = out.read().decode(), err.read().decode()
        if child.returncode:
            raise Failure(f"{' '.join(str(c) for c in command)}: exit status {child.returncode}\n{text}{errors}")
        self.memory = usage.ru_maxrss * 1024
        found = re.search(r"^time ([0-9.]+) s$", text, re.M)
        self.seconds = float(found.group(1)) if found else self.wall
        self.lines = [line for line in text.splitlines() if not line.startswith("time ")]


def difference(a, b, checks):
    """The first line in which two outputs differ by more than checks allow, or nothing."""
    if len(a) != len(b):
        return f"{len(a)} and {len(b)} lines"
    for x, y in zip(a, b):
        if x == y:
            continue
        allowed = checks.get(x.split()[0]) if isinstance(checks, dict) else None
        if allowed == float("inf"):
            continue
        number = r"[-+]?(?:[0-9]+\.?[0-9]*(?:e[-+]?[0-9]+)?|nan|inf)"
        p, q = ([float(n) for n in re.findall(number, s)] for s in (x, y))
        if allowed is None or len(p) != len(q) or any(
                not abs(m - n) <= allowed * max(abs(m), abs(n)) + 1e-8 for m, n in zip(p, q)):
            return f"'{x}' and '{y}'"
    return None


# ---- measuring

TOUCH = """import mmap
with mmap.mmap(-1, {0}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as m:
    m.madvise(mmap.MADV_HUGEPAGE)
    m[::4096] = b"1" * len(range(0, {0}, 4096))"""


def make_ready(size):
    """Touches memory and gives it back.

    A virtual machine gets its memory from the host page by page, at the first touch after the host took it. Which
    program of a round pays for that is chance, so it is done before each; in huge pages, since the host takes
    those, and cofuse asks for them. In a process of its own: a child's peak memory is at least its parent's."""
    if size:
        subprocess.run([sys.executable, "-c", TOUCH.format(size)], check=True)


class Bench:
    def __init__(self, options, tmp):
        self.o, self.programs, self.tmp = options, Programs(options, tmp), tmp
        self.cache = str(tmp / "cache")
        self.failures = []
        self.triads, self.expected = {}, {}  # bytes a second; lines that the plain program prints
        self.warm = 0  # bytes to make ready before each run

    def env(self, way, threads):
        if way == "hand":
            return {"OMP_NUM_THREADS": str(threads)}
        if way == "plain":
            return {}
        settings = {"COFUSE_THREADS": str(threads), "COFUSE_DEVICE": "cpu", "COFUSE_CACHE_DIR": self.cache}
        return {**settings, "COFUSE_WINDOW": "1"} if way == "unfused" else settings

    def command(self, case, way, arguments):
        sources = [case.hand] if way == "hand" else case.sources
        kind = "cofuse" if way in ("unfused", "fused") else way
        return [self.programs.get(sources, kind, case.flags), *arguments.split()]

    def bytes_moved(self, case, size, arguments, iterations):
        """Bytes that at least move in the timed part, by the counters of two runs that differ in iterations."""
        if case.bytes_per_element:
            if size == "quick":
                return 0
            n = int(arguments.split()[1])
            return case.bytes_per_element * n * (iterations - 1)
        moved = []
        for k in (iterations, 2 * iterations):
            stats = self.tmp / "stats.json"
            Run(self.command(case, "fused", arguments.replace("@", str(k))),
                {**self.env("fused", os.cpu_count() or 1), "COFUSE_STATS": str(stats)})
            moved.append(json.loads(stats.read_text())["bytes_moved"])
        return max(moved[1] - moved[0], 0)

    def rounds(self, ways, run):
        """Runs of all ways in interleaved rounds with rotating order: a list of dicts."""
        start, done = time.monotonic(), []
        while len(done) < self.o.rounds and (len(done) < self.o.least or
                                             time.monotonic() - start < self.o.seconds):
            k = len(done) % len(ways)
            done.append({})
            for way in ways[k:] + ways[:k]:
                make_ready(self.warm)
                done[-1][way] = run(way)
        return done

    def case(self, case, size, threads):
        arguments, iterations = case.sizes[size]
        full = arguments.replace("@", str(iterations))
        # Without fusion large sizes take minutes; that it gains there is shown with one thread.
        ways = [w for w in WAYS if threads == 1 or w != "plain" and (w != "unfused" or size != "memory")]
        moved = self.bytes_moved(case, size, arguments, iterations)
        self.warm = 0
        # Fill the kernel cache. Without fusion one iteration has all kernels; with it, windows grow.
        if "unfused" in ways:
            Run(self.command(case, "unfused", arguments.replace("@", "1")), self.env("unfused", threads))
        if not moved or case.bytes_per_element:
            Run(self.command(case, "fused", full), self.env("fused", threads))
        if size == "memory":
            self.warm = Run(self.command(case, "hand", full), self.env("hand", threads)).memory * 5 // 4
        done = self.rounds(ways, lambda way: Run(self.command(case, way, full), self.env(way, threads)))
        if (case.name, full) not in self.expected:
            plain = done[0].get("plain") or Run(self.command(case, "plain", full), {})
            self.expected[case.name, full] = plain.lines
        for r in done:
            for way, run in r.items():
                found = difference(self.expected[case.name, full], run.lines, case.checks)
                if found:
                    self.failures.append(f"{case.name} {full}, {way}, {threads} threads: {found}")
        result = {"name": case.name, "kind": case.kind, "size": size, "arguments": full, "threads": threads,
                  "rounds": len(done), "bytes_moved": moved, "seconds": {}, "memory": {}, "ratios": {}}
        for way in ways:
            result["seconds"][way] = [r[way].seconds for r in done]
            result["memory"][way] = max(r[way].memory for r in done)
        if case.heavy_setup:  # the example's own way to make its matrix is no overhead of cofuse
            setup = Run(self.command(case, "plain", arguments.replace("@", "0")), {}).memory
            result["memory"]["setup"] = setup
            result["memory"]["hand"] = max(result["memory"]["hand"], setup)

        def ratio(name, over, under):
            if over in ways and under in ways:
                result["ratios"][name] = statistics.median(
                    r[over].seconds / max(r[under].seconds, 1e-9) for r in done)
        ratio("fused/hand", "fused", "hand")
        ratio("unfused/fused", "unfused", "fused")
        ratio("fused/plain", "fused", "plain")
        if case.name == "triad" and case.kind == "micro-kernel":
            self.triads[size, threads] = moved / max(statistics.median(result["seconds"]["hand"]), 1e-9)
        result["gb_per_s"] = {w: 1e-9 * moved / max(statistics.median(s), 1e-9) for w, s in result["seconds"].items()}
        return result

    # ---- overheads

    def chain(self, elements, repetitions):
        def run(way):
            arguments = f"{elements} {repetitions} {cases.CHAIN_LINKS}".split()
            kind = "cofuse" if way != "plain" else way
            return Run([self.programs.get(["bench/chain.c"], kind), *arguments], self.env(way, 1))
        run("fused")
        done = self.rounds(["plain", "unfused", "fused"], run)
        for r in done:
            if len({tuple(x.lines) for x in r.values()}) > 1:
                self.failures.append(f"chain {elements}: results differ")
        return {name: statistics.median(r[a].seconds / max(r[b].seconds, 1e-9) for r in done)
                for name, a, b in (("fused/plain", "fused", "plain"), ("unfused/plain", "unfused", "plain"))}

    def task_us(self, repetitions, in_place):
        """Microseconds per task of 16 elements, fused and not; in place, or with a new array for each result."""
        def run(way):
            arguments = ["16", str(repetitions), str(cases.CHAIN_LINKS), str(int(in_place))]
            return Run([self.programs.get(["bench/chain.c"], "cofuse"), *arguments], self.env(way, 1))
        run("fused")
        done = self.rounds(["unfused", "fused"], run)
        tasks = repetitions * cases.CHAIN_LINKS
        return {w: 1e6 * statistics.median(r[w].seconds for r in done) / tasks for w in ("unfused", "fused")}

    def task_instructions(self):
        """Instructions per task by callgrind, which do not depend on the load; nothing without valgrind.

        valgrind knows no AVX-512, nor do kernels that are compiled under it, and cannot read newer debug
        information: the libraries are stripped."""
        if not shutil.which("valgrind"):
            return None
        program, libraries = self.tmp / "chain-callgrind", self.tmp / "lib"
        self.programs.run([self.programs.cofuse, "-O2", ROOT / "bench/chain.c", "-o", program])
        libraries.mkdir(exist_ok=True)
        for f in (self.o.build / "lib").glob("libcofuse*.so*"):
            self.programs.run(["strip", "-g", "-o", libraries / f.name, f.resolve()])
        env = {**os.environ, "LD_LIBRARY_PATH": str(libraries), "COFUSE_THREADS": "1",
               "COFUSE_CACHE_DIR": str(self.tmp / "callgrind-cache"), "COFUSE_DEVICE": "cpu"}
        result = {}  # with these repetitions, windows of 1,024 tasks leave the same rest: kernels are alike
        for name, last in (("in place", "1"), ("new arrays", "0")):
            counts = []
            for tool, n in (("none", 320), ("callgrind", 320), ("callgrind", 640)):
                command = ["valgrind", f"--tool={tool}", program, "16", str(n), str(cases.CHAIN_LINKS), last]
                if tool == "callgrind":
                    command.insert(2, "--callgrind-out-file=/dev/null")
                try:
                    done = subprocess.run([str(c) for c in command], env=env, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, text=True, timeout=300)
                except subprocess.TimeoutExpired:
                    return result or None
                found = re.search(r"Collected : ([0-9]+)", done.stdout)
                if done.returncode or not (found or tool == "none"):
                    return result or None
                counts.append(int(found.group(1)) if found else 0)
            result[name] = (counts[2] - counts[1]) / (2 * 320 * cases.CHAIN_LINKS)
        return result

    def start_ms(self, runs):
        """Wall time of a process with next to nothing to do, with a filled kernel cache, and of the plain one."""
        walls = {"plain": [], "fused": []}
        for r in range(runs + 1):
            for way in (["plain", "fused"] if r % 2 else ["fused", "plain"]):
                program = self.programs.get(["bench/chain.c"], "plain" if way == "plain" else "cofuse")
                wall = Run([program, "16", "1", "2"], self.env(way, 1)).wall
                if r > 0:
                    walls[way].append(1e3 * wall)
        return {w: statistics.median(v) for w, v in walls.items()}

    def compile_ms(self, todo):
        """Cold compiles of the applications' groups: a list of (tasks, milliseconds)."""
        found = []
        for case in todo:
            trace = self.tmp / "trace.json"
            arguments, _ = case.sizes["quick"]
            Run(self.command(case, "fused", arguments.replace("@", "2")),
                {"COFUSE_CACHE_DIR": "off", "COFUSE_DEVICE": "cpu", "COFUSE_THREADS": "1", "COFUSE_TRACE": str(trace)})
            spans = [e for e in json.loads(trace.read_text())["traceEvents"] if e.get("cat") == "compiler"]
            for e in spans[1:]:  # the first one loads the compiler
                names = e["name"].split("+")
                more = re.match(r"([0-9]+) more$", names[-1])
                found.append((len(names) - 1 + int(more.group(1)) if more else len(names), 1e-3 * e["dur"]))
        return found


# ---- report

def table(rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    for r in rows:
        print("  ".join([r[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(r[1:], widths[1:])]).rstrip(), flush=True)


def row_of(r, triads):
    triad = triads.get((r["size"], r["threads"]))

    def share(way):
        return f"{100e9 * r['gb_per_s'][way] / triad:.0f}%" if triad and r["bytes_moved"] else ""

    def cell(name):
        return f"{r['ratios'][name]:.2f}" if name in r["ratios"] else ""
    median = {w: statistics.median(s) for w, s in r["seconds"].items()}
    return [r["name"], r["size"], str(r["threads"]), *(f"{median[w]:.3f}" if w in median else "" for w in WAYS),
            cell("fused/hand"), cell("unfused/fused"), cell("fused/plain"), share("fused"), share("hand"),
            f"{r['memory']['fused'] / r['memory']['hand']:.2f}", str(r["rounds"])]


HEADINGS = ["case", "size", "threads", "plain/s", "unfused/s", "fused/s", "hand/s", "fused/hand", "unfused/fused",
            "fused/plain", "roofline fused", "hand", "memory/hand", "rounds"]


def aims_of(results, over, todo):
    """Every line of the aims that was measured: (what, value, limit, whether larger is better, unit)."""
    by = {(r["name"], r["size"], r["threads"]): r for r in results}
    out = []

    def aim(what, value, limit, larger=False, unit=""):
        out.append({"what": what, "value": value, "aim": limit, "larger_is_better": larger, "unit": unit,
                    "pass": value >= limit if larger else value <= limit})
    for case in todo:
        for (name, size, threads), r in by.items():
            if name == case.name and size in case.hand_limit:
                aim(f"{name}, {size}, {threads} thread{'s' if threads > 1 else ''}: fused / hand",
                    r["ratios"]["fused/hand"], case.hand_limit[size])
    for case in todo:
        r = by.get((case.name, "memory", 1))
        if r and case.speedup:
            aim(f"{case.name}: speed-up by fusion", r["ratios"]["unfused/fused"], case.speedup, True)
    ups = [by[n, "memory", 1]["ratios"]["unfused/fused"] for n in cases.PAPER if (n, "memory", 1) in by]
    if len(ups) == len(cases.PAPER):
        aim("geometric mean of the speed-ups", math.exp(sum(map(math.log, ups)) / len(ups)), cases.GEOMEAN, True)
    ratios = [(r["ratios"]["unfused/fused"], r) for r in results if "unfused/fused" in r["ratios"]]
    if ratios:
        least, r = min(ratios, key=lambda p: p[0])
        aim(f"smallest speed-up of all ({r['name']}, {r['size']}, {r['threads']})", least, cases.NEVER_SLOWER, True)
    for case in todo:
        r = by.get((case.name, "memory", 1))
        if r and case.kind == "application":
            aim(f"{case.name}: fused / plain, 1 thread", r["ratios"]["fused/plain"], 1.0)
    for elements, _, limit in cases.CHAIN:
        if f"chain {elements}" in over:
            aim(f"chain of additions, {elements} elements: fused / plain", over[f"chain {elements}"]["fused/plain"],
                limit)
    if "task_us" in over:
        aim("a task of 16 elements, issued and replayed", over["task_us"]["fused"], cases.TASK_US, unit="us")
    compiled = over.get("compile", [])
    small = [ms for tasks, ms in compiled if tasks <= cases.COMPILE_TASKS]
    if small:
        aim(f"compiling a group of up to {cases.COMPILE_TASKS} tasks (median of {len(small)})",
            statistics.median(small), cases.COMPILE_MS, unit="ms")
    large = [(ms - cases.COMPILE_MS) / (tasks - cases.COMPILE_TASKS) for tasks, ms in compiled
             if tasks > cases.COMPILE_TASKS]
    if large:
        aim(f"compiling a larger one: each further task (median of {len(large)})", statistics.median(large),
            cases.COMPILE_MS_MORE, unit="ms")
    if "start_ms" in over:
        aim("start of a process, more than the plain one", over["start_ms"]["fused"] - over["start_ms"]["plain"],
            cases.START_MS, unit="ms")
    for case in todo:
        r = by.get((case.name, "memory", 1))
        if r and case.memory_limit:
            aim(f"{case.name}: peak memory / hand", r["memory"]["fused"] / r["memory"]["hand"], case.memory_limit)
    return out


def chosen(options):
    todo = cases.APPLICATIONS + cases.MICRO + [cases.FAST]
    if not options.only:
        return todo, True
    unknown = set(options.only) - {c.name for c in todo} - {"overheads"}
    if unknown:
        sys.exit(f"no such case: {', '.join(sorted(unknown))}; there are "
                 f"{', '.join(c.name for c in todo)}, overheads")
    return [c for c in todo if c.name in options.only], "overheads" in options.only


def line(cells):
    """A row of the table of cases; columns are as wide as their headings, so that it can be printed as it grows."""
    widths = [19, 6] + [len(h) for h in HEADINGS[2:]]
    text = [c.ljust(w) if k < 2 else c.rjust(w) for k, (c, w) in enumerate(zip(cells, widths))]
    print("  ".join(text).rstrip(), flush=True)


def measure(options, tmp):
    bench = Bench(options, tmp)
    todo, overheads = chosen(options)
    sizes = options.sizes.split(",")
    results, over = [], {}
    if any(c.kind != "micro-kernel" for c in todo) and not options.quick:  # the yardstick of the rooflines
        triad = next(c for c in cases.MICRO if c.name == "triad")
        for size in sizes:
            for threads in options.threads:
                bench.case(triad, size, threads)
    if todo:
        line(HEADINGS)
    for case in todo:
        for size in sizes:
            if case.kind == "fast math" and size == "cache":
                continue
            for threads in options.threads:
                if case.kind == "fast math" and threads > 1:
                    continue
                results.append(bench.case(case, size, threads))
                line(row_of(results[-1], bench.triads))
    if overheads:
        few = options.quick
        for elements, repetitions, _ in cases.CHAIN:
            over[f"chain {elements}"] = bench.chain(elements, 5 if few else repetitions)
        over["task_us"] = bench.task_us(100 if few else 20000, True)
        over["task_us with a new array"] = bench.task_us(100 if few else 10000, False)
        over["task_instructions"] = None if few else bench.task_instructions()
        over["start_ms"] = bench.start_ms(2 if few else 40)
        over["compile"] = bench.compile_ms([c for c in cases.APPLICATIONS if not few or c.name == "jacobi"])
    return bench, results, over, [] if options.quick else aims_of(results, over, todo)


def report(over, aims):
    if over:
        print("\noverheads")
        for elements, _, _ in cases.CHAIN:
            c = over[f"chain {elements}"]
            print(f"  chain of additions of {elements} elements: {c['fused/plain']:.2f} x plain fused, "
                  f"{c['unfused/plain']:.2f} x not fused")
        for name, what in (("task_us", "in place"), ("task_us with a new array", "into a new array")):
            t = over[name]
            print(f"  a task of 16 elements {what}: {t['fused']:.3f} us fused, {t['unfused']:.3f} us not")
        for name, count in (over["task_instructions"] or {}).items():
            print(f"  instructions per task, {name} (callgrind): {count:.0f}")
        print(f"  start of a process: {over['start_ms']['fused']:.2f} ms, plain {over['start_ms']['plain']:.2f} ms")
    if aims:
        print()
        rows = [["", "value", "aim", ""]]
        for a in aims:
            rows.append([a["what"], f"{a['value']:.2f} {a['unit']}".strip(),
                         f"{'>=' if a['larger_is_better'] else '<='} {a['aim']:g}", "pass" if a["pass"] else "SHORT"])
        table(rows)
        print(f"\n{sum(a['pass'] for a in aims)} of {len(aims)} aims reached")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    p.add_argument("--out", type=pathlib.Path, help="folder for bench.json and bench.svg (default: the build folder)")
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--only", action="append", metavar="NAME", help="one case, or 'overheads'; may be repeated")
    p.add_argument("--quick", action="store_true", help="tiny sizes, two rounds: are the results right?")
    p.add_argument("--sizes", default="cache,memory", help="cache, memory or both")
    p.add_argument("--threads", default="1,2", help="numbers of threads")
    p.add_argument("--rounds", type=int, default=9, help="most rounds of a case")
    p.add_argument("--least", type=int, default=3, help="fewest rounds of a case")
    p.add_argument("--seconds", type=float, default=15, help="no further round of a case after this time")
    p.add_argument("--hand-flags", default="", help="more compiler flags for the programs fused by hand")
    options = p.parse_args()
    options.build = options.build.resolve()
    if options.quick:
        options.sizes, options.rounds, options.least = "quick", 2, 2
    options.threads = [t for t in map(int, options.threads.split(",")) if t <= (os.cpu_count() or 1)]
    out = options.out or options.build
    try:
        with tempfile.TemporaryDirectory(prefix="cofuse-bench-") as folder:
            bench, results, over, aims = measure(options, pathlib.Path(folder))
    except Failure as e:
        sys.exit(str(e))
    report(over, aims)
    machine = {"cpus": os.cpu_count(), "load": os.getloadavg()}
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    machine["model"] = model.group(1) if model else "unknown"
    triads = [{"size": s, "threads": t, "gb_per_s": 1e-9 * v} for (s, t), v in bench.triads.items()]
    text = json.dumps({"machine": machine, "flags": FLAGS, "hand_flags": HAND_FLAGS + options.hand_flags.split(),
                       "triads": triads, "cases": results, "overheads": over, "aims": aims,
                       "failures": bench.failures}, indent=1)
    out.mkdir(parents=True, exist_ok=True)
    (out / "bench.json").write_text(text + "\n")
    (out / "bench.svg").write_text(picture.draw(results, machine))
    print(f"\n{out / 'bench.json'}\n{out / 'bench.svg'}")
    for f in bench.failures:
        print(f"WRONG RESULT: {f}")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
