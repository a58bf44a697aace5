#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""transfers.py --build DIR: what the applications move between host and device in a time loop, counted on the emulated
device: twice as many iterations may move no more than halos, and the scalars that the program reads."""

import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
E = ROOT / "examples"
DENSE = sorted((ROOT / "lib/dense").glob("*.c"))
SPARSE = sorted((ROOT / "lib/sparse").glob("*.c"))
# Sources, arguments (@: iterations), iterations, values of 8 bytes that an iteration reads on the host.
CASES = {
    "stencil": ([E / "stencil.c", E / "array_ops.c"], "61 47 @", 10, 0),
    "black_scholes": ([E / "black_scholes.c"], "501 @", 5, 0),
    "jacobi": ([E / "jacobi.c", *DENSE], "90 @ 0", 20, 1),
    "cg": ([E / "cg.c", *DENSE, *SPARSE], "30 @ 0", 10, 2),
    "bicgstab": ([E / "bicgstab.c", *DENSE, *SPARSE], "30 @ 0", 10, 4),
    "multigrid": ([E / "multigrid.c", *DENSE, *SPARSE], "4 @ 0", 5, 2),
    "cfd": ([E / "cfd.c", *DENSE], "33 @ 20 0", 5, 0),
    "shallow_water": ([E / "shallow_water.c", *DENSE], "40 30 @ 0", 5, 2),
}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", type=pathlib.Path, required=True)
    p.add_argument("--mpiexec", default="")
    p.add_argument("--show", action="store_true", help="the counters themselves")
    o = p.parse_args()
    bad = 0
    launcher = {1: [], 2: [o.mpiexec, "--oversubscribe", "--bind-to", "none", "-n", "2"]}
    print(f"{'per iteration':16} {'ranks':>5} {'to device':>10} {'to host':>10} {'halos':>10} {'to all':>10} {'direct':>10}   bytes")
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        for name, (sources, args, turns, reads) in CASES.items():
            program = tmp / name
            subprocess.run([o.build / "bin/cofuse-cc", "-O2", *sources, "-o", program, "-lm"], check=True)
            for ranks, direct in ((1, 0), (2, 0), (2, 1)) if o.mpiexec else ((1, 0),):
                counts = []
                for n in (turns, 2 * turns):
                    env = {k: v for k, v in os.environ.items() if not k.startswith("COFUSE_")}
                    env.update(COFUSE_DEVICE="emu", COFUSE_TEST_DIRECT=str(direct), COFUSE_STATS=str(tmp / "stats"), COFUSE_CACHE_DIR=str(tmp / "cache"),
                               OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
                    command = [*launcher[ranks], program, *shlex.split(args.replace("@", str(n)))]
                    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True, timeout=300)
                    if done.returncode:
                        print(f"{name}: {done.stdout}{done.stderr}")
                        return 1
                    counts.append(json.loads((tmp / "stats").read_text()))
                    if o.show:
                        print({k: v for k, v in counts[-1].items() if "copies" in k or "bytes" in k})
                up, down, sent, to_all, between = (
                    (counts[1][k] - counts[0][k]) / turns for k in
                    ("bytes_to_device", "bytes_to_host", "bytes_sent", "bytes_to_all_ranks", "bytes_between_devices"))
                # A halo goes to the host of its owner and to the device of who needs it. A result is read by every rank,
                # with those of the same group (16 bytes each), and one that came from all ranks goes to their devices.
                scalars = ranks * 8 * 16 * reads
                row = f"{name:16} {ranks:5} {up:10.0f} {down:10.0f} {sent:10.0f} {to_all:10.0f} {between:10.0f}"
                if direct:  # messages need no host memory
                    sent = to_all = 0
                if up > sent + (ranks - 1) * (to_all + scalars) or down > sent + to_all + scalars:
                    row += "   more than halos and scalars"
                    bad += 1
                print(row, flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
