# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ./dev bench runs, and what it aims at."""

import dataclasses


@dataclasses.dataclass
class Case:
    """A program with its arguments for three sizes. `@` in the arguments stands for the iterations.

    checks: "exact" (all lines but the time alike), or a dict from a line's first word to the relative difference
    that its numbers may have; other lines are alike. aims: see AIMS.
    """

    name: str
    sizes: dict             # "cache", "memory" or "quick" -> (arguments, iterations)
    sources: list = dataclasses.field(default_factory=list)
    hand: str = ""
    checks: object = "exact"
    kind: str = "application"
    flags: tuple = ()
    bytes_per_element: int = 0  # micro-kernels: what must move
    hand_limit: dict = dataclasses.field(default_factory=dict)  # size -> largest ratio fused / hand
    speedup: float = 0      # smallest ratio unfused / fused, one thread, at the size "memory"
    memory_limit: float = 0  # largest ratio of the peak memory to that of the twin
    heavy_setup: bool = False  # compare the peak memory with that of the plain program's set-up where that is more


def application(name, cache, memory, quick, limit, speedup, memory_limit, **more):
    return Case(name, {"cache": cache, "memory": memory, "quick": quick}, hand=f"examples/hand/{name}_hand.c",
                sources=more.pop("sources", [f"examples/{name}.c"]), hand_limit={"cache": limit, "memory": limit},
                speedup=speedup, memory_limit=memory_limit, **more)


# Sums may be added in another order.
SUMS = {"residual": 1.0, "error": 1.0, "solution": 1e-5}

# Sizes: "cache" keeps everything within about 1 MB, "memory" has arrays of 128 MB: vectors or fields, or the values of
# a sparse matrix. In the cache the solvers solve again and again: long past convergence they would work on numbers too
# small to be normal, for which processors take many times as long. The checks that examples make on the side are cut short where arguments allow.
APPLICATIONS = [
    application("black_scholes", ("8000 @", 200), ("16777216 @", 2), ("500 @", 2), 1.10, 3.5, 1.1),
    application("jacobi", ("360 @ 0", 2000), ("4096 @ 0", 15), ("90 @ 0", 30), 1.10, 1.8, 1.1),
    application("cg", ("100 200 0 0 @", 20), ("1830 @ 0", 10), ("30 @ 0", 20), 1.10, 1.7, 1.1, checks=SUMS,
                heavy_setup=True),
    application("bicgstab", ("90 150 0 0 0 @", 20), ("1830 @ 0", 6), ("30 @ 0", 10), 1.10, 1.8, 1.1, checks=SUMS,
                heavy_setup=True),
    application("multigrid", ("6 15 0 6 @", 60), ("11 @ 0", 3), ("4 @ 0", 5), 1.40, 2.0, 1.3, checks=SUMS,
                heavy_setup=True),
    application("cfd", ("130 @ 20 1", 100), ("4096 @ 6 0", 1), ("33 @ 20 1", 2), 1.40, 4.0, 1.3),
    application("shallow_water", ("80 80 @ 1", 300), ("4096 4096 @ 0", 1), ("40 30 @ 1", 3), 1.40, 4.0, 1.3),
    application("stencil", ("256 256 @", 3000), ("4096 4096 @", 4), ("50 40 @", 5), 1.40, 3.0, 1.3,
                sources=["examples/stencil.c", "examples/array_ops.c"]),
]
# The geometric mean of the speed-ups is over these, the applications of the paper.
PAPER = ["black_scholes", "jacobi", "cg", "bicgstab", "multigrid", "cfd", "shallow_water"]

# With -ffast-math the speed-up is that of vector math, on both sides; bits differ.
FAST = application("black_scholes", ("8000 @", 200), ("16777216 @", 2), ("500 @", 2), 1e9, 8.0, 1e9,
                   checks={"hash": float("inf")}, flags=("-ffast-math",))
FAST.name, FAST.kind, FAST.hand_limit, FAST.memory_limit = "black_scholes-fast", "fast math", {}, 0


def micro(name, bytes_per_element):
    return Case(name, {"cache": (f"{name} 40000 @", 20000), "memory": (f"{name} 16777216 @", 8),
                       "quick": (f"{name} 5000 @", 5)}, ["bench/micro.c"], "bench/micro_hand.c",
                {"sum": 1e-9}, "micro-kernel", (), bytes_per_element, {"cache": 1.10, "memory": 1.05})


MICRO = [micro("axpy", 24), micro("triad", 24), micro("dot", 16), micro("5-point", 16), micro("9-point", 16),
         micro("7-point", 16), micro("transpose", 16), micro("gather", 20)]

NEVER_SLOWER = 0.97     # smallest ratio unfused / fused of any case
GEOMEAN = 2.5           # of PAPER's speed-ups
CHAIN = [               # elements, repetitions, largest ratio fused / plain
    (1024, 4000, 4.0),
    (30000, 300, 1.0),
]
CHAIN_LINKS = 16
TASK_US = 0.5           # a task of 16 elements, issued and replayed
COMPILE_MS = 25.0       # a group of up to COMPILE_TASKS tasks, and for every further one
COMPILE_TASKS, COMPILE_MS_MORE = 8, 5.0
START_MS = 5.0          # start of a process with a filled kernel cache, more than the plain program
