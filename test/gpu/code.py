#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""code.py --build DIR --fake DIR: what is compiled for a GPU, and what happens without a toolkit, a compiler or a
driver. DIR of --fake holds a driver that takes no code (test/device/fake_cuda.c)."""

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

    def run(self, program, **env):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("COFUSE_", "CUDA_"))}
        done = subprocess.run([program], env={**clean, **{k: str(v) for k, v in env.items()}}, stdout=subprocess.PIPE,
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
        path = {"LD_LIBRARY_PATH": f"{lib}:{self.o.fake}"}
        done = self.run(program, COFUSE_DEVICE="cuda", COFUSE_CACHE_DIR=cache, **path)
        need(done.returncode == 1 and "loading a kernel" in done.stderr and "no fake kernel" in done.stderr, done.stderr)
        done = self.run(program, COFUSE_DEVICE="cuda", COFUSE_CACHE_DIR=self.tmp / "empty", **path)
        need(done.returncode == 1 and "libcofuse-jit.so" in done.stderr, done.stderr)
        # Another CPU may have compiled it, and the images of another target do not serve.
        done = self.run(program, COFUSE_DEVICE="cuda", COFUSE_CACHE_DIR=cache, FAKE_CUDA_MAJOR=8, **path)
        need(done.returncode == 1 and "libcofuse-jit.so" in done.stderr, done.stderr)

    def driver(self):
        """No driver, no device: said with what to do."""
        program = self.compile("strict", STRICT)
        done = self.run(program, COFUSE_DEVICE="cuda", LD_LIBRARY_PATH=self.o.fake, FAKE_CUDA_NONE=1)
        need(done.returncode == 1 and "CUDA_VISIBLE_DEVICES" in done.stderr, done.stderr)
        done = self.run(program, COFUSE_DEVICE="gpu")
        need(done.returncode == 1 and "cpu,cuda,emu" in done.stderr, done.stderr)
        if not pathlib.Path("/dev/nvidiactl").exists():
            done = self.run(program, COFUSE_DEVICE="cuda")
            need(done.returncode == 1 and "COFUSE_DEVICE=cpu" in done.stderr, done.stderr)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", type=pathlib.Path, required=True)
    p.add_argument("--fake", type=pathlib.Path, required=True)
    o = p.parse_args()
    o.build, bad = o.build.resolve(), 0
    with tempfile.TemporaryDirectory() as tmp:
        test = Test(o, pathlib.Path(tmp))
        for part in (test.strict, test.toolkit, test.cache, test.driver):
            try:
                part()
                print(f"{part.__name__}: ok")
            except Failure as e:
                print(f"{part.__name__}: {e}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
