#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py --build DIR N: N random programs (generate.py), each run by test/e2e/run.py in many ways.
A program that fails is kept in the build folder, and the command that repeats it is printed."""

import argparse
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from generate import Program  # noqa: E402

DRIVER = pathlib.Path(__file__).resolve().parent.parent / "e2e" / "run.py"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("count", type=int)
    p.add_argument("--build", required=True)
    p.add_argument("--seed", type=int, help="of the first program; default: a new one each time")
    p.add_argument("--print", action="store_true", help="print the programs, run nothing")
    p.add_argument("--mpiexec", default=shutil.which("mpiexec.openmpi") or shutil.which("mpiexec") or "")
    p.add_argument("--ranks", default="1,2,4,7")
    p.add_argument("--cflags", default="-O1")
    o = p.parse_args()
    first = random.randrange(1, 10**6) if o.seed is None else o.seed
    folder = pathlib.Path(o.build) / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for seed in range(first, first + o.count):
        source = folder / f"{seed}.c"
        text = f"/* test/fuzz/run.py --seed {seed} */\n" + Program(seed).text()
        if o.print:
            print(text)
            continue
        source.write_text(text)
        command = [sys.executable, str(DRIVER), "--build", str(o.build), "--mpiexec", o.mpiexec, "--ranks",
                   o.ranks, "--warm", "2", f"--cflags={o.cflags}", str(source)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            failed.append(seed)
            print(f"=== {source}\n{done.stdout}\nrepeat: {shlex.join(command)}", flush=True)
        else:
            source.unlink()
    if not o.print:
        print(f"{o.count - len(failed)} of {o.count} programs right (seeds {first} to {first + o.count - 1})"
              + (f"; wrong: {' '.join(map(str, failed))}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
