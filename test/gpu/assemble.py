#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""assemble.py --build DIR [PROGRAM...]: every kernel of the examples, the applications and the end-to-end tests is
compiled for a GPU and assembled by ptxas for sm_80 and sm_90. Registers and spills are shown; the examples may not
spill. Skipped without ptxas (PTXAS, CUDA_HOME/bin or the search path) or libdevice."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIP = 77
DENSE = sorted(map(str, (ROOT / "lib/dense").glob("*.c")))
SPARSE = sorted(map(str, (ROOT / "lib/sparse").glob("*.c")))
E = ROOT / "examples"
EXAMPLES = {
    "stencil": ([E / "stencil.c", E / "array_ops.c"], "61 47 3"), "heat": ([E / "heat.c"], "30 37 200 out.npy"),
    "black_scholes": ([E / "black_scholes.c"], "1001 2"), "jacobi": ([E / "jacobi.c", *DENSE], "90 60"),
    "cg": ([E / "cg.c", *DENSE, *SPARSE], "30 100"), "bicgstab": ([E / "bicgstab.c", *DENSE, *SPARSE], "30 100"),
    "multigrid": ([E / "multigrid.c", *DENSE, *SPARSE], "4 25"), "cfd": ([E / "cfd.c", *DENSE], "33 2"),
    "shallow_water": ([E / "shallow_water.c", *DENSE], "40 30 2"),
}


def find_tools():
    ptxas = os.environ.get("PTXAS") or shutil.which("ptxas")
    home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    if not ptxas and pathlib.Path(home, "bin/ptxas").exists():
        ptxas = str(pathlib.Path(home, "bin/ptxas"))
    lib = os.environ.get("COFUSE_LIBDEVICE")
    for folder in [pathlib.Path(ptxas).resolve().parents[1] if ptxas else None, pathlib.Path(home)]:
        at = folder and folder / "nvvm/libdevice/libdevice.10.bc"
        if not lib and at and at.exists():
            lib = str(at)
    return ptxas, lib


class Check:
    def __init__(self, o, tmp, ptxas, libdevice):
        self.o, self.tmp, self.ptxas, self.libdevice = o, tmp, ptxas, libdevice

    def kernels(self, name, sources, args):
        """Folder with the program's kernels as PTX."""
        program, dump = self.tmp / name, self.tmp / f"{name}.ptx"
        subprocess.run([self.o.build / "bin/cofuse-cc", "-O2", "-w", f"-I{ROOT}/include", *sources, "-o", program, "-lm"], check=True)
        clean = {k: v for k, v in os.environ.items() if not k.startswith("COFUSE_")}
        cwd = self.tmp / f"{name}.run"
        cwd.mkdir()
        done = subprocess.run([program, *args.split()], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, timeout=600,
                              env={**clean, "COFUSE_TARGET": "sm_80", "COFUSE_DUMP": str(dump), "COFUSE_CACHE_DIR": "off",
                                   "COFUSE_LIBDEVICE": self.libdevice})
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
        return dump

    def assemble(self, file, arch):
        done = subprocess.run([self.ptxas, "-v", f"-arch={arch}", file, "-o", file.with_suffix(f".{arch}")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise RuntimeError(f"{file.name} for {arch}: {done.stdout[-2000:]}")
        registers = max(map(int, re.findall(r"Used (\d+) registers", done.stdout)), default=0)
        spills = sum(map(int, re.findall(r"(\d+) bytes spill stores", done.stdout)))
        stack = max(map(int, re.findall(r"(\d+) bytes stack frame", done.stdout)), default=0)
        return registers, spills, stack

    def program(self, name, sources, args, may_spill):
        wrong = []
        files = sorted(self.kernels(name, sources, args).glob("*.ptx"))
        row = f"{name:28} {len(files):4}"
        for arch in ("sm_80", "sm_90"):
            found = [self.assemble(f, arch) for f in files]
            registers, spills, stack = (max((f[k] for f in found), default=0) for k in range(3))
            row += f"  {registers:9} {spills:6} {stack:6}"
            if spills and not may_spill:
                wrong.append(f"{name}: spills {spills} bytes for {arch}")
        return row, wrong

    def main(self):
        programs = {n: (*p, False) for n, p in EXAMPLES.items()}
        for p in sorted([*(ROOT / "test/e2e/programs").glob("*.c"), *(ROOT / "test/cases").glob("*.c")]):
            if p.stem not in ("units", "units_field", "25_big_trip_count", "pages"):
                programs[p.stem] = ([p], "", True)
        chosen = {n: p for n, p in programs.items() if not self.o.program or n in self.o.program}
        print(f"{'':28} {'':4}  sm_80: most of one kernel  sm_90\n{'program':28} {'PTX':>4}" + 2 * f"  {'registers':>9} {'spills':>6} {'stack':>6}")
        wrong = []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for row, bad in pool.map(lambda n: self.program(n, *chosen[n]), chosen):
                print(row, flush=True)
                wrong += bad
        print("\n".join(wrong))
        return 1 if wrong else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, required=True)
    p.add_argument("program", nargs="*")
    o = p.parse_args()
    o.build = o.build.resolve()
    ptxas, libdevice = find_tools()
    if not ptxas or not libdevice:
        print("skipped: no ptxas, or no libdevice.10.bc: set PTXAS and COFUSE_LIBDEVICE, or CUDA_HOME")
        return SKIP
    with tempfile.TemporaryDirectory() as tmp:
        return Check(o, pathlib.Path(tmp), ptxas, libdevice).main()


if __name__ == "__main__":
    sys.exit(main())
