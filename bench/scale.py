#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scale.py --build DIR [--bin DIR] [--reps N] [--no-times] [APP...]: does the cost of the analysis depend on the number of ranks?

The applications run at four sizes on one rank and leave their windows as text. Three sizes give every number of a
window as a polynomial of the size; the fourth checks it. So there are windows for any size without any array:
each number of ranks gets arrays whose tiles are as large as on one rank. cofuse-scale analyses the same stream for
every number of ranks and plans what the rank in the middle sends and receives.

first: a window never seen; replay: key and look-up of one seen before; apply: the plan's results put into tasks
and stores; plan: which box of which store comes from whom.

--bin: where the applications are; without it they are compiled from examples/."""

import argparse
import fractions
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RANKS = [1, 16, 1024, 65536, 1048576]
TOKEN = re.compile(r'"[^"]*"|\d+|[^\d"]+')


class App:
    """arguments: @ is the size. samples: the sizes to run. size: a number that grows as the windows' numbers do.
    weak: that number for so many ranks. rows: only the first dimension grows; the others stay as in the last
    sample but one."""

    def __init__(self, arguments, samples, weak, size=lambda n: n, rows=False, sources=()):
        self.arguments, self.samples, self.weak, self.size, self.rows = arguments, samples, weak, size, rows
        self.sources = sources


def tall(ranks):  # 64 rows a rank
    return 64 * ranks


def square(ranks):  # of so many points in each direction, that is 1,024 points a rank
    return 32 * int(ranks**0.5)


DENSE, SPARSE = "lib/dense/*.c", "lib/sparse/*.c"
APPS = {
    "jacobi": App("@ 60 0", [32, 48, 64, 80], tall, sources=[DENSE]),
    "cg": App("@ 20 0", [32, 48, 64, 80], square, sources=[DENSE, SPARSE]),
    "bicgstab": App("@ 20 0", [32, 48, 64, 80], square, sources=[DENSE, SPARSE]),
    "multigrid": App("@ 4 0 2", [5, 6, 7, 8], square, size=lambda k: 2**k, sources=[DENSE, SPARSE]),
    "cfd": App("@ 2", [32, 48, 64, 80], tall, rows=True, sources=[DENSE]),
    "shallow_water": App("@ 40 2", [32, 48, 64, 80], tall, sources=[DENSE]),
    "black_scholes": App("@ 2", [320, 480, 640, 800], tall),
    "stencil": App("@ 40 6", [32, 48, 64, 80], tall, sources=["examples/array_ops.c"]),
}


class Fault(Exception):
    pass


def binary(o, name, app, folder):
    if o.bin:
        path = pathlib.Path(o.bin) / name
        return str(path) if path.exists() else None
    source = ROOT / "examples" / f"{name}.c"
    more = [f for pattern in app.sources for f in sorted(glob.glob(str(ROOT / pattern)))]
    if not source.exists():
        return None
    out = folder / name
    r = subprocess.run([f"{o.build}/bin/cofuse-cc", *o.cflags.split(), str(source), *more, "-o", str(out), "-lm"],
                       capture_output=True, text=True)
    if r.returncode:
        raise Fault(f"{source.name} does not compile: {r.stderr[:500]}")
    return str(out)


def dump(o, program, app, sample, folder):
    """The windows of one run: name -> (comments, tokens)."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("COFUSE_")}
    lib = f"{o.build}/lib"
    env.update(COFUSE_DUMP=str(folder), COFUSE_CACHE_DIR=o.cache,
               LD_LIBRARY_PATH=lib + (":" + env["LD_LIBRARY_PATH"] if "LD_LIBRARY_PATH" in env else ""))
    arguments = app.arguments.replace("@", str(sample)).split()
    r = subprocess.run([program, *arguments], env=env, capture_output=True, text=True, timeout=600, cwd=folder.parent)
    files = sorted(folder.glob("*.ir")) if folder.exists() else []
    if not files:
        raise Fault(f"{program} {' '.join(arguments)} left no windows: {r.stderr.strip()[-300:]}")
    out = {}
    for f in files:
        lines = f.read_text().splitlines()
        comment = "\n".join(x for x in lines if x.startswith("# runs"))
        out[f.name] = comment, "\n".join(x for x in lines if not x.startswith("#"))
    return out


def inner(text):
    """Places of numbers that belong to another dimension than the first, or to bytes."""
    found = []
    # Loops of one trip are not in the text: the first loop may be one along a row.
    for m in re.finditer(r"^(?:forall|task) [^\n]* for i < \d+[^\n]*\n(?:  [^\n]*\n?)*", text, re.M):
        if not re.search(r"^  [^\[\n]*\[[^\]\n]*\bi\b", m[0], re.M):
            first = re.search(r"\bi < \d+", m[0])
            found += range(m.start() + first.start(), m.start() + first.end())
    for m in re.finditer(r"(?<=\])\[[^\]]*\]|(?<=, )[j-n] < \d+|\b(?:strides|at) [-\d, ]+", text):
        found += range(m.start(), m.end())
    return set(found)


def cut(text, rows):
    """Tokens: strings, numbers and what is between; and which of the numbers stay as they are."""
    fixed = inner(text) if rows else set()
    tokens, keep, at = [], [], 0
    for t in TOKEN.findall(text):
        tokens.append(t)
        keep.append(at in fixed)
        at += len(t)
    return tokens, keep


