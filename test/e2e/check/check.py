#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""COFUSE_CHECK and COFUSE_VERIFY: faulty programs are found, right ones give the plain answer without a word.

check.py --build DIR                     faulty programs, and the right ones among them
check.py --build DIR --programs F.c ...  these programs, compared with the plain compiler's (arguments: F.c:a:b)
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from behave import Bench  # noqa: E402

# Every way that these programs are run in: name, settings.
MODES = [
    ("check", {"COFUSE_CHECK": 1}),
    ("verify", {"COFUSE_VERIFY": 1}),
    ("both, threads, shuffled", {"COFUSE_CHECK": 1, "COFUSE_VERIFY": 1, "COFUSE_THREADS": 2,
                                 "COFUSE_TEST_ORDER": "shuffled"}),
]
NANS = re.compile(r"cofuse(\[\d+\])?: warning: COFUSE_CHECK: .* is the first to leave a NaN")


def ranks(b, *wanted):
    return [n for n in wanted if n == 1 or b.o.mpiexec]


def foreign(b, name):
    """Compiles one file without the plugin."""
    out = b.tmp / (name + ".o")
    subprocess.run([b.o.clang, "-O2", *b.o.cflags.split(), "-c", str(HERE / (name + ".c")), "-o", str(out)], check=True)
    return out


def bounds(b):
    gather, condition = (b.compile(n, HERE / f"{n}.c") for n in ("gather", "condition"))
    section = b.compile("section", HERE / "section.c")
    for n in ranks(b, 1, 3):
        for mode, settings in MODES:
            b.expect(f"subscripts inside, {n} ranks, {mode}", b.run(gather, "x", ranks=n, **settings), 0, r"^5050\n$")
            b.expect(f"conditions and rows inside, {n} ranks, {mode}", b.run(condition, 0, ranks=n, **settings), 0,
                     r"^5950\.5\n$")
        for threads in (1, 2):
            check = {"COFUSE_CHECK": 1, "COFUSE_THREADS": threads}
            b.expect(f"x[col[i]] outside, {n} ranks", b.run(gather, ranks=n, **check), 1,
                     r"gather\.c:21: COFUSE_CHECK: loop of line 19 accesses x\[col\[i\]\] outside store\(x\[0:n\]\) of "
                     r".*gather\.c:11: element 1000007, but the store has 100 \(extents \[100\]\)")
            b.expect(f"a[i + 3] outside under a condition, {n} ranks", b.run(condition, 1, ranks=n, **check), 1,
                     r"condition\.c:31: .*accesses a\[i \+ 3\] outside store\(a\[0:n\]\).* elements from 64 to 66, but .* 64 ")
            b.expect(f"rows that end outside, {n} ranks", b.run(condition, 2, ranks=n, **check), 1,
                     r"condition\.c:33: .*accesses v\[k\] outside store\(v\[0:m\]\).* elements from 200 to 259, but .* 200 ")
            b.expect(f"update outside a section, {n} ranks", b.run(section, ranks=n, **check), 1,
                     r"section\.c:27: COFUSE_CHECK: loop of line 27 updates h\[4:32\] outside the section of its reduction "
                     r"clause: element 1000 of the section, but it has 32")
        # The same bits for any number of threads, any order of blocks and any window, checked or not.
        _, first, _ = b.run(section, "x", ranks=n, COFUSE_THREADS=1)
        for mode, settings in [*MODES, ("threads", {"COFUSE_THREADS": 3}), ("unfused", {"COFUSE_WINDOW": 1}),
                               ("unfused, descending", {"COFUSE_WINDOW": 1, "COFUSE_THREADS": 2,
                                                        "COFUSE_TEST_ORDER": "descending"})]:
            code, out, err = b.run(section, "x", ranks=n, **settings)
            b.check(f"bits of sums, {n} ranks, {mode}", code == 0 and out == first and out.count("\n") == 41,
                    f"exit {code}, {err[:500]}")


def divergence(b):
    if not b.o.mpiexec:
        return
    diverge = b.compile("diverge", HERE / "diverge.c")
    check = {"COFUSE_CHECK": 1, "COFUSE_TIMEOUT": 30, "ranks": 3}
    b.expect("ranks that agree", b.run(diverge, "none", **check), 0, r"^3199 31\n$")
    task, ways = r"the task of \S*diverge\.c", "COFUSE_CHECK: ranks 0 and 1 took different ways through the program: "
    for what, pattern in {
            "count": ways + rf"where rank 0 issues no task, rank 1 issues {task}:42",
            "scalar": ways + rf"{task}:42 has other scalars or sizes on rank 1 than on rank 0",
            "time": ways + rf"{task}:42 has other scalars or sizes on rank 1 than on rank 0",
            "branch": ways + rf"where rank 0 issues {task}:42, rank 1 issues {task}:38",
            "exit": ways + rf"where rank 0 issues {task}:50, rank 1 issues none.*rank 1: 6 tasks, the last at \S*:42",
            "read": ways + rf"where rank 0 issues {task}:50, rank 1 issues none.*guarded access at \S*:49:",
    }.items():
        result = b.run(diverge, what, **check)
        b.expect(f"ranks diverge: {what}", result, 1, pattern)
        if "-fsanitize=thread" not in b.o.cflags:  # under ThreadSanitizer MPI_Abort takes longer than the others wait
            b.check(f"one message: {what}", result[2].count("COFUSE_CHECK: ranks") == 1, result[2])


