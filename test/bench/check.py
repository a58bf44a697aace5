#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs bench/bench.py --quick, which compares the results of the plain, unfused, fused and hand-fused programs, and
checks what it writes; then that it notices wrong results and missed aims. Times are of no interest here."""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import types
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import bench  # noqa: E402
import cases  # noqa: E402
import picture  # noqa: E402

failures = []


def check(what, good, detail=""):
    if not good:
        failures.append(what)
        print(f"FAILED: {what} {detail}")


def written(options):
    """A quick run and its files."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, str(ROOT / "bench/bench.py"), "--quick", "--build", options.build, "--clang",
                   options.clang, "--out", out]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        check("bench.py --quick", done.returncode == 0, done.stdout)
        if done.returncode:
            return
        found = json.loads((pathlib.Path(out) / "bench.json").read_text())
        svg = xml.etree.ElementTree.parse(pathlib.Path(out) / "bench.svg").getroot()
    check("the JSON file has its keys",
          {"machine", "flags", "hand_flags", "triads", "cases", "overheads", "aims", "failures"} <= set(found))
    names = {c.name for c in cases.APPLICATIONS + cases.MICRO + [cases.FAST]}
    check("every case was run", {c["name"] for c in found["cases"]} == names)
    for c in found["cases"]:
        ways = {"unfused", "fused", "hand"} | ({"plain"} if c["threads"] == 1 else set())
        check(f"{c['name']} was run in all ways", set(c["seconds"]) == ways and
              all(len(s) == c["rounds"] for s in c["seconds"].values()), str(c))
    check("the overheads were measured", {"chain 1024", "chain 30000", "task_us", "start_ms", "compile"} <=
          set(found["overheads"]) and found["overheads"]["compile"])
    bars = svg.findall(".//{http://www.w3.org/2000/svg}rect")
    check("the picture has bars for every case", len(bars) > len(found["cases"]), str(len(bars)))


def comparison():
    """Which outputs count as alike."""
    alike, checks = bench.difference, {"sum": 1e-9, "hash": float("inf")}
    check("equal lines", alike(["a 1", "b 2"], ["a 1", "b 2"], "exact") is None)
    check("a different hash", alike(["hash 0x12"], ["hash 0x13"], "exact") is not None)
    check("a missing line", alike(["a 1", "b 2"], ["a 1"], "exact") is not None)
    check("rounding", alike(["sum 1.0000000001e3"], ["sum 1e3"], checks) is None)
    check("more than rounding", alike(["sum 1.001e3"], ["sum 1e3"], checks) is not None)
    check("a number that is none", alike(["sum nan"], ["sum 1e3"], checks) is not None)
    check("other words", alike(["lake MOVES"], ["lake at rest"], checks) is not None)
    check("a hash that may differ", alike(["hash 0x12"], ["hash 0x13"], checks) is None)


def aims():
    """Ratios on both sides of the limits."""
    def result(case, size, threads, by_hand, speedup):
        return {"name": case.name, "kind": case.kind, "size": size, "threads": threads,
                "memory": {"fused": 1.2, "hand": 1.0},
                "ratios": {"fused/hand": by_hand, "unfused/fused": speedup, "fused/plain": 0.5}}
    for by_hand, speedup, reached in ((1.0, 9.0, True), (2.0, 0.5, False)):
        results = [result(c, s, t, by_hand, speedup) for c in cases.APPLICATIONS for s in ("cache", "memory")
                   for t in (1, 2)]
        found = bench.aims_of(results, {"compile": [(4, 10.0 if reached else 90.0)]}, cases.APPLICATIONS)
        for a in found:
            if "plain" in a["what"] or "memory /" in a["what"]:
                continue
            check(f"aim with ratios {by_hand} and {speedup}", a["pass"] == reached, str(a))
        memory = {a["what"].split(":")[0]: a["pass"] for a in found if "memory /" in a["what"]}
        check("peak memory", memory == {c.name: c.memory_limit > 1.2 for c in cases.APPLICATIONS}, str(memory))
        check("a mean of all", sum("geometric mean" in a["what"] for a in found) == 1)
        xml.etree.ElementTree.fromstring(picture.draw(results, {"model": "<a & b>", "cpus": 2}))


def rounds():
    """Every way runs once a round, and not always in the same order."""
    calls, self = [], types.SimpleNamespace(o=types.SimpleNamespace(rounds=4, least=2, seconds=60), warm=1 << 20)
    real, bench.make_ready = bench.make_ready, calls.append
    bench.Bench.rounds(self, ["a", "b"], calls.append)
    bench.make_ready = real
    check("rotating rounds", calls[1::2] == ["a", "b", "b", "a"] * 2, str(calls))
    check("memory before each run", set(calls[::2]) == {self.warm}, str(calls))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bench.make_ready(256 << 20)
    check("none of it here", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True)
    p.add_argument("--clang", default="clang-19")
    options = p.parse_args()
    comparison()
    aims()
    rounds()
    written(options)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
