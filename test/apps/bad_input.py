#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input to the client libraries: exit status 2 and a message that says what is wrong and where.

The line that is at fault begins the name of each file in data/bad. Plain builds with the sanitizers, so that a
program that gets away with an error of memory fails, too."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIB = HERE.parent.parent / "lib"
MISUSE = {
    "shapes": "add: 3 x 4 and 1 x 4 elements",
    "view": "a view of 3 x 3 elements at (1, 1) leaves an array of 3 x 4",
    "overflow": "leaves an array of 3 x 4",
    "gemv": "3 x 4 matrix and 1 x 4 vector",
    "size": "an array cannot have -1 x 3 elements",
    "huge": "an array cannot have",
    "get": "at (3, 0) leaves an array of 3 x 4",
}


def build(clang, out, sources):
    command = [clang, "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
               "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", *map(str, sources), "-o", str(out), "-lm"]
    subprocess.run(command, check=True)
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--clang", default="clang-19")
    options = p.parse_args()
    failures = 0

    def expect(program, argument, text):
        nonlocal failures
        done = subprocess.run([program, argument], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={"ASAN_OPTIONS": "detect_leaks=0"}, timeout=60)
        if done.returncode != 2 or text not in done.stderr:
            failures += 1
            print(f"{argument}: exit status {done.returncode}, expected 2 and '{text}', got:\n{done.stderr}")

    with tempfile.TemporaryDirectory(prefix="cofuse-apps-") as tmp:
        dense = sorted((LIB / "dense").glob("*.c"))
        sparse = sorted((LIB / "sparse").glob("*.c"))
        program = build(options.clang, pathlib.Path(tmp) / "dense", [HERE / "dense_test.c", *dense])
        for which, text in MISUSE.items():
            expect(program, which, text)
        program = build(options.clang, pathlib.Path(tmp) / "sparse", [HERE / "sparse_test.c", *dense, *sparse])
        files = sorted((HERE / "data" / "bad").glob("*.mtx"))
        for path in files:
            expect(program, str(path), f"{path}:{path.name.split('_')[0]}: ")
        expect(program, str(HERE / "data" / "missing.mtx"), "missing.mtx: No such file")
        print(f"{len(MISUSE) + len(files) + 1} inputs, {failures} failures")
    return 1 if failures or not files else 0


if __name__ == "__main__":
    sys.exit(main())
