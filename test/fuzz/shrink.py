# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a failing program small: leaves out statements while it still fails, within a time limit."""

import copy
import pathlib
import re
import shlex
import shutil
import time

from batch import Batch, CompileError, HERE, label
from generate import Node, Program


def paths(nodes, prefix=()):
    """Every statement, outer and later ones first."""
    for i in reversed(range(len(nodes))):
        yield prefix + (i,)
        if nodes[i].children is not None:
            yield from paths(nodes[i].children, prefix + (i,))


def without(nodes, path):
    nodes = copy.copy(nodes)
    if len(path) == 1:
        del nodes[path[0]]
        return nodes
    n = nodes[path[0]]
    nodes[path[0]] = Node(n.lines, without(n.children, path[1:]), n.tail)
    return nodes


class Shrinker:
    def __init__(self, tools, folder, config, program, turn, flags, until):
        self.t, self.folder, self.config, self.p = tools, folder, config, program
        self.turn, self.flags, self.until, self.tried = turn, flags, until, 0

    def fails(self, text, config=None):
        """What is wrong with it, or None; a failure of the oracle does not count."""
        if time.monotonic() > self.until:
            return None
        self.tried += 1
        folder = self.folder / str(self.tried)
        b = Batch(self.t, folder, [[(self.p.seed, text)]], self.turn)
        b.flags = [self.flags]
        try:
            b.prepare()
            for _ in range(2):  # cold and warm kernels
                seed, wrong, _ = b.run(config or self.config)
                if seed is not None:
                    return wrong
            return None
        except CompileError:
            return None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def shrink(self):
        """(text, wrong) of the smallest program found, or None if alone it is right."""
        nodes, wrong = self.p.nodes, self.fails(self.p.text())
        if not wrong:
            return None
        again = True
        while again and time.monotonic() < self.until:
            again = False
            for path in list(paths(nodes)):
                try:
                    smaller = without(nodes, path)
                except (IndexError, TypeError, AttributeError):
                    continue  # went with an outer statement
                w = self.fails(self.p.text(smaller))
                if w:
                    nodes, wrong, again = smaller, w, True
        return self.lines(self.p.text(nodes), wrong)

    def lines(self, text, wrong):
        """Leaves out single lines that stand alone: output, clean-up, and scalars nobody names."""
        for pattern in (r"  show_value\(.*\n", r"  band\(.*\n", r"  show_\w+\(.*\n", r"  free\(b\d+\);\n"):
            for line in re.findall("^" + pattern, text, re.M):
                smaller = text.replace(line, "", 1)
                w = self.fails(smaller)
                if w:
                    text, wrong = smaller, w
        return text, wrong


def standalone(text, seed, flags, who):
    """One file that needs no other."""
    head = (HERE / "fuzz.h").read_text().split("\n", 1)[1]
    pool = (HERE / "pool.c").read_text().split("\n", 1)[1].replace('#include "fuzz.h"\n', "")
    return f"/* test/fuzz program {seed}; {who}; flags {flags} */\n{head}{pool}\n{text}\nint main(void) {{\n  fuzz_{seed}();\n}}\n"


def shrink(tools, folder, batch, config, seed, until):
    """Report of one failure."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    unit = next(i for i, u in enumerate(batch.units) if any(s == seed for s, _ in u))
    flags = batch.flags[unit]
    kept = tools.build / "fuzz" / f"failed-{seed}"
    kept.mkdir(parents=True, exist_ok=True)
    s = Shrinker(tools, folder, config, Program(seed), batch.turn, flags, until)
    found = s.shrink()
    command, env = batch.command(config)
    env = {k: v for k, v in env.items() if k.startswith("COFUSE_") and k != "COFUSE_CACHE_DIR"}
    settings = " ".join(f"{k}={v}" for k, v in env.items())
    if found is None:
        for f in batch.folder.glob("*.[ch]"):
            shutil.copy(f, kept)
        return (f"alone it is right; its batch is kept in {kept}. Repeat: {settings} "
                f"test/fuzz/run.py --seed {batch.seeds[0]} --batch {len(batch.seeds)} {len(batch.seeds)}")
    text, wrong = found
    source = kept / "program.c"
    source.write_text(standalone(text, seed, flags, label(config)))
    launch = shlex.join(command[:-1] + ["./a.out"]) if config[0] > 1 else "./a.out"
    return (f"shrunk ({s.tried} tries): {wrong}\n{text}\nrepeat: {tools.cofuse} -w {flags} {source} -lm && {settings} "
            f"{launch}\n")
