#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py --build DIR N: N random programs (generate.py) against the plain compiler, bit for bit.

Many programs share an executable, which runs on 1 to 4 ranks, with windows of 1, 3 and default size, one and two
threads, and blocks in three orders. A program that fails is shrunk and printed with the command that repeats it.
What was exercised is counted, and too little of it is a failure too."""

import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import shrink  # noqa: E402
from batch import Batch, CompileError, Tools, label, programs  # noqa: E402

# Least count per 100 programs, over all runs of a batch: name, what it is, count.
LEAST = [("fused", "tasks that joined another in a group", 400), ("reordered_tasks", "tasks moved before others", 20),
         ("temporaries_eliminated", "temporaries that became values", 40), ("edges", "edges of nests with different boxes", 100),
         ("halo_rows", "rows of halos received", 500),
         ("messages", "messages", 800), ("serial_loops", "loops run serially", 50),
         ("replicated_loops", "loops run on every rank", 50), ("memo_hits", "windows seen before", 150),
         ("tasks_issued_again", "tasks issued again for a like call", 400)]
LEAST_EMU = [("device_groups", "groups on the emulated device", 1000), ("copies_to_host", "copies from the device", 100),
             ("copies_to_device", "copies to the device", 1000)]


class Run:
    def __init__(self, options):
        self.o = options
        self.tools = Tools(options.build, options.mpiexec, options.clang, options.cflags, options.timeout,
                           options.devices)
        self.folder = pathlib.Path(options.build).resolve() / "fuzz" / f"run-{os.getpid()}"
        self.lock = threading.Lock()
        self.counters, self.failures, self.done, self.odd = {}, [], 0, []
        self.stop = False

    def add(self, counters):
        with self.lock:
            for k, v in counters.items():
                self.counters[k] = self.counters.get(k, 0) + v
            if counters:
                self.counters["fused"] = self.counters.get("fused", 0) + counters["tasks"] - counters["groups"]

    def batch(self, turn, seeds):
        if self.stop:
            return
        folder = self.folder / str(seeds[0])
        b = Batch(self.tools, folder, programs(seeds, self.o.units), turn)
        try:
            b.prepare()
        except CompileError as e:
            with self.lock:
                self.failures.append((seeds[0], str(e)))
                print(f"=== seeds {seeds[0]} to {seeds[-1]}: {e}", flush=True)
            return
        with self.lock:
            self.odd += sorted(b.odd)
        skip = set()
        for config in self.tools.configs(turn):
            for _ in range(1 + self.o.failures):
                rest = [s for s in b.chosen(config) if s not in skip]
                seed, wrong, counters = b.run(config, rest)
                self.add(counters)
                if seed is None or self.stop:
                    break
                skip.add(seed)
                self.report(b, config, seed, wrong)
        with self.lock:
            self.done += len(seeds)
        shutil.rmtree(folder, ignore_errors=True)

    def report(self, b, config, seed, wrong):
        with self.lock:
            self.failures.append((seed, wrong))
            if len(self.failures) >= self.o.failures:
                self.stop = True
            print(f"=== program {seed}: {label(config)}: {wrong}", flush=True)
            if not self.o.no_shrink:
                print(shrink.shrink(self.tools, self.folder / f"shrink-{seed}", b, config, seed,
                                    time.monotonic() + self.o.shrink_seconds), flush=True)

    def check_counts(self):
        """Only for a full matrix and enough programs to average."""
        short = []
        wanted = (LEAST if "cpu" in self.o.devices else []) + (LEAST_EMU if "emu" in self.o.devices else [])
        for name, what, least in wanted:
            have = self.counters.get(name, 0)
            need = least * self.done / 100 if self.tools.mpiexec and self.done >= 100 else 0
            print(f"  {name:24} {int(have):9}  {what}" + (f" (at least {int(need)} wanted)" if have < need else ""))
            if have < need:
                short.append(name)
        return short

    def main(self):
        first = random.SystemRandom().randrange(1, 10**8) if self.o.seed is None else self.o.seed
        seeds = list(range(first, first + self.o.count))
        print(f"seeds {first} to {seeds[-1]} (repeat: test/fuzz/run.py --build {self.o.build} --seed {first} {self.o.count})",
              flush=True)
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(self.o.jobs) as pool:
            parts = [seeds[i:i + self.o.batch] for i in range(0, len(seeds), self.o.batch)]
            for f in [pool.submit(self.batch, (p[0] // self.o.batch), p) for p in parts]:
                f.result()
        shutil.rmtree(self.folder, ignore_errors=True)
        short = self.check_counts()
        seconds = time.monotonic() - start
        if self.odd:
            print(f"  set aside, since the plain compiler disagrees with itself: {self.odd}")
        if len(self.odd) > 3 + self.o.count // 200:  # such as the sign of fmax(0.0, -0.0), which C leaves open
            short.append("programs that the plain compiler agrees with itself about")
        print(f"{self.done} programs, {len(self.failures)} wrong, {seconds:.0f} s"
              + (f"; too little of: {', '.join(short)}" if short else ""))
        return 1 if self.failures or short else 0


def arguments(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("count", type=int)
    p.add_argument("--build", required=True)
    p.add_argument("--seed", type=int, help="of the first program; default: a new one each time")
    p.add_argument("--mpiexec", default=shutil.which("mpiexec.openmpi") or shutil.which("mpiexec") or "")
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--devices", default="cpu,emu", help="where kernels run: cpu, emu, ptx (the code for GPUs, on a driver without one)")
    p.add_argument("--cflags", help="one set of flags for all units (sanitizers); default: many in turn")
    p.add_argument("--batch", type=int, default=60, help="programs in one executable")
    p.add_argument("--units", type=int, default=2, help="translation units of one executable")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--failures", type=int, default=3, help="stop after so many")
    p.add_argument("--no-shrink", action="store_true")
    p.add_argument("--shrink-seconds", type=int, default=120)
    p.add_argument("--timeout", type=float, default=90, help="seconds for one run of an executable")
    return p.parse_args(argv)


if __name__ == "__main__":
    sys.exit(Run(arguments()).main())
