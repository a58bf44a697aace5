#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mutants.py --build DIR --mutants DIR [NUMBER...]: does the fuzzer notice faults? Each mutant of mutations.py runs
the programs of `./dev fuzz` until one is wrong. DIR of --mutants: a build with -DCOFUSE_MUTANTS=ON.

What no program notices is given to test-ir-oracle (the real analysis on simulated ranks). Fails if a mutant that
is not marked equivalent gets away, or one that is marked is caught."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from batch import ALWAYS, IN_TURN, Batch, Tools, label, programs  # noqa: E402
from mutations import MUTANTS  # noqa: E402


class Check:
    def __init__(self, o):
        self.o = o
        self.tools = Tools(o.build, o.mpiexec, timeout=o.timeout)
        self.folder = pathlib.Path(o.mutants).resolve() / "fuzz"
        self.tools.env["LD_LIBRARY_PATH"] = str(pathlib.Path(o.mutants).resolve() / "lib")
        self.batches = []

    def batch(self, n):
        """Batch number n, compiled on first need and shown to be right without a mutant."""
        while len(self.batches) <= n:
            k = len(self.batches)
            first = self.o.seed + k * self.o.batch
            folder = self.folder / str(first)
            shutil.rmtree(folder, ignore_errors=True)
            b = Batch(self.tools, folder, programs(list(range(first, first + self.o.batch)), 2), k)
            b.prepare()
            b.wrong = set()
            for config in self.configs(k):  # also fills the kernel cache
                while True:
                    rest = [s for s in b.chosen(config) if s not in b.wrong]
                    seed, wrong, _ = self.run(b, config, 0, rest)
                    if seed is None:
                        break
                    print(f"program {seed} is wrong without any mutant: {label(config)}: {wrong[:300]}", flush=True)
                    b.wrong.add(seed)
            self.batches.append(b)
        return self.batches[n]

    @staticmethod
    def configs(k):
        return [ALWAYS[1], ALWAYS[3], ALWAYS[4], ALWAYS[2], ALWAYS[0], IN_TURN[k % len(IN_TURN)]]

    def run(self, b, config, mutant, seeds):
        self.tools.env["COFUSE_MUTANT"] = str(mutant)
        return b.run(config, seeds)

    def caught(self, m, limit):
        """(programs it took, how) or None"""
        for k in range(-(-limit // self.o.batch)):
            b = self.batch(k)
            for config in self.configs(k):
                rest = [s for s in b.chosen(config) if s not in b.wrong]
                seed, wrong, _ = self.run(b, config, m.number, rest)
                if seed is not None:
                    return seed - self.o.seed + 1, f"{label(config)}: {wrong.splitlines()[0][:90]}"
        return None

    def oracle(self, m):
        """(programs, how) of test-ir-oracle, or None"""
        program = pathlib.Path(self.o.mutants) / "test" / "ir" / "test-ir-oracle"
        if not program.exists():
            return None
        done = subprocess.run([str(program), "1", str(self.o.oracle)], env={**os.environ, "COFUSE_MUTANT": str(m.number)},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode == 0:
            return None
        line = next((l for l in done.stdout.splitlines() if "FAILED" in l or "signal" in l), "failed")
        return "oracle", f"test-ir-oracle: {line[:90]}"

    def main(self):
        chosen = [m for m in MUTANTS if not self.o.number or m.number in self.o.number]
        bad, rows = [], []
        for m in chosen:
            start = time.monotonic()
            limit = self.o.same if m.same else self.o.count
            found = self.caught(m, limit) or self.oracle(m)
            seconds = time.monotonic() - start
            if m.same:
                verdict = "CAUGHT, though equivalent" if found else f"equivalent ({limit} programs)"
            else:
                verdict = "caught" if found else f"NOT CAUGHT in {limit}"
            if bool(found) == bool(m.same):
                bad.append(m.number)
            rows.append((m, found))
            took = found[0] if found else "-"
            print(f"{m.number:4} {m.name:52} {verdict:26} {took!s:>6} {seconds:5.0f} s  {m.same or (found[1] if found else '')}",
                  flush=True)
        real = [m for m in chosen if not m.same]
        print(f"{len(chosen)} mutants: {len(real)} faults, {len(real) - len([n for n in bad if not next(m for m in chosen if m.number == n).same])} "
              f"caught, {len(chosen) - len(real)} equivalent" + (f"; wrong: {bad}" if bad else ""))
        shutil.rmtree(self.folder, ignore_errors=True)
        return 1 if bad else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True)
    p.add_argument("--mutants", required=True)
    p.add_argument("--mpiexec", default=shutil.which("mpiexec.openmpi") or shutil.which("mpiexec") or "")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=2000, help="programs a mutant may get away with")
    p.add_argument("--same", type=int, default=200, help="programs that equivalent mutants are tried on")
    p.add_argument("--oracle", type=int, default=20000, help="programs of test-ir-oracle")
    p.add_argument("--batch", type=int, default=60)
    p.add_argument("--timeout", type=float, default=60)
    p.add_argument("number", type=int, nargs="*")
    return Check(p.parse_args()).main()


if __name__ == "__main__":
    sys.exit(main())
