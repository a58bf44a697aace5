#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What fusion does to an example, in one table: the plain program, cofuse without fusion (window 1) and
cofuse as it comes, on one and on four ranks. Called by ./dev demo.

Times are the programs' own, the best of several interleaved rounds with a filled kernel cache, so that
compiling kernels is not in them. "result" compares all that a program prints, but for its time, with the
plain program.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EXAMPLES = {"stencil": ["stencil.c", "array_ops.c"]}
DEMO = [("stencil", ["1500", "1500", "40"])]
COUNTERS = ["tasks", "groups", "temporaries_eliminated", "bytes_sent"]
HEADINGS = ["tasks", "groups", "temporaries removed", "bytes sent"]
RANKS = [1, 4]


def compile_program(compiler, sources, out):
    command = [compiler, "-O3", "-march=native", "-Wno-unknown-pragmas", *sources, "-o", str(out), "-lm"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return str(out)


def execute(command, env):
    """Output without the time line, and the time in seconds."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("COFUSE_")}
    done = subprocess.run(command, env={**clean, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    time = re.search(r"^time ([0-9.]+) s$", done.stdout, re.M)
    return re.sub(r"^time .*\n", "", done.stdout, flags=re.M), float(time.group(1))


class Way:
    """One line of the table."""

    def __init__(self, name, command, env, stats=None):
        self.name, self.command, self.env, self.stats = name, command, dict(env), stats
        self.best = float("inf")
        self.output = None

    def run(self):
        self.output, seconds = execute(self.command, self.env)
        self.best = min(self.best, seconds)

    def counters(self):
        if not self.stats:
            return [""] * len(COUNTERS)
        found = json.loads(pathlib.Path(self.stats).read_text())
        return [f"{found[c]:,}" if c in found else "?" for c in COUNTERS]


def ways(options, tmp, name, arguments):
    sources = [str(pathlib.Path(options.examples) / s) for s in EXAMPLES[name]]
    plain = compile_program(options.clang, sources, tmp / f"{name}-plain")
    fused = compile_program(str(pathlib.Path(options.build) / "bin" / "cofuse-cc"), sources, tmp / name)
    yield Way("plain clang -O3", [plain, *arguments], {})
    for ranks in RANKS:
        launch = []
        if ranks > 1:
            if not options.mpiexec:
                continue
            launch = [options.mpiexec, *options.mpiflags, "-n", str(ranks)]
        for label, env in (("not fused", {"COFUSE_WINDOW": "1"}), ("fused", {})):
            stats = tmp / f"{name}-{ranks}-{label.replace(' ', '-')}.json"
            env = {**env, "COFUSE_CACHE_DIR": str(tmp / "cache"), "COFUSE_STATS": str(stats),
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            yield Way(f"cofuse {label}, {ranks} rank{'s' if ranks > 1 else ''}", [*launch, fused, *arguments],
                      env, stats)


def table(rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    for r in rows:
        cells = [r[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(r[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def find_mpiexec():
    for name in ("mpiexec.openmpi", "mpiexec"):
        try:
            version = subprocess.run([name, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     text=True).stdout
        except OSError:
            continue
        open_mpi = "Open MPI" in version or "OpenRTE" in version
        return name, ["--oversubscribe", "--bind-to", "none"] if open_mpi else []
    return None, []


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=here / "build")
    p.add_argument("--examples", default=here / "examples")
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--rounds", type=int, default=3)
    options = p.parse_args()
    options.mpiexec, options.mpiflags = find_mpiexec()
    if not options.mpiexec:
        print("no mpiexec: one rank only")
    equal = True
    with tempfile.TemporaryDirectory(prefix="cofuse-demo-") as tmp:
        for name, arguments in DEMO:
            print(f"\n{name} {' '.join(arguments)}    ({os.cpu_count()} CPUs)")
            todo = list(ways(options, pathlib.Path(tmp), name, arguments))
            for _ in range(options.rounds + 1):  # the first round fills the kernel cache
                for w in todo:
                    w.run()
            rows = [["", "time", *HEADINGS, "result"]]
            for w in todo:
                same = w.output == todo[0].output
                equal = equal and same
                rows.append([w.name, f"{w.best:.3f} s", *w.counters(),
                             "" if w is todo[0] else "equal" if same else "DIFFERENT"])
            table(rows)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
