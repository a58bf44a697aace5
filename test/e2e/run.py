#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one program in many ways and demands the plain compiler's answer from each.

The program is compiled twice with the same clang and the same flags, plain and with cofuse-cc. The plain
run is the oracle; standard output (without lines that start with "time ") and exit status of every other
run must equal it, and so must the files named by --file.
"""

import argparse
import difflib
import json
import operator
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIP = 77  # ctest: SKIP_RETURN_CODE

# More ways to run: name, ranks, settings. Threads, block orders and COFUSE_DISABLE change no answer either.
VARIANTS = [
    ("threads=3 descending", 1, {"COFUSE_THREADS": "3", "COFUSE_TEST_ORDER": "descending"}),
    ("threads=2 shuffled", 3, {"COFUSE_THREADS": "2", "COFUSE_TEST_ORDER": "shuffled"}),
    ("disabled", 2, {"COFUSE_DISABLE": "1"}),
]
EMU_VARIANTS = [
    ("emu, window=1 shuffled", 2, {"COFUSE_WINDOW": "1", "COFUSE_TEST_ORDER": "shuffled"}),
    ("emu, small groups on the CPU", 1, {"COFUSE_DEVICE_LEAST": "150"}),
]
# The code for NVIDIA's GPUs, by the driver of the tests (test/device/fake_cuda.c). Without libdevice: library functions are
# the C library's then.
PTX = {"COFUSE_DEVICE": "auto", "COFUSE_TEST_DRIVER": "1", "COFUSE_DEVICE_LEAST": "0", "COFUSE_LIBDEVICE": "/nowhere/libdevice.10.bc"}
PTX_VARIANTS = [("ptx, window=auto", 1, {}), ("ptx, window=auto", 2, {}), ("ptx, small groups on the CPU", 1, {"COFUSE_DEVICE_LEAST": "150"})]


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True, help="build folder with bin/cofuse-cc")
    p.add_argument("--clang", default="clang-19", help="plain compiler")
    p.add_argument("--mpiexec", default="", help="launcher; none: one rank only")
    p.add_argument("--ranks", default="1,2,3,4,7")
    p.add_argument("--windows", default="1,auto")
    p.add_argument("--warm", default="1,4", help="numbers of ranks that also run with a filled kernel cache")
    p.add_argument("--no-variants", action="store_true", help="skip threads, block orders and COFUSE_DISABLE")
    p.add_argument("--devices", default=os.environ.get("E2E_DEVICES", "cpu,emu,ptx"), help="where kernels run")
    p.add_argument("--emu-require", action="append", default=[], metavar="COUNTER>=N", help="the same for emu")
    p.add_argument("--ptx-require", action="append", default=[], metavar="COUNTER>=N", help="the same for ptx")
    p.add_argument("--emu-memory", help="bytes of the emulated device's memory, for one more run")
    p.add_argument("--emu-ranks", default="1,2,4", help="ranks on the emulated device, each with its own")
    p.add_argument("--cflags", default="-O2", help="flags of both compilations")
    p.add_argument("--rel", action="append", default=[], metavar="PREFIX=TOL",
                   help="numbers on lines with this prefix may differ by the relative tolerance")
    p.add_argument("--file", action="append", default=[], help="file the program writes, compared bit by bit")
    p.add_argument("--expect", help="text the plain run must print, so that a broken program is noticed")
    p.add_argument("--require", action="append", default=[], metavar="COUNTER>=N",
                   help="condition (>=, <=, ==) on a counter of COFUSE_STATS, for runs with window=auto")
    p.add_argument("--timeout", type=float, default=60, help="seconds for one run")
    p.add_argument("--memory-gib", type=float, default=0, help="skip with less free memory than this")
    p.add_argument("program", nargs="+", help="sources, then -- and the program's arguments")
    argv = sys.argv[1:]
    args = []
    if "--" in argv:
        args = argv[argv.index("--") + 1:]
        argv = argv[:argv.index("--")]
    options = p.parse_args(argv)
    options.args = args
    return options


def available_gib():
    with open("/proc/meminfo") as f:
        for line in f:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) / 2**20
    return 0


def end_session(session):
    """Kills every process of a session that this driver started. Launchers put ranks into process groups
    of their own, but they stay in the session."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = pathlib.Path("/proc", entry, "stat").read_text()
            if int(stat.rpartition(")")[2].split()[3]) == session:
                os.kill(int(entry), signal.SIGKILL)
        except (OSError, ValueError, IndexError):
            pass  # gone meanwhile


