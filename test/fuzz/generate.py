# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs in the cofuse language. One seed gives one program, on every machine.

Every program is valid C and every forall has independent iterations (but for a few shifted self-references,
which cofuse must find and run serially). Sums are over unsigned integers and other reductions are max and
min, so that all of the output is exact."""

import random


class Array:
    def __init__(self, name, kind, extents):
        self.name, self.kind, self.extents = name, kind, extents

    @property
    def size(self):
        n = 1
        for e in self.extents:
            n *= e
        return n

    def sections(self):
        return self.name + "".join(f"[0:{e}]" for e in self.extents)

    def at(self, subscripts):
        if len(subscripts) == 1:
            return f"{self.name}[{subscripts[0]}]"
        return f"{self.name}[({subscripts[0]}) * {self.extents[1]} + {subscripts[1]}]"


class Range:
    """A loop counter and the values for which all subscripts so far stay inside."""

    def __init__(self, counter, lo, hi):
        self.counter, self.lo, self.hi = counter, lo, hi

    def admit(self, coefficient, offset, extent):
        """Narrows to values i with 0 <= coefficient * i + offset < extent."""
        if coefficient > 0:
            self.lo = max(self.lo, -(offset // coefficient))
            self.hi = min(self.hi, (extent - 1 - offset) // coefficient + 1)
        elif coefficient < 0:
            self.lo = max(self.lo, -((extent - 1 - offset) // -coefficient))
            self.hi = min(self.hi, offset // -coefficient + 1)


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines = []
        self.indent = 1
        self.temporaries = 0
        n, m, k = (self.r.choice([1, 2, 3, 5, 8, 13, 21]) for _ in range(3))
        self.arrays = []
        for i in range(self.r.randint(2, 4)):
            self.arrays.append(Array(f"a{i}", "double", [k * 3 + self.r.randint(0, 2)]))
        for i in range(self.r.randint(1, 2)):
            self.arrays.append(Array(f"u{i}", "uint32_t", [k * 3 + self.r.randint(0, 2)]))
        for i in range(self.r.randint(2, 3)):
            self.arrays.append(Array(f"g{i}", "double", [n + self.r.randint(0, 2), m + self.r.randint(0, 2)]))
        self.scalars = ["s0", "s1"]
        self.cells = ["z0"]  # 0-d stores

    def put(self, text):
        self.lines.append("  " * self.indent + text)

    def pragma(self, text):
        self.lines.append("#pragma cofuse " + text)

    # -- subscripts and expressions

    def subscript(self, extent, ranges):
        """A subscript inside 0..extent-1, affine in one of the counters; narrows its range."""
        if self.r.random() < 0.08:
            return str(self.r.randrange(extent))
        rng = self.r.choice(ranges) if self.r.random() < 0.15 else ranges[-1]
        return self.affine(rng, extent)

    def affine(self, rng, extent):
        kind = self.r.random()
        if kind < 0.08:
            coefficient, offset = -1, extent - 1
        elif kind < 0.14:
            coefficient, offset = 2, self.r.randint(0, 1)
        else:
            coefficient, offset = 1, self.r.choice([0, 0, 0, 0, -1, 1, 1, 2, -3])
        rng.admit(coefficient, offset, extent)
        text = {1: rng.counter, -1: f"-{rng.counter}", 2: f"2 * {rng.counter}"}[coefficient]
        return f"{text} + {offset}" if offset > 0 else f"{text} - {-offset}" if offset < 0 else text

    def read(self, array, ranges):
        if len(array.extents) == 1:
            return array.at([self.subscript(array.extents[0], ranges)])
        if len(ranges) == 1:
            fixed = str(self.r.randrange(array.extents[1]))
            if self.r.random() < 0.5:
                return array.at([self.affine(ranges[0], array.extents[0]), fixed])
            return array.at([str(self.r.randrange(array.extents[0])), self.affine(ranges[0], array.extents[1])])
        outer, inner = ranges if self.r.random() > 0.1 else reversed(ranges)
        return array.at([self.affine(outer, array.extents[0]), self.affine(inner, array.extents[1])])

    def term(self, kind, ranges, forbidden):
        x = self.r.random()
        if x < 0.1:
            return "1.5" if kind == "double" else "3u"
        if x < 0.2 and kind == "double":
            return self.r.choice(self.scalars + self.cells)
        if x < 0.25:
            counter = self.r.choice(ranges).counter
            return f"(double){counter}" if kind == "double" else f"(uint32_t){counter}"
        choices = [a for a in self.arrays if a.kind == kind and a is not forbidden]
        return self.read(self.r.choice(choices), ranges) if choices else ("2.0" if kind == "double" else "5u")

    def expression(self, kind, ranges, forbidden, own):
        """own: text of the element written, the only one of its array that may be read; or None."""
        terms = [self.term(kind, ranges, forbidden) for _ in range(self.r.randint(1, 3))]
        if own and self.r.random() < 0.4:
            terms.append(own)
        if kind == "uint32_t":
            return self.r.choice([" + ", " ^ ", " * ", " - "]).join(terms)
        text = terms[0]
        for t in terms[1:]:
            text = self.r.choice([f"0.5 * ({text} + {t})", f"0.75 * ({text}) - 0.25 * {t}",
                                  f"fmax({text}, {t})", f"({text} > {t} ? {t} : 0.5 * {text})"])
        return self.r.choice([text, text, f"sqrt(fabs({text}))", f"-({text})"])

    # -- statements

    def ranges(self, array, names="ij"):
        return [Range(names[d], 0, e) for d, e in enumerate(array.extents)]

    def loops(self, ranges, body, clauses=""):
        collapse = len(ranges) > 1 and self.r.random() < 0.8
        self.pragma("forall" + (" collapse(2)" if collapse else "") + clauses)
        for d, rng in enumerate(ranges):
            if rng.counter == "i" and self.r.random() < 0.1:
                head = f"for (int i = {rng.hi - 1}; i >= {rng.lo}; i--)"
            else:
                head = f"for (int {rng.counter} = {rng.lo}; {rng.counter} < {rng.hi}; {rng.counter}++)"
            self.put("  " * d + head)
        depth = "  " * len(ranges)
        if len(body) == 1:
            self.put(depth + body[0])
            return
        self.lines[-1] += " {"
        for line in body:
            self.put(depth + line)
        self.put("  " * (len(ranges) - 1) + "}")

    def forall(self, target=None):
        target = target or self.r.choice(self.arrays)
        ranges = self.ranges(target)
        maps = []
        for d, rng in enumerate(ranges):
            offset = self.r.choice([0, 0, 0, 1, -1])
            rng.admit(1, offset, target.extents[d])
            maps.append(f"{rng.counter} + {offset}" if offset > 0 else
                        f"{rng.counter} - {-offset}" if offset < 0 else rng.counter)
        own = target.at(maps)
        if len(target.extents) == 1 and self.r.random() < 0.04:
            ranges[0].admit(1, -1, target.extents[0])  # carried: must be run serially
            value = f"{self.expression(target.kind, ranges, target, None)} + {target.name}[i - 1]"
            if target.kind == "double":
                value = f"0.25 * ({value})"
            own, conditional = f"{target.name}[i]", False
        else:
            value = self.expression(target.kind, ranges, target, own)
            conditional = self.r.random() < 0.2
        if conditional:
            test = self.term(target.kind, ranges, target)
            body = [f"if ({test} > {'0.5' if target.kind == 'double' else '7u'})", f"  {own} = {value};"]
        elif self.r.random() < 0.25:
            body = [f"{target.kind} t = {value};", f"{own} = t;"]
        else:
            body = [f"{own} = {value};"]
        self.loops(ranges, body)

    def reduction(self):
        array = self.r.choice(self.arrays)
        ranges = self.ranges(array)
        x = self.read(array, ranges)
        if array.kind == "uint32_t":
            self.loops(ranges, [f"sum += {x};"], " reduction(+ : sum)")
            return
        op, compare = self.r.choice([("max", ">"), ("min", "<")])
        variable = self.r.choice(self.scalars + self.cells)
        form = self.r.choice([f"if ({x} {compare} {variable}) {variable} = {x};",
                              f"{variable} = f{op}({variable}, {x});",
                              f"{variable} = {x} {compare} {variable} ? {x} : {variable};"])
        self.loops(ranges, [form], f" reduction({op} : {variable})")

    def host(self):
        array = self.r.choice(self.arrays)
        index = lambda: self.r.randrange(array.size)
        x = self.r.random()
        if x < 0.4:
            self.put(f"{array.name}[{index()}] = {array.name}[{index()}];")
        elif x < 0.7:
            lo, hi = sorted([index(), index()])
            self.put(f"for (int q = {lo}; q < {hi}; q++) {array.name}[q] = {array.name}[q + 1];")
        elif array.kind == "double":
            self.put(f"s1 = 0.5 * s1 + 0.25 * {array.name}[{index()}];")
        else:
            self.put(f"sum ^= {array.name}[{index()}];")

    def task(self):
        self.pragma("task")
        self.put(f"z0 = 0.5 * z0 + {self.r.choice(['s0', 's1', '1.25', '0.125 * z0'])};")

    def temporary(self):
        """A temporary that is written whole, used and freed."""
        like = self.r.choice([a for a in self.arrays if a.kind == "double"])
        t = Array(f"t{self.temporaries}", "double", [max(1, e - self.r.choice([0, 0, 2])) for e in like.extents])
        self.temporaries += 1
        self.put(f"double *{t.name} = malloc({t.size} * sizeof *{t.name});")
        self.pragma(f"store({t.sections()})" + self.r.choice(["", " undefined"]))
        ranges = self.ranges(t)
        whole = [(rng.lo, rng.hi) for rng in ranges]
        value = self.expression("double", ranges, None, None)
        if [(rng.lo, rng.hi) for rng in ranges] != whole:  # a subscript does not fit everywhere
            ranges, value = self.ranges(t), "0.5 * s0 + i"
        self.loops(ranges, [f"{t.at([rng.counter for rng in ranges])} = {value};"])
        self.arrays.append(t)
        for _ in range(self.r.randint(1, 3)):
            self.forall()
        self.arrays.remove(t)
        self.put(f"free({t.name});")

    def statement(self, depth=0):
        x = self.r.random()
        if x < 0.5:
            self.forall()
        elif x < 0.65:
            self.temporary()
        elif x < 0.75:
            self.reduction()
        elif x < 0.83:
            self.host()
        elif x < 0.88:
            self.task()
        elif x < 0.9:
            self.pragma("flush")
        elif x < 0.92:
            self.put(f'printf("%a %a %u\\n", s0, {self.r.choice(["s1", "z0"])}, sum);')
        elif depth == 0:
            self.put(f"for (int it = 0; it < {self.r.randint(2, 12)}; it++) {{")
            self.indent += 1
            for _ in range(self.r.randint(1, 6)):
                self.statement(1)
            self.indent -= 1
            self.put("}")

    def text(self):
        for a in self.arrays:
            self.put(f"{a.kind} *{a.name} = malloc({a.size} * sizeof *{a.name});")
        self.put("double s0 = 1, s1 = 2, z0 = 3;")
        self.put("uint32_t sum = 1;")
        before = self.r.random() < 0.5  # stores keep what is in the arrays
        declare = f"store({', '.join([a.sections() for a in self.arrays] + self.cells)})"
        if not before:
            self.pragma(declare)
        for i, a in enumerate(self.arrays):
            value = f"(q * 37 + {i * 11}) % 101" + (" * 0.03125" if a.kind == "double" else "")
            self.put(f"for (int q = 0; q < {a.size}; q++) {a.name}[q] = {value};")
        if before:
            self.pragma(declare)
        for _ in range(self.r.randint(4, 25)):
            self.statement()
        self.put('printf("%a %a %a %u\\n", s0, s1, z0, sum);')
        for a in self.arrays:
            self.put(f'show("{a.name}", {a.name}, {a.size} * sizeof *{a.name});')
            self.put(f"free({a.name});")
        return HEAD + "\n".join(self.lines) + "\n  return 0;\n}\n"


HEAD = """#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void show(const char *name, const void *p, size_t bytes) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < bytes; i++)
    h = (h ^ ((const unsigned char *)p)[i]) * 16777619u;
  printf("%s %08x\\n", name, h);
}

int main(void) {
"""
