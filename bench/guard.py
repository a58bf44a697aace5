#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""guard.py --build DIR: what coherent host access costs: a guard that has nothing to do, in nanoseconds, and host
loops over 100 million elements against the plain build (interleaved rounds, medians of the ratios)."""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LOOPS = ["sum", "update", "condition and neighbours"]


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", required=True)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--elements", type=int, default=100_000_000)
    p.add_argument("--clang", default=shutil.which("clang-19") or "clang")
    o = p.parse_args()
    build = pathlib.Path(o.build).resolve()
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        lib = [f"-L{build}/lib", "-lcofuse", f"-Wl,-rpath,{build}/lib"]
        run(o.clang, "-O2", f"-I{HERE.parent}/include", HERE / "guard.c", "-o", tmp / "guard", *lib)
        print("A guard with nothing to do, 20 stores (aim: at most 5 ns):", flush=True)
        print(run(tmp / "guard"), flush=True)
        run(o.clang, "-O2", "-w", HERE / "host.c", "-o", tmp / "plain")
        run(build / "bin" / "cofuse-cc", "-O2", HERE / "host.c", "-o", tmp / "cofuse")
        rows = []
        for r in range(o.rounds):
            pair = ["plain", "cofuse"] if r % 2 else ["cofuse", "plain"]
            out = {name: run(tmp / name, o.elements).split() for name in pair}
            if out["plain"][3] != out["cofuse"][3]:
                raise SystemExit(f"results differ: {out}")
            rows.append([float(c) / float(b) for b, c in zip(out["plain"][:3], out["cofuse"][:3])])
        print(f"Host loops over {o.elements} elements, cofuse / plain (aim: at most 1.05):")
        for k, name in enumerate(LOOPS):
            ratios = sorted(row[k] for row in rows)
            print(f"{name:28} {statistics.median(ratios):5.3f}   ({ratios[0]:.3f} to {ratios[-1]:.3f})")


if __name__ == "__main__":
    main()