class Run:
    """One execution: status (None after a time-out), output and seconds."""

    def __init__(self, command, cwd, env, timeout):
        self.command, self.cwd, self.extra = command, cwd, env
        full = {k: v for k, v in os.environ.items() if not k.startswith("COFUSE_")}
        full.update(env)
        start = time.monotonic()
        child = subprocess.Popen(command, cwd=cwd, env=full, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        try:
            self.stdout, self.stderr = child.communicate(timeout=timeout)
            self.status = child.returncode
        except subprocess.TimeoutExpired:
            end_session(child.pid)
            self.stdout, self.stderr = child.communicate()
            self.status = None
        self.seconds = time.monotonic() - start

    def repeat(self):
        settings = " ".join(f"{k}={shlex.quote(v)}" for k, v in sorted(self.extra.items()))
        return f"cd {shlex.quote(str(self.cwd))} && {settings} {shlex.join(self.command)}"


# UBSan's reports end no program of their own, and a launcher may lose the exit status of a rank.
FINDING = re.compile(r"^.*(?:ERROR: AddressSanitizer|WARNING: ThreadSanitizer|: runtime error: ).*$", re.M)


def lines_of(text):
    return [line for line in text.splitlines() if not line.startswith("time ")]


NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)")


def close(a, b, tolerance):
    """Lines equal but for numbers that are within the tolerance."""
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    for x, y in zip(map(float, NUMBER.findall(a)), map(float, NUMBER.findall(b))):
        if not (x == y or (x != x and y != y) or abs(x - y) <= tolerance * max(abs(x), abs(y))):
            return False
    return True


