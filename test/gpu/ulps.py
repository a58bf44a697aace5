#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ulps.py --build DIR --fake DIR: functions of <math.h> as kernels for a GPU, run by the driver of the tests
(test/device/fake_cuda.c), are within the bounds that docs/gpu.md gives, in double precision. The reference is the C library
in extended precision. Skipped without libdevice (COFUSE_LIBDEVICE, CUDA_HOME, or beside PTXAS)."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import assemble

ROOT = pathlib.Path(__file__).resolve().parents[2]
POINTS = 3000
# Least and largest argument; what starts with "e" is an exponent of ten.
RANGES = {
    "exp": (-700, 700), "exp2": (-1000, 1000), "exp10": (-300, 300), "expm1": (-30, 30), "log": ("e-300", "e300"),
    "log2": ("e-300", "e300"), "log10": ("e-300", "e300"), "log1p": (-0.99, 1000), "cbrt": ("e-300", "e300"), "hypot": ("e-100", "e100"),
    "pow": (0.01, 40), "sin": (-1e5, 1e5), "cos": (-1e5, 1e5), "tan": (-1e3, 1e3), "asin": (-1, 1), "acos": (-1, 1),
    "atan": (-50, 50), "atan2": (-9, 9), "erf": (-4, 4), "erfc": (-3, 20), "tgamma": (0.1, 100), "sinh": (-300, 300),
    "cosh": (-300, 300), "tanh": (-20, 20), "asinh": (-1e4, 1e4), "acosh": (1, 1e4), "atanh": (-0.999, 0.999), "fmod": (-1e6, 1e6),
    "remainder": (-1e6, 1e6), "fdim": (-9, 9),
}
TWO = {"hypot", "pow", "atan2", "fmod", "remainder", "fdim"}


def bounds():
    """From the table of docs/gpu.md."""
    table, found = (ROOT / "docs/gpu.md").read_text(), {}
    for names, ulp in re.findall(r"\| ([a-z][a-z0-9, ]*) \| (\d+) (?=\|)", table):
        found.update({n.strip(): int(ulp) for n in names.split(",")})
    return found


def program(names):
    lines = ["#define _GNU_SOURCE", "#include <math.h>", "#include <stdio.h>", "#include <stdlib.h>",
             f"enum {{ N = {POINTS} }};", "static double x[N], y[N], r[N];", "#pragma cofuse store(x, y, r)",
             "static void show(const char *name, long double (*f)(long double), long double (*g)(long double, long double)) {",
             "  double worst = 0, at = 0;", "  for (int i = 0; i < N; i++) {",
             "    long double want = f ? f(x[i]) : g(x[i], y[i]);",
             "    double near = fabs((double)want), ulp = nextafter(near, INFINITY) - near;",
             "    double off = (double)(fabsl(want - (long double)r[i]) / ulp);",
             "    if (!(off <= worst)) worst = off, at = x[i];", "  }", '  printf("%s %.3f %a\\n", name, worst, at);', "}",
             "static double part(int i, int n) { return (double)i / (n - 1); }", "int main(void) {",
             "#pragma cofuse store(x, y, r)"]
    for n in names:
        lo, hi = RANGES[n]
        if isinstance(lo, str):
            value = f"pow(10, {lo[1:]} + part(i, N) * ({hi[1:]} - {lo[1:]}))"
        else:
            value = f"{lo} + part(i * 1237 % N, N) * ({hi} - ({lo}))"
        lines += [f"  for (int i = 0; i < N; i++) x[i] = {value}, y[i] = 0.37 + 7 * part(i * 613 % N, N);", "#pragma cofuse forall",
                  f"  for (int i = 0; i < N; i++) r[i] = {n}(x[i]{', y[i]' if n in TWO else ''});",
                  "#pragma cofuse update(r)",
                  f'  show("{n}", {f"NULL, {n}l" if n in TWO else f"{n}l, NULL"});']
    return "\n".join(lines + ["}"]).replace("#pragma cofuse store(x, y, r)\nstatic", "static")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, required=True)
    p.add_argument("--fake", required=True)
    p.add_argument("--clang", default="clang-19")
    o = p.parse_args()
    libdevice = assemble.find_tools()[1]
    if not libdevice:
        print("skipped: no libdevice.10.bc: set COFUSE_LIBDEVICE or CUDA_HOME")
        return assemble.SKIP
    allowed, wrong = bounds(), []
    names = [n for n in RANGES if n in allowed]
    if len(names) < len(RANGES):
        wrong.append(f"docs/gpu.md has no bound for {sorted(set(RANGES) - set(allowed))}")
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        (tmp / "ulps.c").write_text(program(names))
        subprocess.run([o.build / "bin/cofuse-cc", "-O1", "-w", tmp / "ulps.c", "-o", tmp / "ulps", "-lm"], check=True)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("COFUSE_", "FAKE_"))}
        env = {**clean, "COFUSE_DEVICE": "cuda", "COFUSE_TEST_DRIVER": "1", "COFUSE_LIBDEVICE": libdevice, "COFUSE_CACHE_DIR": str(tmp / "cache"),
               "COFUSE_STATS": str(tmp / "stats"), "LD_LIBRARY_PATH": o.fake, "FAKE_CUDA_CACHE": str(tmp), "CC": o.clang,
               "FAKE_CUDA_PTX": str(ROOT / "test/gpu/ptx_to_c.py")}
        done = subprocess.run([tmp / "ulps"], env=env, stdout=subprocess.PIPE, text=True, timeout=600)
        if done.returncode:
            return 1
        groups = int(re.search(r'"device_groups": *(\d+)', (tmp / "stats").read_text())[1])
    for line in done.stdout.splitlines():
        name, ulps, at = line.split()
        print(f"{name:10} {float(ulps):8.3f} of {allowed[name]:2}   at {float.fromhex(at):g}")
        if not float(ulps) <= allowed[name] + 0.5:  # the bound is one of the rounded result
            wrong.append(f"{name}: {ulps} ulp at {at}")
    if groups < len(names) or len(done.stdout.splitlines()) != len(names):
        wrong.append(f"{groups} groups on the device for {len(names)} functions")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