def host(b):
    write = b.compile("foreign", HERE / "foreign.c", foreign(b, "foreign_set"))
    read = b.compile("foreign_read", HERE / "foreign_read.c", foreign(b, "foreign_get"))
    for n in ranks(b, 1, 3):
        for mode, settings in MODES:
            b.expect(f"declared host write, {n} ranks, {mode}", b.run(write, ranks=n, **settings), 0, r"^-1\n$")
        b.expect(f"undeclared host write, {n} ranks", b.run(write, "x", ranks=n, COFUSE_CHECK=1), 1,
                 r"COFUSE_CHECK: store\(a\[0:n\]\) of \S*foreign\.c:14 was changed by code that no guard covered, after "
                 r"the task of \S*foreign\.c:15 and before the task of \S*foreign\.c:25, somewhere in \[(3|4)\d+\] to "
                 r"\[4\d+\].*host writes\(a\[0:n\]\)")
    b.expect("undeclared read, one rank", b.run(read, COFUSE_CHECK=1), 0, r"^1 1\n1 1\n$")
    if b.o.mpiexec:
        b.expect("undeclared read of another rank's part", b.run(read, ranks=3, COFUSE_CHECK=1), 0, r"^1 -?nan\n1 1\n$")


def nans(b):
    nan = b.compile("nan", HERE / "nan.c")
    for n in ranks(b, 1, 3):
        for settings, first in (({}, r"nan\.c:22: task twice .*store\(a\[0:n\]\).*at \[1234\] \(one of several fused"),
                                ({"COFUSE_VERIFY": 1}, r"nan\.c:19: task root .*store\(c\[0:n\]\).*at \[1234\]\n")):
            result = b.run(nan, ranks=n, COFUSE_CHECK=1, **settings)
            b.expect(f"origin of a NaN, {n} ranks, {settings}", result, 0, "1\n109.526\n", first)
            b.check(f"nothing but the origin, {n} ranks, {settings}", result[2].count("NaN") == 1, result[2])


def verification(b):
    fused = b.compile("fused", HERE / "fused.c")
    for n in ranks(b, 1, 2, 3):
        for threads in (1, 2):
            b.expect(f"fused equals task by task, {n} ranks", b.run(fused, ranks=n, COFUSE_VERIFY=1, COFUSE_LOG="info",
                     COFUSE_THREADS=threads), 0, r"59 2566 45 12\n", r"COFUSE_VERIFY: 4 groups of several tasks gave the same")
        b.expect(f"a changed result is found, {n} ranks", b.run(fused, ranks=n, COFUSE_VERIFY=1,
                 COFUSE_TEST_FAULT="fused-kernel"), 1,
                 r"COFUSE_VERIFY: \S*fused\.c:22: store\(u\[0:n\]\[0:m\]\) of \S*fused\.c:17: element \[\d+\]\[0\] is \S+ after 8 "
                 r"fused tasks, but \S+ after the same tasks one by one; task main:19")
    b.expect("nothing is fused, nothing is changed", b.run(fused, COFUSE_VERIFY=1, COFUSE_WINDOW=1, COFUSE_LOG="info",
             COFUSE_TEST_FAULT="fused-kernel"), 0, r"59 2566 45 12\n", r"COFUSE_VERIFY: 0 groups")


def programs(b):
    """Right programs: the plain answer, and not a word but of NaNs."""
    for entry in b.o.programs:
        source, *args = entry.split(":")
        sources = [pathlib.Path(s).resolve() for s in source.split("+")]
        name = sources[0].stem
        plain = b.tmp / (name + ".plain")
        subprocess.run([b.o.clang, "-O2", *b.o.cflags.split(), "-Wno-unknown-pragmas", *map(str, sources), "-o",
                        str(plain), "-lm"], check=True, stderr=subprocess.DEVNULL)
        mine = b.compile(name, *sources)
        want = b.run(plain, *args)
        for n in ranks(b, *b.o.ranks):
            for mode, settings in MODES:
                code, out, err = b.run(mine, *args, ranks=n, **settings)
                ours = [l for l in err.splitlines() if l.startswith("cofuse") and not NANS.match(l)
                        and "runs serially" not in l]
                lines = [[l for l in text.splitlines() if not l.startswith("time ")] for text in (want[1], out)]
                b.check(f"{name}, {n} ranks, {mode}", code == want[0] and lines[0] == lines[1] and not ours,
                        f"exit {code}, {out[:400]}\n  instead of exit {want[0]}, {want[1][:400]}\n  {err[:1500]}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True)
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--mpiexec", default="")
    p.add_argument("--cflags", default="")
    p.add_argument("--ranks", type=lambda s: [int(n) for n in s.split(",")], default=[1, 2, 3])
    p.add_argument("--programs", nargs="+", default=[])
    o = p.parse_args()
    o.build = str(pathlib.Path(o.build).resolve())
    b = Bench(o)
    for part in (programs,) if o.programs else (bounds, divergence, host, nans, verification):
        part(b)
    shutil.rmtree(b.tmp)
    print(f"{b.passed} passed, {b.failed} failed")
    return b.failed != 0


if __name__ == "__main__":
    sys.exit(main())