class Test:
    def __init__(self, options):
        self.o = options
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="cofuse-e2e-"))
        self.rel = []
        for r in options.rel:
            prefix, _, tolerance = r.partition("=")
            self.rel.append((prefix, float(tolerance)))
        self.failures = []
        self.on_cpus = {}  # lines of output by number of ranks
        self.runs = 0

    def folder(self, name):
        path = self.tmp / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def compile(self, compiler, name):
        out = self.tmp / name
        sources = [os.path.abspath(s) for s in self.o.program]
        command = [compiler, *shlex.split(self.o.cflags), "-Wno-unknown-pragmas", *sources, "-o", str(out), "-lm"]
        # stderr to a file: an inherited pipe would be waited for if the compiler left a child behind
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        if done.returncode:
            print(f"{shlex.join(command)}\n{done.stdout}")
            sys.exit(f"{name}: compilation failed with status {done.returncode}")
        return out

    def compare(self, run, cwd):
        """Says how a run differs from the plain one, or None."""
        if run.status is None:
            return f"no end after {self.o.timeout:g} s"
        finding = FINDING.search(run.stderr)
        if finding:
            return finding.group()
        if run.status != self.plain.status:
            return f"exit status {run.status} instead of {self.plain.status}"
        want, got = lines_of(self.plain.stdout), lines_of(run.stdout)
        equal = len(want) == len(got)
        for a, b in zip(want, got):
            tolerance = next((t for prefix, t in self.rel if a.startswith(prefix)), None)
            equal = equal and (a == b if tolerance is None else close(a, b, tolerance))
        if not equal:
            diff = difflib.unified_diff(want, got, "plain", "cofuse", lineterm="", n=1)
            return "other output\n" + "\n".join(list(diff)[:20])
        for name in self.o.file:
            mine = cwd / name
            if not mine.exists():
                return f"file {name} was not written"
            if mine.read_bytes() != (self.tmp / "plain-run" / name).read_bytes():
                return f"file {name} differs"
        return None

    def unlike(self, label, ranks, run):
        """A device gives the bits of the CPU, sums of floating-point numbers included: says how it does not, or None."""
        lines = lines_of(run.stdout)
        if label == "window=auto cold":
            self.on_cpus[ranks] = lines
        elif label in ("emu, window=auto", "ptx, window=auto") and ranks in self.on_cpus and lines != self.on_cpus[ranks]:
            return "other bits than on the CPU\n" + "\n".join(
                list(difflib.unified_diff(self.on_cpus[ranks], lines, "cpu", label[:3], lineterm="", n=0))[:20])
        return None

    def unmet(self, stats, conditions):
        """Says which condition does not hold, or None."""
        if not conditions:
            return None
        try:
            counters = json.loads(stats.read_text())
        except (OSError, ValueError) as e:
            return f"no readable COFUSE_STATS file: {e}"
        for condition in conditions:
            name, relation, value = re.fullmatch(r"(\w+)(>=|<=|==)(\d+)", condition).groups()
            compare = {">=": operator.ge, "<=": operator.le, "==": operator.eq}[relation]
            if name not in counters or not compare(counters[name], int(value)):
                return f"required {condition}, but {name} is {counters.get(name, 'missing')}"
        return None

    def run(self, label, ranks, env, cache):
        cwd = self.folder(f"run-{self.runs}")
        self.runs += 1
        command = [str(self.program), *self.o.args]
        settings = {"COFUSE_CACHE_DIR": str(self.folder(cache)), "COFUSE_DEVICE": "cpu", "COFUSE_TIMEOUT": str(int(self.o.timeout / 2)), **env}
        if ranks > 1:
            command = [self.o.mpiexec, *self.launcher_flags, "-n", str(ranks), *command]
        settings.update(self.launcher_env)
        conditions = {"emu": self.o.emu_require, "ptx": self.o.ptx_require}.get(label[:3], self.o.require)
        if "little" in label:
            conditions = ["stores_evicted>=1"]
        stats = cwd / "stats.json" if "window=auto" in label or "little" in label else None
        if stats:
            settings["COFUSE_STATS"] = str(stats)
        r = Run(command, cwd, settings, self.o.timeout)
        wrong = self.compare(r, cwd) or self.unlike(label, ranks, r) or (self.unmet(stats, conditions) if stats else None)
        if wrong:
            self.failures.append((f"{ranks} ranks, {label}", wrong, r))
        return f"{'ok' if not wrong else 'FAIL'} {r.seconds:.2f}"

    def matrix(self):
        """Runs everything and prints one row per number of ranks."""
        if "cpu" in self.o.devices:
            self.on_cpu()
        if "emu" in self.o.devices:
            self.on_emu()
        driver = pathlib.Path(self.o.build).resolve() / "test/device/fake"
        if "ptx" in self.o.devices and "-fsanitize" not in self.o.cflags and (driver / "libcuda.so.1").exists():
            self.on_ptx(driver)

    def on_ptx(self, driver):
        kept = driver / "kept"
        kept.mkdir(exist_ok=True)
        env = {**PTX, "LD_LIBRARY_PATH": str(driver), "FAKE_CUDA_CACHE": str(kept), "CC": self.o.clang, "FAKE_CUDA_MEGABYTES": "4096",
               "FAKE_CUDA_PTX": str(pathlib.Path(__file__).resolve().parents[1] / "gpu/ptx_to_c.py")}
        print("ptx: " + ", ".join(f"{n} ranks{label[label.index(','):]} {self.run(label, n, {**env, **more}, 'cache-ptx')}"
                                  for label, n, more in PTX_VARIANTS if n == 1 or self.o.mpiexec))

    def on_emu(self):
        """Other ranks find the kernels of the first run in the cache."""
        row = []
        for n in map(int, self.o.emu_ranks.split(",") if self.o.emu_ranks else []):
            if n == 1 or self.o.mpiexec:
                # with four, messages go from device to device
                env = {"COFUSE_DEVICE": "emu"}
                if n > 3:
                    env.update(COFUSE_TEST_DIRECT="1", COFUSE_TEST_ORDER="shuffled")
                row.append(f"{n} ranks {self.run('emu, window=auto', n, env, 'cache-emu')}")
        more = EMU_VARIANTS if row and not self.o.no_variants else []
        if self.o.emu_memory:  # with two ranks half of it
            half = {"COFUSE_TEST_DEVICE_MEMORY": str(int(self.o.emu_memory) // 2), "COFUSE_TEST_DIRECT": "1"}
            more = more + [("emu, little memory", 1, {"COFUSE_TEST_DEVICE_MEMORY": self.o.emu_memory}),
                           ("emu, little memory", 2, half)]
        for label, n, env in more:
            if n == 1 or self.o.mpiexec:
                row.append(f"{label[5:]} {self.run(label, n, {'COFUSE_DEVICE': 'emu', **env}, 'cache-emu')}")
        print("emu: " + ", ".join(row))

    def on_cpu(self):
        ranks = [int(r) for r in self.o.ranks.split(",")]
        warm = [int(r) for r in self.o.warm.split(",") if r]
        if not self.o.mpiexec:
            ranks = [1]
        columns = [(w, c) for w in self.o.windows.split(",") for c in ("cold", "warm")]
        rows = [["ranks"] + [f"window={w} {c}" for w, c in columns]]
        for n in ranks:
            row = [str(n)]
            for w, c in columns:
                env = {} if w == "auto" else {"COFUSE_WINDOW": w}
                if c == "warm" and n not in warm:
                    row.append("-")
                else:
                    row.append(self.run(f"window={w} {c}", n, env, f"cache-{n}-{w}"))
            rows.append(row)
        widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
        for r in rows:
            print("  ".join(cell.ljust(w) for cell, w in zip(r, widths)).rstrip())
        if self.o.no_variants:
            return
        for label, n, env in VARIANTS:
            if n == 1 or self.o.mpiexec:
                print(f"{n} ranks, {label}: {self.run(label, n, env, f'cache-{n}-variants')}")

    def main(self):
        self.launcher_flags, self.launcher_env = [], {}
        if self.o.mpiexec:
            version = subprocess.run([self.o.mpiexec, "--version"], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True).stdout
            if "Open MPI" in version or "OpenRTE" in version:
                self.launcher_flags = ["--oversubscribe", "--bind-to", "none"]
                self.launcher_env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        plain = self.compile(self.o.clang, "plain")
        self.program = self.compile(os.path.join(os.path.abspath(self.o.build), "bin", "cofuse-cc"), "program")
        cwd = self.folder("plain-run")
        self.plain = Run([str(plain), *self.o.args], cwd, {}, self.o.timeout)
        if self.plain.status is None or self.plain.status < 0:
            print(self.plain.stderr)
            sys.exit("the plain program does not end properly")
        if FINDING.search(self.plain.stderr):
            print(self.plain.stderr)
            sys.exit("the sanitizers find fault with the plain program")
        if self.o.expect is not None and self.plain.stdout.strip() != self.o.expect:
            sys.exit(f"the plain program prints {self.plain.stdout!r} instead of {self.o.expect!r}")
        self.matrix()
        for label, wrong, r in self.failures:
            print(f"\n--- {label}: {wrong}")
            print(f"    {r.repeat()}")
            for line in r.stderr.strip().splitlines()[-15:]:
                print(f"    | {line}")
        return 1 if self.failures else 0


def main():
    options = parse_arguments()
    if options.memory_gib > available_gib():
        print(f"skipped: less than {options.memory_gib:g} GiB of memory free")
        return SKIP
    test = Test(options)
    status = 1
    try:
        status = test.main()
    finally:
        if status and os.environ.get("COFUSE_KEEP"):
            print(f"kept: {test.tmp}")
        else:
            shutil.rmtree(test.tmp, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
