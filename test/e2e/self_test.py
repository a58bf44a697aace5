#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that run.py notices what it is there for: with a compiler wrapper that plants a fault, it must
fail and say why; without a fault it must pass."""

import pathlib
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  FILE *f = fopen("out", "w");
  fprintf(f, "%d\n", FAULT == 4);
  fclose(f);
  if (FAULT == 3)
    for (;;)
      pause();
  printf("near %.17g\n", FAULT == 5 ? 1.0000000000000002 : FAULT == 6 ? 1.0001 : 1.0);
  printf("time %d s\n", (int)getpid());
  puts(FAULT == 1 ? "no" : "ok");
  const char *stats = getenv("COFUSE_STATS");
  if (stats && (f = fopen(stats, "w"))) {
    fprintf(f, "{\"tasks\": %d}\n", FAULT == 7 ? 0 : 9);
    fclose(f);
  }
  return FAULT == 2 ? 5 : 0;
}
"""
EXPECTED = {
    0: None,
    1: "other output",
    2: "exit status 5 instead of 0",
    3: "no end after 1 s",
    4: "file out differs",
    5: None,  # within the tolerance
    6: "other output",
    7: "required tasks>=9, but tasks is 0",
}


def main():
    clang = sys.argv[1]
    driver = pathlib.Path(__file__).with_name("run.py")
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        source = tmp / "program.c"
        source.write_text(PROGRAM)
        (tmp / "bin").mkdir()
        wrapper = tmp / "bin" / "cofuse-cc"
        for fault, message in EXPECTED.items():
            wrapper.write_text(f'#!/bin/sh\nexec {clang} -UFAULT -DFAULT={fault} "$@"\n')
            wrapper.chmod(0o755)
            plain = tmp / "plain-cc"
            plain.write_text(f'#!/bin/sh\nexec {clang} -DFAULT=0 "$@"\n')
            plain.chmod(0o755)
            done = subprocess.run(
                [sys.executable, str(driver), "--build", str(tmp), "--clang", str(plain), "--timeout", "1",
                 "--file", "out", "--rel", "near=1e-14", "--require", "tasks>=9", "--no-variants", "--warm=",
                 str(source)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            right = done.returncode == 0 if message is None else done.returncode == 1 and message in done.stdout
            if not right:
                print(f"fault {fault}: expected {message}; status {done.returncode}, output\n{done.stdout}")
                return 1
    print(f"{len(EXPECTED)} runs judged rightly")
    return 0


if __name__ == "__main__":
    sys.exit(main())
