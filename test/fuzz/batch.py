# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many programs in one executable: written, compiled with and without the plugin, run in many ways."""

import itertools
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import time

from generate import Program

HERE = pathlib.Path(__file__).resolve().parent

# Flags of a translation unit, taken in turn; units of one executable differ. Without the SLP vectorizer of LLVM 19,
# which narrows ~(a > b) + ~(a > b) of 32 bits to 8 before it becomes a double: the oracle was wrong once in 4000.
SLP = "-fno-slp-vectorize"
# Without contraction where the target has no FMA: LLVM folds llvm.fmuladd of constants with one rounding all the
# same, so that an answer would depend on what the optimiser knows.
FLAGS = [f"-O2 -ffp-contract=off {SLP}", "-O1 -march=native", f"-O3 -march=native -ffp-contract=off {SLP}", "-O0",
         f"-O2 -march=native -ffp-contract=on {SLP}", "-O1 -ffp-contract=off", "-O0 -march=native"]
POOL_FLAGS = [f"-O2 {SLP}", "-O1 -march=native", "-O0"]

# Ranks, window (0: default), threads, order of blocks. Every batch runs the first list and one of the second;
# a quarter of its programs with a window of 3 and a fifth with a window of 1, where most kernels are needed.
ALWAYS = [(1, 1, 1, "ascending"), (1, 0, 2, "descending"), (2, 3, 1, "shuffled"), (3, 0, 2, "ascending"),
          (4, 0, 1, "descending")]
IN_TURN = [(2, 0, 2, "shuffled"), (4, 1, 1, "ascending"), (3, 3, 1, "descending"), (1, 0, 1, "ascending"),
           (2, 1, 2, "descending"), (4, 3, 2, "shuffled"), (1, 3, 1, "shuffled"), (3, 1, 1, "shuffled")]
# On the emulated device: every batch on one rank and in two of the other ways, each rank with its own device.
EMU_ALWAYS = [(1, 0, 1, "ascending", "emu")]
LITTLE = 38000  # bytes of its memory in one of them
EMU_IN_TURN = [(2, 0, 1, "shuffled", "emu"), (4, 0, 1, "descending", "emu, direct"), (1, 1, 1, "shuffled", "emu"),
               (4, 3, 1, "ascending", "emu"), (3, 0, 1, "shuffled", "emu, direct"), (2, 1, 1, "descending", "emu, direct"),
               (2, 0, 1, "ascending", "emu, small groups on the CPU"), (1, 3, 1, "shuffled", "emu, small groups on the CPU")]
# The code for NVIDIA's GPUs, by the driver of the tests (test/device/fake_cuda.c), without libdevice.
PTX = [(1, 0, 1, "ascending", "ptx"), (2, 3, 1, "ascending", "ptx"), (1, 1, 1, "ascending", "ptx, small groups on the CPU")]
SMALL = 60  # iterations


def label(config):
    ranks, window, threads, order, *device = config
    return f"ranks {ranks}, window {window or 'default'}, threads {threads}, {order}" + "".join(f", {d}" for d in device)


