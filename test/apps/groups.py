#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far the applications fuse: tasks issued and groups run per iteration, on one rank and on several.

Each program runs N and 2N iterations; the difference, divided by N, has neither set-up nor checks in it. Fails if
a program needs more groups than its limit, analyses windows in the second N iterations, or another number of groups on other numbers of ranks, or if a
loop of an iteration ran as the plain loop."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import os

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Name, iterations, arguments (@: iterations), groups per iteration at most. The paper's table has, for its own
# formulations: Black-Scholes 67 -> 1, Jacobi 3 -> 2, CG 12 -> 4, BiCGSTAB 27 -> 8, GMG 24 -> 11, CFD 378 -> 41,
# shallow water 276 -> 153.
APPS = [
    ("black_scholes", 32, "500 @", 1),
    ("jacobi", 100, "60 @ 0", 1.1),
    ("cg", 50, "40 @ 0", 3.2),
    ("bicgstab", 50, "40 @ 0", 5.2),
    ("multigrid", 50, "5 @ 0 2", 8.2),
    ("cfd", 8, "33 @", 22.5),
    ("shallow_water", 16, "40 30 @", 7),
]
NEW = 2  # windows that the second N iterations may show for the first time: those that end the program
COLUMNS = ["tasks", "groups", "temporaries_eliminated", "messages", "collectives"]


def stats(options, tmp, name, arguments, ranks):
    env = {k: v for k, v in os.environ.items() if not k.startswith("COFUSE_")}
    env.update(COFUSE_STATS=str(tmp / "stats.json"), COFUSE_CACHE_DIR=str(tmp / "cache"),
               OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = [str(tmp / name), *arguments]
    if ranks > 1:
        version = subprocess.run([options.mpiexec, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 text=True).stdout
        open_mpi = "Open MPI" in version or "OpenRTE" in version
        command = [options.mpiexec, *(["--oversubscribe", "--bind-to", "none"] if open_mpi else []),
                   "-n", str(ranks), *command]
    done = subprocess.run(command, env=env, cwd=tmp, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads((tmp / "stats.json").read_text())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=ROOT / "build")
    p.add_argument("--mpiexec", default="")
    p.add_argument("--ranks", default="1,4")
    p.add_argument("app", nargs="*", help="default: all")
    options = p.parse_args()
    ranks = [int(r) for r in options.ranks.split(",") if r == "1" or options.mpiexec]
    unknown = set(options.app) - {a[0] for a in APPS}
    if unknown:
        p.error(f"no such application: {', '.join(unknown)}")
    failures = []
    libraries = [str(f) for f in sorted(ROOT.glob("lib/*/*.c"))]
    print(f"{'':15} ranks  " + "  ".join(f"{c:>12.12}" for c in COLUMNS) + "  limit    (per iteration)")
    with tempfile.TemporaryDirectory(prefix="cofuse-groups-") as folder:
        tmp = pathlib.Path(folder)
        compiler = [str(pathlib.Path(options.build) / "bin" / "cofuse-cc"), "-O2"]
        objects = [str(tmp / (f.replace("/", "-") + ".o")) for f in libraries]
        for source, out in zip(libraries, objects):
            subprocess.run([*compiler, "-c", source, "-o", out], check=True)
        for name, n, arguments, limit in APPS:
            if options.app and name not in options.app:
                continue
            source = str(ROOT / "examples" / f"{name}.c")
            subprocess.run([*compiler, source, *objects, "-o", str(tmp / name), "-lm"], check=True)
            groups = []
            for r in ranks:
                one, two = (stats(options, tmp, name, arguments.replace("@", str(k * n)).split(), r) for k in (1, 2))
                figures = [(two[c] - one[c]) / n for c in COLUMNS]
                groups.append(figures[1])
                new = (two["windows"] - two["memo_hits"]) - (one["windows"] - one["memo_hits"])
                if new > NEW:
                    failures.append(f"{name}: {new} windows analysed in iterations {n} to {2 * n}, which should replay")
                print(f"{name:15} {r:5}  " + "  ".join(f"{f:12.2f}" for f in figures) + f"  {limit:5}", flush=True)
                if figures[1] > limit:
                    failures.append(f"{name}: {figures[1]:.2f} groups per iteration on {r} ranks, limit {limit}")
                if two["serial_loops"] or two.get("replicated_loops", 0) > one.get("replicated_loops", 0):
                    failures.append(f"{name}: loops ran serially or on every rank on {r} ranks")
            if max(groups) - min(groups) > 0.2:
                failures.append(f"{name}: {groups} groups per iteration on {ranks} ranks")
    for f in failures:
        print(f)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
