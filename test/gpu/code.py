#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""code.py --build DIR --fake DIR: what is compiled for a GPU, what happens without a toolkit, a compiler or a driver, and
when a GPU is chosen. DIR of --fake holds the driver of the tests (test/device/fake_cuda.c)."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

STRICT = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  enum { N = 100 };
  double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), s = 0;
  float *f = malloc(N * sizeof *f);
#pragma cofuse store(a[0 : N], b[0 : N], f[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    b[i] = a[i] * a[i] + 2.0 / (a[i] + 3.0) + sqrt(a[i]);
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    f[i] = sqrtf((float)i) / ((float)i + 3.0f) + fmaf((float)i, 2.0f, 1.0f);
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < N; i++)
    s += b[i] * f[i];
  printf("%.17g\n", s);
  free(a), free(b), free(f);
}
"""
LIBRARY = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  enum { N = 100 };
  double *a = malloc(N * sizeof *a);
#pragma cofuse store(a[0 : N])
#pragma cofuse forall
  for (int i = 0; i < N; i++)
    a[i] = erf(i * 0.01);
  printf("%.17g\n", a[7]);
  free(a);
}
"""


class Failure(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Failure(what)


class Test:
    def __init__(self, o, tmp):
        self.o, self.tmp = o, tmp

    def compile(self, name, text):
        source, out = self.tmp / f"{name}.c", self.tmp / name
        source.write_text(text)
        subprocess.run([self.o.build / "bin" / "cofuse-cc", "-O2", "-ffp-contract=off", source, "-o", out, "-lm"], check=True)
        return out

    def gpu(self, tool=ROOT / "test/gpu/ptx_to_c.py", **env):
        """Environment in which there is a GPU that takes PTX."""
        return {"LD_LIBRARY_PATH": self.o.fake, "COFUSE_TEST_DRIVER": 1, "FAKE_CUDA_PTX": tool, "FAKE_CUDA_CACHE": self.folder("ptx-" + tool.name),
                "COFUSE_LIBDEVICE": "/nowhere/libdevice.10.bc", "COFUSE_CACHE_DIR": self.folder("kernels"), **env}

    def folder(self, name):
        (self.tmp / name).mkdir(exist_ok=True)
        return self.tmp / name

    def run(self, program, *launcher, **env):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("COFUSE_", "CUDA_", "FAKE_"))}
        done = subprocess.run([*launcher, program], env={**clean, **{k: str(v) for k, v in env.items()}}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120)
        return done

    def strict(self):
        """Each operation with one rounding of its own, subnormal numbers kept; memory by its address space."""
        program, dump = self.compile("strict", STRICT), self.tmp / "dump"
        plain = self.run(program, COFUSE_DISABLE=1)
        done = self.run(program, COFUSE_TARGET="sm_80", COFUSE_DUMP=dump, COFUSE_CACHE_DIR="off")
        need(done.returncode == 0, done.stderr)
        need(abs(float(done.stdout) / float(plain.stdout) - 1) < 1e-12, "the program is wrong")
        text = "".join(p.read_text() for p in dump.glob("*.ptx"))
        need(".target sm_80" in text and ".version 7.8" in text, "not for sm_80")
        for word in ("div.rn.f64", "sqrt.rn.f64", "div.rn.f32", "sqrt.rn.f32", "fma.rn.f32", "ld.global", "st.global"):
            need(word in text, f"no {word}")
        for word in (r"fma\.rn\.f64", r"\.ftz", r"\.approx", r"\bld\.f64", r"\bst\.f64"):
            need(not re.search(word, text), f"there is a {word}")

    def toolkit(self):
        """Without libdevice a kernel that needs it names the function and the cure; with the path of a file that is
        none it says so."""
        program = self.compile("library", LIBRARY)
        done = self.run(program, COFUSE_TARGET="sm_90", COFUSE_CACHE_DIR=self.tmp / "c", COFUSE_LIBDEVICE="/nowhere/libdevice.10.bc")
        need(done.returncode == 1, "no error")
        for word in ("main:9", "__nv_erf", "COFUSE_LIBDEVICE", "CUDA_HOME"):
            need(word in done.stderr, f"no {word} in: {done.stderr}")
        (self.tmp / "bad.bc").write_text("no bitcode")
        done = self.run(program, COFUSE_TARGET="sm_90", COFUSE_CACHE_DIR=self.tmp / "c", COFUSE_LIBDEVICE=self.tmp / "bad.bc")
        need(done.returncode == 1 and "bad.bc" in done.stderr, done.stderr)
        done = self.run(program, COFUSE_TARGET="sm_90", COFUSE_CACHE_DIR="off")
        need(done.returncode == 1 and "COFUSE_CACHE_DIR" in done.stderr, done.stderr)

    def cache(self):
        """What was compiled for a GPU here is found by a machine without a compiler: it comes as far as the driver."""
        program, cache, lib = self.compile("strict", STRICT), self.tmp / "filled", self.tmp / "lib"
        done = self.run(program, COFUSE_TARGET="sm_100", COFUSE_CACHE_DIR=cache)
        need(done.returncode == 0 and list(cache.glob("*.image")), done.stderr)
        lib.mkdir()
        for f in (self.o.build / "lib").glob("libcofuse.so*"):
            shutil.copy(f, lib)
        path = {"LD_LIBRARY_PATH": f"{lib}:{self.o.fake}", "COFUSE_TEST_DRIVER": 1}
        done = self.run(program, COFUSE_DEVICE="cuda", COFUSE_CACHE_DIR=cache, **path)
        need(done.returncode == 1 and "loading a kernel" in done.stderr and "no fake kernel" in done.stderr, done.stderr)
        done = self.run(program, COFUSE_DEVICE="cuda", COFUSE_CACHE_DIR=self.tmp / "empty", **path)
        need(done.returncode == 1 and "libcofuse-jit.so" in done.stderr, done.stderr)
        plain = self.run(program, COFUSE_DISABLE=1)
        done = self.run(program, **self.gpu(COFUSE_DEVICE="cuda", COFUSE_CACHE_DIR=cache, **path))
        need(done.returncode == 0 and not done.stderr, done.stderr)
        need(abs(float(done.stdout) / float(plain.stdout) - 1) < 1e-12, f"{done.stdout} for {plain.stdout}")
        # Nor is there a kernel for this CPU: small groups, too, run on the GPU. Without one that is an error.
        images = self.folder("images")
        for f in cache.glob("*.image"):
            shutil.copy(f, images)
        done = self.run(program, **self.gpu(COFUSE_CACHE_DIR=images, **path))
        need(done.returncode == 0 and not done.stderr, done.stderr)
        need(abs(float(done.stdout) / float(plain.stdout) - 1) < 1e-12, f"{done.stdout} for {plain.stdout}")
        done = self.run(program, **self.gpu(COFUSE_CACHE_DIR=images, FAKE_CUDA_NONE=1, **path))
        need(done.returncode == 1 and "libcofuse-jit.so" in done.stderr, done.stderr)
        # Another CPU may have compiled it, and the images of another target do not serve.
        done = self.run(program, COFUSE_DEVICE="cuda", COFUSE_CACHE_DIR=cache, FAKE_CUDA_MAJOR=8, **path)
        need(done.returncode == 1 and "libcofuse-jit.so" in done.stderr, done.stderr)

    def driver(self):
        """No driver, no device: said with what to do."""
        program = self.compile("strict", STRICT)
        done = self.run(program, COFUSE_DEVICE="cuda", COFUSE_TEST_DRIVER=1, LD_LIBRARY_PATH=self.o.fake, FAKE_CUDA_NONE=1)
        need(done.returncode == 1 and "CUDA_VISIBLE_DEVICES" in done.stderr, done.stderr)
        done = self.run(program, COFUSE_DEVICE="gpu")
        need(done.returncode == 1 and "auto,cpu,cuda,emu" in done.stderr, done.stderr)
        if not pathlib.Path("/dev/nvidiactl").exists():
            done = self.run(program, COFUSE_DEVICE="cuda")
            need(done.returncode == 1 and "COFUSE_DEVICE=cpu" in done.stderr, done.stderr)

    def chosen(self):
        """COFUSE_DEVICE=auto: a GPU is used if there is a sound one and enough to do, and nothing fails without it."""
        program = self.compile("strict", STRICT)
        want = self.run(program, COFUSE_DEVICE="cpu").stdout

        def runs(says, *launcher, **env):
            done = self.run(program, *launcher, COFUSE_LOG="info", **env)
            need(done.returncode == 0 and done.stdout == want, f"{done.stdout} for {want}: {done.stderr}")
            need(re.search(says, done.stderr), f"no {says} in: {done.stderr}")
            return done.stderr

        here = {"COFUSE_DEVICE_LEAST": 100}
        used = r"kernels run on fake 0"
        runs(used, **self.gpu(**here))
        # Drivers start programs of their own; what is pending or running is not run by that.
        runs(used, **self.gpu(FAKE_CUDA_FORKS=1, **here))
        runs("", **self.gpu(FAKE_CUDA_FORKS=1, COFUSE_DEVICE="cuda"))
        # Stores of 100 and 200 elements: what does not fit is left to the CPU.
        runs(used, **self.gpu(FAKE_CUDA_BYTES=150000, **here))
        need("kernels run" not in runs("", **self.gpu()), "a GPU for loops of 100 iterations")
        need("kernels run" not in runs("", **self.gpu(COFUSE_DEVICE="cpu", **here)), "a GPU with COFUSE_DEVICE=cpu")
        need("kernels run" not in runs("", **self.gpu(COFUSE_CHECK=1, **here)), "a GPU with COFUSE_CHECK")
        runs(r"info: no GPU: .*no device", **self.gpu(FAKE_CUDA_NONE=1, **here))
        runs(r"info: no GPU: .*11\.8", **self.gpu(FAKE_CUDA_VERSION=11000, **here))
        runs(r"info: no GPU: .*capability 7", **self.gpu(FAKE_CUDA_MAJOR=7, **here))
        if not pathlib.Path("/dev/nvidiactl").exists():
            runs(r"info: no GPU: .*libcuda", **here)
            runs(r"info: no GPU: .*/dev/nvidiactl", **self.gpu(COFUSE_TEST_DRIVER=0, **here))
        runs(r"warning: kernels run on the CPU: .*loading a kernel", **self.gpu(tool=pathlib.Path("/bin/false"), **here))
        for name, wrong, says in (("root", "s/, sqrt(y)//; s/= of_f64(sqrt(/= 1 + of_f64(sqrt(/", r"sqrt\(y\)"),
                                  ("once", "s/of_f64(fma(/of_f64(once(/; 1i static inline double once(double a, double b, double c) { return a * b + c; }",
                                   "fma"),
                                  ("flush", "s/static inline uint64_t of_f64(double x) {/& if (x < 0x1p-1022 \\&\\& x > -0x1p-1022) x = 0;/", "is -?0x0p")):
            tool = self.tmp / name
            tool.write_text(f"#!/bin/sh\n'{ROOT}/test/gpu/ptx_to_c.py' $1 ${{2%.so}}.c && sed -i '{wrong}' ${{2%.so}}.c &&\n"
                            f"{self.o.clang} -w -shared -fPIC -ffp-contract=off ${{2%.so}}.c -o $2 -lm\n")
            tool.chmod(0o755)
            runs(rf"warning: kernels run on the CPU: device cuda \(fake 0.*fails its test: .*{says}", **self.gpu(tool=tool, **here))
        if self.o.mpiexec:
            ranks = [self.o.mpiexec, "--oversubscribe", "-n", "2"]
            runs(used, *ranks, **self.gpu(**here))
            one = self.tmp / "one"
            one.write_text('#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 0 ] || export FAKE_CUDA_NONE=1\nexec "$@"\n')
            one.chmod(0o755)
            runs("warning: kernels run on the CPU: some ranks have no GPU", *ranks, one, **self.gpu(**here))
        library = self.compile("library", LIBRARY)
        want = self.run(library, COFUSE_DEVICE="cpu").stdout
        done = self.run(library, **self.gpu(**here))
        need(done.returncode == 0 and done.stdout == want, done.stderr)
        need(re.search(r"warning: .*:9: runs on the CPU, not on the device: .*__nv_erf.*COFUSE_LIBDEVICE", done.stderr), done.stderr)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", type=pathlib.Path, required=True)
    p.add_argument("--fake", type=pathlib.Path, required=True)
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--mpiexec", default="")
    o = p.parse_args()
    os.environ.update(CC=o.clang, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    o.build, bad = o.build.resolve(), 0
    with tempfile.TemporaryDirectory() as tmp:
        test = Test(o, pathlib.Path(tmp))
        for part in (test.strict, test.toolkit, test.cache, test.driver, test.chosen):
            try:
                part()
                print(f"{part.__name__}: ok")
            except Failure as e:
                print(f"{part.__name__}: {e}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
