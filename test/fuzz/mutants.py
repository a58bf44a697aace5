#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mutants.py --build DIR --mutants DIR [NUMBER...]: does the fuzzer notice faults? Each mutant of mutations.py runs
the programs of `./dev fuzz` until one is wrong. DIR of --mutants: a build with -DCOFUSE_MUTANTS=ON.

Faults of devices go to the programs of test/e2e/regress/emu_*.c first. What no program notices is given to test-ir-oracle (the real analysis on simulated ranks). Fails if a mutant that
is not marked equivalent gets away, or one that is marked is caught."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from batch import ALWAYS, EMU_ALWAYS, EMU_IN_TURN, HERE, IN_TURN, Batch, CompileError, Tools, call, label, programs  # noqa: E402
from mutations import MUTANTS  # noqa: E402


class Check:
    def __init__(self, o):
        self.o = o
        self.tools = Tools(o.build, o.mpiexec, timeout=o.timeout)
        self.folder = pathlib.Path(o.mutants).resolve() / "fuzz"
        self.tools.env["LD_LIBRARY_PATH"] = str(pathlib.Path(o.mutants).resolve() / "lib")
        self.batches, self.lock = [], threading.Lock()

    def batch(self, n):
        """Batch number n, compiled on first need and shown to be right without a mutant."""
        with self.lock:
            return self.batch_locked(n)

    def batch_locked(self, n):
        while len(self.batches) <= n:
            k = len(self.batches)
            first = self.o.seed + k * self.o.batch
            b = Batch(self.tools, self.folder / str(first), programs(list(range(first, first + self.o.batch)), 2), k)
            self.prepare(b)
            b.wrong = set()
            devices = sorted({m.device for m in self.chosen})
            for config in [c for d in devices for c in self.configs(k, d)]:  # also fills the kernel cache
                while True:
                    rest = [s for s in b.chosen(config) if s not in b.wrong]
                    seed, wrong, _ = self.run(b, config, 0, rest)
                    if seed is None:
                        break
                    print(f"program {seed} is wrong without any mutant: {label(config)}: {wrong[:300]}", flush=True)
                    b.wrong.add(seed)
            self.batches.append(b)
        return self.batches[n]

    def prepare(self, b):
        """Compiles the batch, unless an earlier call left the same one behind."""
        parts = [self.tools.build / "lib" / "cofuse-plugin.so", *(HERE / f for f in ("pool.c", "fuzz.h", "batch.py"))]
        key = json.dumps([b.units, b.flags, [str(p) + str(p.stat().st_mtime_ns) for p in parts]])
        kept = b.folder / "kept.json"
        if kept.exists():
            old = json.loads(kept.read_text())
            if old["key"] == key:
                b.want, b.odd = {int(k): v for k, v in old["want"].items()}, set(old["odd"])
                return
        shutil.rmtree(b.folder, ignore_errors=True)
        b.folder.mkdir(parents=True)
        b.prepare()
        kept.write_text(json.dumps({"key": key, "want": b.want, "odd": sorted(b.odd)}))

    @staticmethod
    def configs(k, device):
        if device == "emu":
            return EMU_ALWAYS + EMU_IN_TURN
        return [ALWAYS[1], ALWAYS[3], ALWAYS[4], ALWAYS[2], ALWAYS[0], IN_TURN[k % len(IN_TURN)]]

    def run(self, b, config, mutant, seeds):
        return b.run(config, seeds, {"COFUSE_MUTANT": str(mutant)})

    def caught(self, m, limit):
        """(programs it took, how) or None"""
        for k in range(-(-limit // self.o.batch)):
            b = self.batch(k)
            for config in self.configs(k, m.device):
                rest = [s for s in b.chosen(config) if s not in b.wrong]
                seed, wrong, _ = self.run(b, config, m.number, rest)
                if seed is not None:
                    return seed - self.o.seed + 1, f"{label(config)}: {wrong.splitlines()[0][:90]}"
        return None

    def end_to_end(self, m):
        """(programs, how) of the programs that once were wrong on a device, or None: emu_*.c of test/e2e/regress"""
        if m.device != "emu":
            return None
        folder = self.folder / "end-to-end"
        with self.lock:
            folder.mkdir(parents=True, exist_ok=True)
            for source in sorted((HERE.parent / "e2e/regress").glob("emu_*.c")) + [HERE.parent / "e2e/programs/host.c"]:
                for who in ("plain", "cofuse"):
                    made = folder / f"{source.stem}-{who}"
                    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
                        self.tools.compile(who, f"-O2 -I{HERE.parents[1]}/include", source, folder / f"{source.stem}-{who}.o", folder)
                        self.tools.link(who, [folder / f"{source.stem}-{who}.o"], folder / f"{source.stem}-{who}", folder)
        for plain in sorted(folder.glob("*-plain")):
            want = call([str(plain)], folder, {}, self.o.timeout)[:2]
            for ranks, more in self.WAYS:
                got = self.one_program(plain, ranks, more, m.number, folder)
                if got != want:
                    if self.one_program(plain, ranks, more, 0, folder) != want:
                        raise CompileError(f"{plain.stem[:-6]}, ranks {ranks}, {more}: wrong without any mutant")
                    return "e2e", f"{plain.stem[:-6]}, ranks {ranks}"
        return None

    WAYS = [(1, {"COFUSE_TEST_DEVICE_MEMORY": "150000"}), (2, {"COFUSE_WINDOW": "1"}), (4, {}),
            (4, {"COFUSE_TEST_DIRECT": "1", "COFUSE_TEST_ORDER": "shuffled"}),
            (2, {"COFUSE_TEST_DIRECT": "1", "COFUSE_TEST_DEVICE_MEMORY": "75000"})]

    def one_program(self, plain, ranks, more, mutant, folder):
        if "COFUSE_TEST_DEVICE_MEMORY" in more and plain.stem in ("host-plain", "emu_same_element-plain"):
            more = {k: v for k, v in more.items() if k != "COFUSE_TEST_DEVICE_MEMORY"}  # they need more
        env = {**self.tools.env, "COFUSE_DEVICE": "emu", "COFUSE_MUTANT": str(mutant), "COFUSE_LOG": "error",
               "COFUSE_CACHE_DIR": str(folder / "cache"), **more}
        launch = [self.tools.mpiexec, *self.tools.launcher, "-n", str(ranks)] if ranks > 1 else []
        return call([*launch, str(plain).replace("-plain", "-cofuse")], folder, env, self.o.timeout)[:2]

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
        chosen = self.chosen = [m for m in MUTANTS if not self.o.number or m.number in self.o.number]
        bad, rows = [], []

        def try_one(m):
            start = time.monotonic()
            limit = self.o.same if m.same else self.o.count
            found = self.end_to_end(m) or self.caught(m, limit) or self.oracle(m)
            return m, limit, found, time.monotonic() - start

        pool = concurrent.futures.ThreadPoolExecutor(self.o.jobs)
        for m, limit, found, seconds in pool.map(try_one, chosen):
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
    p.add_argument("--timeout", type=float, default=120)
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants tried at the same time")
    p.add_argument("number", type=int, nargs="*")
    return Check(p.parse_args()).main()


if __name__ == "__main__":
    sys.exit(main())