def kill_session(session):
    """Launchers put ranks into process groups of their own, but they stay in the session."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path("/proc", entry, "stat").read_text()
                if int(stat.rpartition(")")[2].split()[3]) == session:
                    os.kill(int(entry), signal.SIGKILL)
            except (OSError, ValueError, IndexError):
                pass  # gone meanwhile


def call(command, cwd, env, timeout):
    """(status or None after a time-out, standard output, standard error)"""
    full = {k: v for k, v in os.environ.items() if not k.startswith("COFUSE_") or k == "COFUSE_MUTANT"}
    full.update(env)
    child = subprocess.Popen(command, cwd=cwd, env=full, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    try:
        out, err = child.communicate(timeout=timeout)
        return child.returncode, out, err
    except subprocess.TimeoutExpired:
        kill_session(child.pid)
        out, err = child.communicate()
        return None, out, err


class Tools:
    """Where things are and how they are started."""

    def __init__(self, build, mpiexec, clang="clang-19", cflags=None, timeout=90, devices="cpu,emu"):
        self.devices = devices
        self.build, self.mpiexec, self.clang, self.timeout = pathlib.Path(build).resolve(), mpiexec, clang, timeout
        self.cofuse = str(self.build / "bin" / "cofuse-cc")
        self.fixed = cflags  # instead of FLAGS
        self.launcher = []
        self.env = {}
        if mpiexec:
            version = subprocess.run([mpiexec, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     text=True).stdout
            if "Open MPI" in version or "OpenRTE" in version:
                self.launcher = ["--oversubscribe", "--bind-to", "none"]
                self.env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_mpi_yield_when_idle": "1"}
        self.env["ASAN_OPTIONS"] = "detect_leaks=0"

    def configs(self, turn):
        all_ = []
        if "cpu" in self.devices:
            all_ += ALWAYS + [IN_TURN[turn % len(IN_TURN)]]
        if "emu" in self.devices:
            all_ += EMU_ALWAYS + [EMU_IN_TURN[(2 * turn + k) % len(EMU_IN_TURN)] for k in range(2)]
        if "ptx" in self.devices:
            all_ += PTX
        return all_ if self.mpiexec else [c for c in all_ if c[0] == 1]

    def pool(self, turn):
        """The object of pool.c for these flags, (plain, cofuse); compiled once."""
        flags = self.fixed or POOL_FLAGS[turn % len(POOL_FLAGS)]
        folder = self.build / "fuzz"
        folder.mkdir(parents=True, exist_ok=True)
        source = HERE / "pool.c"
        newest = max(p.stat().st_mtime for p in (source, HERE / "fuzz.h", self.build / "lib" / "cofuse-plugin.so"))
        out = []
        for who in ("plain", "cofuse"):
            o = folder / f"pool-{who}-{re.sub('[^a-zA-Z0-9]+', '_', flags)}.o"
            if not o.exists() or o.stat().st_mtime < newest:
                tmp = o.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}.o")
                self.compile(who, flags, source, tmp, folder)
                tmp.rename(o)
            out.append(o)
        return out

    def compile(self, who, flags, source, out, cwd):
        compiler = [self.cofuse] if who == "cofuse" else [self.clang, "-Wno-unknown-pragmas"]
        command = [*compiler, "-std=gnu17", "-w", *shlex.split(flags), f"-I{HERE}", "-c", str(source), "-o", str(out)]
        st, _, err = call(command, cwd, {}, 300)
        if st != 0:
            raise CompileError(f"{shlex.join(command)}\n{err}")

    def link(self, who, objects, out, cwd):
        compiler = [self.cofuse] if who == "cofuse" else [self.clang]
        extra = [f for f in shlex.split(self.fixed or "") if f.startswith("-fsanitize")]
        command = [*compiler, *extra, *map(str, objects), "-o", str(out), "-lm"]
        st, _, err = call(command, cwd, {}, 300)
        if st != 0:
            raise CompileError(f"{shlex.join(command)}\n{err}")


class CompileError(Exception):
    pass


class Batch:
    """units: lists of (seed, text of the function). One executable per compiler."""

    def __init__(self, tools, folder, units, turn):
        self.t, self.folder, self.units, self.turn = tools, folder, units, turn
        folder.mkdir(parents=True, exist_ok=True)
        self.flags = [tools.fixed or FLAGS[(turn * 3 + u) % len(FLAGS)] for u in range(len(units))]
        self.runs = itertools.count()

    @property
    def seeds(self):
        return [s for u in self.units for s, _ in u]

    def write(self):
        for u, unit in enumerate(self.units):
            (self.folder / f"u{u}.c").write_text('#include "fuzz.h"\n\n' + "\n".join(t for _, t in unit))
        names = "".join(f"void fuzz_{s}(void);\n" for s in self.seeds)
        table = "".join(f"    {{{s}, fuzz_{s}}},\n" for s in self.seeds)
        (self.folder / "main.c").write_text(
            '#include "fuzz.h"\n\n' + names + "static const struct {\n  int seed;\n  void (*run)(void);\n} all[] = {\n" + table +
            "};\n\n/* The programs named, or all. */\nint main(int argc, char **argv) {\n"
            "  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {\n    int wanted = argc < 2;\n"
            "    for (int k = 1; k < argc; k++)\n      wanted |= atoi(argv[k]) == all[i].seed;\n    if (!wanted)\n"
            '      continue;\n    printf("%d begin\\n", all[i].seed);\n    fflush(stdout);\n    all[i].run();\n'
            '    printf("%d end\\n", all[i].seed);\n  }\n  return 0;\n}\n')

    def compile(self, who):
        objects = [self.t.pool(self.turn)[who == "cofuse"]]
        for u, flags in enumerate(self.flags):
            objects.append(self.folder / f"u{u}-{who}.o")
            self.t.compile(who, flags, self.folder / f"u{u}.c", objects[-1], self.folder)
        objects.append(self.folder / "main.o")
        if who == "plain":
            self.t.compile(who, self.t.fixed or "-O1", self.folder / "main.c", objects[-1], self.folder)
        self.t.link(who, objects, self.folder / who, self.folder)

    def prepare(self):
        """Compiles both and asks the oracle."""
        self.write()
        self.compile("plain")
        st, out, err = call([str(self.folder / "plain")], self.folder, {"ASAN_OPTIONS": "detect_leaks=0"}, self.t.timeout)
        if st != 0:
            raise CompileError(f"the plain program ends with {st} after {out[-200:]!r}: {err[:2000]}")
        if " band " in out:
            raise CompileError("the plain program destroys a band: " + out[out.index(" band ") - 20:][:100])
        self.want = sections(out)
        self.odd = self.disputed()
        self.compile("cofuse")

    def disputed(self):
        """Programs whose answer changes with the plain compiler's level of optimisation: they are no oracle. Only levels
        that simplify library calls alike are compared."""
        lower = [re.sub("-O[23]", "-O1", f) for f in self.flags]
        if self.t.fixed or lower == self.flags:
            return set()
        objects = [self.t.pool(self.turn)[0], self.folder / "main.o"]
        for u, flags in enumerate(lower):
            objects.append(self.folder / f"u{u}-plain.o")
            if flags != self.flags[u]:
                objects[-1] = self.folder / f"u{u}-lower.o"
                self.t.compile("plain", flags, self.folder / f"u{u}.c", objects[-1], self.folder)
        self.t.link("plain", objects, self.folder / "lower", self.folder)
        st, out, err = call([str(self.folder / "lower")], self.folder, {}, self.t.timeout)
        if st != 0:
            raise CompileError(f"the plain program at -O1 ends with {st}: {err[:2000]}")
        got = sections(out)
        return {s for s in self.seeds if got.get(s) != self.want[s]}

    def chosen(self, config):
        """The programs of this batch that run so."""
        every = {0: 1, 3: 4, 1: 5}[config[1]] * (3 if "ptx" in config[-1] else 1)  # new kernels take their time there
        return [s for s in self.seeds[self.turn % every::every] if s not in self.odd]

    def command(self, config, seeds=()):
        ranks, window, threads, order, *device = config
        env = {"COFUSE_CACHE_DIR": str(self.folder / "cache"), "COFUSE_DEVICE": "cpu", "COFUSE_THREADS": str(threads), "COFUSE_TEST_ORDER": order,
               "COFUSE_LOG": "error", "COFUSE_TIMEOUT": str(max(10, int(self.t.timeout / 2))), **self.t.env}
        if window:
            env["COFUSE_WINDOW"] = str(window)
        if device:
            where, _, how = device[0].partition(", ")
            env["COFUSE_DEVICE"] = "auto" if where == "ptx" else where
            env["COFUSE_DEVICE_LEAST"] = str(SMALL if "small" in how else 0)
            env["COFUSE_TEST_DIRECT"] = str(int(how == "direct"))
            if where == "ptx":
                driver = self.t.build / "test/device/fake"
                (driver / "kept").mkdir(exist_ok=True)
                env.update(COFUSE_TEST_DRIVER="1", LD_LIBRARY_PATH=str(driver), FAKE_CUDA_CACHE=str(driver / "kept"), CC=self.t.clang,
                           FAKE_CUDA_PTX=str(HERE.parent / "gpu/ptx_to_c.py"), COFUSE_LIBDEVICE="/nowhere/libdevice.10.bc")
            elif (ranks, window) == (1, 1):  # arrays have to make room for others
                env["COFUSE_TEST_DEVICE_MEMORY"] = str(LITTLE)
        command = [str(self.folder / "cofuse"), *map(str, seeds)]
        if ranks > 1:
            command = [self.t.mpiexec, *self.t.launcher, "-n", str(ranks), *command]
        return command, env

    def run(self, config, seeds=(), more=()):
        """(seed that is wrong or None, what is wrong, counters). more: further environment"""
        seeds = list(seeds or self.chosen(config))
        command, env = self.command(config, () if seeds == self.seeds else seeds)
        stats = self.folder / f"stats-{next(self.runs)}.json"
        env["COFUSE_STATS"] = str(stats)
        env.update(more)
        st, out, err = call(command, self.folder, env, self.t.timeout)
        got = sections(out)
        seed = wrong = None
        for s in seeds:
            if got.get(s) != self.want[s]:
                seed, wrong = s, difference(self.want[s], got.get(s, []), st, err)
                break
        if seed is None and st != 0:
            seed, wrong = seeds[-1], f"exit status {st}: {err[-600:]}"
        counters = {}
        if stats.exists():
            counters = json.loads(stats.read_text())
            stats.unlink()
        return seed, wrong, counters


def sections(out):
    """Lines per program; a program that did not end lacks its closing line."""
    found = {}
    for line in out.splitlines():
        number, _, rest = line.partition(" ")
        if number.isdigit():
            found.setdefault(int(number), []).append(rest)
    return found


def difference(want, got, status, err):
    if "end" not in got:
        how = "no end in time" if status is None else f"exit status {status}"
        return f"stopped ({how}) after {len(got)} of {len(want)} lines: {err[-800:]}"
    lines = [f"{w!r} became {g!r}" for w, g in zip(want, got) if w != g]
    return "; ".join(lines[:6]) or f"{len(got)} lines instead of {len(want)}"


def programs(seeds, units):
    """Texts of these programs, spread over so many units."""
    per = -(-len(seeds) // units)
    made = [(s, Program(s)) for s in seeds]
    return [[(s, p.text()) for s, p in made[i:i + per]] for i in range(0, len(made), per)]
