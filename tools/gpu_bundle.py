#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gpu_bundle.py --build DIR [--out DIR]: a folder for a machine with a GPU and without LLVM, MLIR and MPI: the
examples, the library, kernels for sm_80 and sm_90, and what the examples must print. test/gpu/run.sh takes it from
there. Called by ./dev gpu-bundle."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DENSE = sorted(map(str, (ROOT / "lib/dense").glob("*.c")))
SPARSE = sorted(map(str, (ROOT / "lib/sparse").glob("*.c")))
TARGETS = ["sm_80", "sm_90"]
LIMIT = 60 << 20  # bytes

# name, sources, arguments of the check, arguments of the measurement (@: a number of iterations, @@: twice as many),
# that number, relative tolerance of what is printed: library functions of the device, and what follows from sums.
CASES = [
    ("stencil", ["examples/stencil.c", "examples/array_ops.c"], "61 47 12", "16384 16384 @", 10, 0),
    ("triad", ["bench/micro.c"], "triad 5000 5", "triad 89478485 @", 10, 1e-9),
    ("heat", ["examples/heat.c"], "30 37 200", "16384 16384 @", 10, 0),
    ("black_scholes", ["examples/black_scholes.c"], "1001 3", "33554432 @", 2, 1e-9),
    ("jacobi", ["examples/jacobi.c", *DENSE], "90 60", "16384 @ 0", 10, 1e-9),
    ("cg", ["examples/cg.c", *DENSE, *SPARSE], "30 100", "3000 @ 0", 10, 1e-6),
    ("bicgstab", ["examples/bicgstab.c", *DENSE, *SPARSE], "30 100", "3000 @ 0", 5, 1e-6),
    ("multigrid", ["examples/multigrid.c", *DENSE, *SPARSE], "4 25", "11 @ 0", 2, 1e-6),
    ("cfd", ["examples/cfd.c", *DENSE], "33 4", "4096 @ 6 0", 1, 0),
    ("shallow_water", ["examples/shallow_water.c", *DENSE], "40 30 6", "4096 4096 @ 0", 1, 0),
]


def call(command, env=None, cwd=None):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("COFUSE_")}
    done = subprocess.run([str(c) for c in command], env={**clean, **(env or {})}, cwd=cwd, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", type=pathlib.Path, required=True)
    p.add_argument("--out", type=pathlib.Path)
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--only", action="append", help="these cases alone")
    o = p.parse_args()
    build = o.build.resolve()
    out = (o.out or build / "gpu-bundle").resolve()
    shutil.rmtree(out, ignore_errors=True)
    for folder in ("bin", "lib", "cache", "want"):
        (out / folder).mkdir(parents=True)
    shutil.copy(build / "lib/libcofuse.so.0", out / "lib/libcofuse.so.0")
    libdevice = {"COFUSE_LIBDEVICE": os.environ["COFUSE_LIBDEVICE"]} if "COFUSE_LIBDEVICE" in os.environ else {}
    table, left_out = [], []
    for name, sources, check, measure, turns, tolerance in CASES:
        if o.only and name not in o.only:
            continue
        files = [ROOT / s for s in sources]
        program, plain = out / "bin" / name, out / "plain"
        call([build / "bin/cofuse-cc", "-O2", *files, "-o", program, "-lm"])
        call([o.clang, "-O2", "-Wno-unknown-pragmas", *files, "-o", plain, "-lm"])
        (out / "want" / name).write_text("".join(l for l in call([plain, *check.split()]).splitlines(True)
                                                 if not l.startswith("time ")))
        for target in TARGETS:  # the measurement takes the same way through the program as this, with other sizes
            small = {"stencil": "50 40", "heat": "50 40", "triad": "triad 5000", "black_scholes": "500", "jacobi": "90",
                     "cg": "30", "bicgstab": "30", "multigrid": "4", "cfd": "33", "shallow_water": "40 30"}[name]
            rest = measure[measure.index("@"):]
            for args in [check, *(f"{small} {rest}".replace("@", str(k * turns)) for k in (1, 2))]:
                env = {"COFUSE_TARGET": target, "COFUSE_DEVICE": "cpu", "COFUSE_CACHE_DIR": str(out / "cache"), **libdevice}
                clean = {k: v for k, v in os.environ.items() if not k.startswith("COFUSE_")}
                done = subprocess.run([program, *args.split()], env={**clean, **env}, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                if done.returncode and "libdevice" in done.stderr:
                    left_out.append(name)
                    break
                if done.returncode:
                    sys.exit(f"{name} {args}: {done.stderr[-2000:]}")
        if name in left_out:
            program.unlink()
            print(f"gpu-bundle: {name} is left out: its kernels need libdevice.10.bc (docs/gpu.md)")
        else:
            table.append(f"{name}|{check}|{measure}|{turns}|{tolerance}")
        plain.unlink()
    for f in (out / "cache").iterdir():
        if f.suffix != ".image":
            f.unlink()
    (out / "cases").write_text("\n".join(table) + "\n")
    for tool in ("compare", "probe"):
        call([o.clang, "-O2", "-std=gnu17", f"-I{ROOT}/runtime", f"-I{ROOT}/include", ROOT / f"test/gpu/{tool}.c", "-o", out / "bin" / tool,
              f"-L{build}/lib", "-lcofuse", "-lm", "-Wl,-rpath,$ORIGIN/../lib"])
    shutil.copy(ROOT / "test/gpu/run.sh", out / "run.sh")
    size = sum(f.stat().st_size for f in out.rglob("*") if f.is_file())
    images = len(list((out / "cache").iterdir()))
    print(f"{out}: {len(table)} programs, {images} kernels, {size / 2**20:.1f} MiB")
    if size > LIMIT:
        sys.exit(f"gpu-bundle: more than {LIMIT >> 20} MiB")


if __name__ == "__main__":
    main()