def polynomial(points, x):
    """Lagrange, exactly."""
    total = fractions.Fraction(0)
    for i, (xi, yi) in enumerate(points):
        term = fractions.Fraction(yi)
        for k, (xk, _) in enumerate(points):
            if k != i:
                term *= fractions.Fraction(x - xk, xi - xk)
        total += term
    return total


def stretch(name, app, texts, x):
    """The window for size x, from its text at each sample."""
    sizes = [app.size(s) for s in app.samples]
    parts = [cut(t, app.rows) for t in texts]
    if len({len(p[0]) for p in parts}) != 1:
        raise Fault(f"{name}: the window differs in more than its numbers")
    out, cache = [], {}
    for column, keep in zip(zip(*(p[0] for p in parts)), parts[0][1]):
        if len(set(column)) == 1:
            out.append(column[0])
            continue
        if not all(c.isdigit() for c in column):
            raise Fault(f"{name}: the window differs in more than its numbers: {' and '.join(sorted(set(column)))}")
        if keep:
            out.append(column[-2])
            continue
        if column not in cache:
            points = list(zip(sizes, map(int, column)))
            if polynomial(points[:3], sizes[3]) != points[3][1]:
                raise Fault(f"{name}: {', '.join(column)} at sizes {sizes} is no polynomial")
            value = polynomial(points[:3], x)
            if value.denominator != 1:
                raise Fault(f"{name}: {', '.join(column)} is no whole number at size {x}")
            cache[column] = str(value)
        out.append(cache[column])
    return "".join(out)


def measure(o, name, app, folder):
    program = binary(o, name, app, folder)
    if not program:
        return None
    runs = [dump(o, program, app, s, folder / f"{name}-{s}") for s in app.samples]
    if any(set(r) != set(runs[0]) for r in runs):
        raise Fault("the number of windows depends on the size")
    arguments = []
    for ranks in RANKS:
        at = folder / f"{name}-weak-{ranks}"
        at.mkdir()
        for window, (comment, _) in runs[0].items():
            text = stretch(window, app, [r[window][1] for r in runs], app.weak(ranks))
            (at / window).write_text(f"{comment}\n{text}\n")
        arguments.append(f"{ranks}:{at}")
    r = subprocess.run([f"{o.build}/bench/cofuse-scale", "--reps", str(o.reps), *arguments], capture_output=True, text=True)
    if r.returncode:
        raise Fault(r.stderr.strip())
    return [json.loads(line) for line in r.stdout.splitlines()]


def judge(rows, times):
    """What the figures fail to hold."""
    faults = []
    for key, what in (("memory", "memory"), ("first_us", "first analysis"), ("replay_us", "replay"))[:3 if times else 1]:
        spread = max(r[key] for r in rows) / min(r[key] for r in rows) - 1
        if spread > 0.05:
            faults.append(f"{what} differs by {100 * spread:.1f} %")
    # An array of fixed size has no part on most of many ranks: there may be less to do, never more.
    for key in ("messages", "bytes", "collectives"):
        if max(r[key] for r in rows[1:]) > rows[1][key]:
            faults.append(f"{key} grow from 16 ranks on")
    if times and rows[0]["first16_us"] > 20:
        faults.append("first analysis above 20 us a task")
    if times and rows[0]["replay16_us"] > 1:
        faults.append("replay above 1 us a task")
    return faults


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default="build")
    p.add_argument("--bin")
    p.add_argument("--cflags", default="-O2")
    p.add_argument("--reps", type=int, default=41)
    p.add_argument("--keep", help="folder for the windows; default: a temporary one")
    p.add_argument("--no-times", action="store_true", help="judge memory and messages only")
    p.add_argument("apps", nargs="*")
    o = p.parse_args()
    o.build = str(pathlib.Path(o.build).resolve())
    folder = pathlib.Path(o.keep or tempfile.mkdtemp(prefix="cofuse-scale-"))
    o.cache = str(folder / "cache")
    folder.mkdir(parents=True, exist_ok=True)
    bad = measured = 0
    print(f"{'':14} {'ranks':>8} {'tasks':>6} {'first':>9} {'replay':>9} {'apply':>9} {'plan':>9} {'memory':>9} {'messages':>9} "
          f"{'bytes':>10} {'collectives':>11}")
    print(f"{'':14} {'':>8} {'':>6} {'us/task':>9} {'us/task':>9} {'us/task':>9} {'us/task':>9} {'B/task':>9} "
          f"{'of the middle rank, whole run':>32}")
    for name in o.apps or APPS:
        try:
            rows = measure(o, name, APPS[name], folder)
        except (Fault, subprocess.SubprocessError) as e:
            bad += 1
            print(f"{name:14} failed: {e}")
            continue
        if rows is None:
            print(f"{name:14} is not there")
            continue
        measured += 1
        times = [f"{(max(r[k] for r in rows) / min(r[k] for r in rows) - 1) * 100:.1f} %" for k in ("first_us", "replay_us")]
        for r in rows:
            print(f"{name:14} {r['ranks']:8} {r['tasks']:6} {r['first_us']:9.3f} {r['replay_us']:9.3f} {r['apply_us']:9.3f} {r['plan_us']:9.3f} "
                  f"{r['memory']:9.1f} {r['messages']:9} {r['bytes']:10} {r['collectives']:11}")
        print(f"{name:14} {'apart':>8} {'':>6} {times[0]:>9} {times[1]:>9}")
        for fault in judge(rows, not o.no_times):
            bad += 1
            print(f"{name:14} FAULT: {fault}")
        sys.stdout.flush()
    if not o.keep:
        shutil.rmtree(folder)
    if o.apps and not measured:
        print("none of these applications is there")
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
