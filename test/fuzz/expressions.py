# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random subscripts and expressions over the arrays of a program (generate.py). No expression has undefined
behaviour: unsigned arithmetic, bounded shifts, no zero divisors, floats converted only where they fit."""

from model import INTS, affine, is_float


class Expressions:
    """self.r, self.arrays, self.consts, self.scalars, self.cells, self.ints are the program's (generate.py)."""

    # -- subscripts

    def shift_of(self):
        return self.r.choice([0, 0, 0, 0, 1, -1, 1, -1, 2, -3, 5])

    def subscript(self, extent, loops, d):
        """A subscript inside 0..extent-1; d: the dimension, which usually follows the loop of that number."""
        if extent <= 0:
            return None
        x = self.r.random()
        if x < 0.06 or not loops:
            return str(self.r.randrange(extent))
        loop = loops[d] if d < len(loops) and self.r.random() < 0.88 else self.r.choice(loops)
        if x < 0.09 and len(loops) > 1:
            other = self.r.choice([l for l in loops if l is not loop])
            if loop.trips and other.trips and loop.lo + other.lo >= 0 and loop.hi - 1 + other.hi - 1 < extent:
                return f"{loop.name} + {other.name}"
        if x < 0.12 and extent >= 8:
            return f"(({loop.name} * 3 + {self.r.randrange(8)}) & 7)"
        if x < 0.20:
            c, off = -1, extent - 1 - self.r.choice([0, 0, 0, 1, 2]) + loop.lo * (self.r.random() < 0.5)
        elif x < 0.25:
            c, off = self.r.choice([2, 2, 3]), self.r.randint(0, 2)
        else:
            c, off = 1, self.shift_of() - loop.lo * (self.r.random() < 0.9 and loop.lo < 0)
        if not loop.admit(c, off, extent):
            span = abs(c) * max(0, loop.trips - 1)
            if span >= extent:
                return str(self.r.randrange(extent))
            low = self.r.randint(0, extent - 1 - span)
            off = low - min(c * loop.lo, c * (loop.hi - 1))
        return affine(c, loop.name, off)

    def reshaped(self, a, loops):
        """Sometimes another shape of the same bytes."""
        if a.form != "flat" or a.field or self.r.random() > 0.15 or a.size == 0:
            return a
        n = a.size
        if len(a.extents) == 1 and len(loops) > 1:
            w = self.r.choice([2, 3, 4, 5, 7])
            return a.view([n // w, w]) if n >= w else a
        return a.view([n]) if self.r.random() < 0.6 else a.view(a.extents[::-1])

    def read(self, a, loops):
        """(text, type) of one element, or None."""
        if a.size == 0:
            return None
        a = self.reshaped(a, loops)
        shown = a
        if a.form == "flat" and not a.field and self.views is not None and self.r.random() < 0.12:
            name, shift = f"v{len(self.views)}", self.r.randrange(a.size)
            self.views.append(f"{a.kind} *{name} = {a.name} + {shift};")
            shown = a.view(a.extents, name, shift)
        if len(a.extents) == 1 and len(loops) > 1 and self.r.random() < 0.5:
            loops = [self.r.choice(loops)]
        subs = [self.subscript(e, loops, d) for d, e in enumerate(a.extents)]
        return shown.at(subs), a.kind

    def indirect(self, loops, forbidden):
        """x[col[i] % n]"""
        tables = [a for a in self.arrays if a.kind in INTS and a.kind != "_Bool" and a.size and a.key() not in forbidden]
        targets = [a for a in self.arrays if a.size and a.form == "flat" and a.key() not in forbidden]
        if not tables or not targets:
            return None
        index = self.read(self.r.choice(tables), loops)
        x = self.r.choice(targets)
        return x.view([x.size]).at([f"(uint32_t){index[0]} % {x.size}u"]), x.kind

    def not_below(self, text):
        """A test that a value above -64 is not negative; sometimes one that tells the compiler no bound."""
        return f"{text} >= 0" if self.r.random() < 0.65 else f"({text}) % 64 >= 0"

    def below(self, text, limit):
        """The same for a value that is not negative."""
        return f"{text} < {limit}" if self.r.random() < 0.65 else f"({text}) / {limit} < 1"

    def clipped(self, loops, forbidden):
        """An element that may lie outside, behind the test that it does not."""
        signed = [l for l in loops if l.ctype in ("int", "long")]
        pool = [a for a in self.arrays if a.size and len(a.extents) <= min(2, len(signed)) and a.key() not in forbidden]
        if not pool:
            return None
        a = self.r.choice(pool)
        chosen = signed[-len(a.extents):]
        subs, tests = [], []
        for loop, e in zip(chosen, a.extents):
            off = self.r.choice([1, -1, 2, -4, 7, 0])
            subs.append(affine(1, loop.name, off))
            if loop.lo + off < 0 or not loop.frozen:
                tests.append(self.not_below(subs[-1]))
            if loop.hi - 1 + off >= e or not loop.frozen:
                tests.append(self.below(subs[-1], e))
        self.r.shuffle(tests)
        value = a.at(subs)
        return (f"({' && '.join(tests)} ? {value} : {self.r.choice(['0', '1', '3'])})" if tests else value), a.kind

    # -- terms

    def term(self, loops, forbidden, want_float=None):
        """(text, type)"""
        x = self.r.random()
        if x < 0.07:
            return self.r.choice([("1.5", "double"), ("0.25f", "float"), ("3", "int32_t"), ("7u", "uint32_t"),
                                  ("-2", "int32_t"), ("-0.0", "double")])
        if x < 0.17:
            return self.r.choice(self.scalars)
        if x < 0.22 and self.cells:
            return self.r.choice(self.cells)
        if x < 0.27 and loops:
            loop = self.r.choice(loops)
            return self.r.choice([(loop.name, "int32_t"), (f"(double){loop.name}", "double")]) \
                if loop.ctype in ("int", "long") else (f"(double){loop.name}", "double")
        if x < 0.31:
            t = self.indirect(loops, forbidden)
            if t:
                return t
        if x < 0.35:
            t = self.clipped(loops, forbidden)
            if t:
                return t
        pool = [a for a in self.arrays + self.consts if a.size and a.key() not in forbidden]
        if want_float is not None and self.r.random() < 0.8:
            pool = [a for a in pool if is_float(a.kind) == want_float] or pool
        if self.recent and self.r.random() < 0.45:
            pool = [a for a in pool if a.key() in self.recent] or pool
        return self.read(self.r.choice(pool), loops) if pool else ("2", "int32_t")

    def as_int(self, t):
        if not is_float(t[1]):
            return t
        return f"({t[0]} > -1000.0 && {t[0]} < 1000.0 ? (int)({t[0]}) : 7)", "int32_t"

    def int_expression(self, terms):
        text, kind = self.as_int(terms[0])
        for t in terms[1:]:
            b, _ = self.as_int(t)
            u = self.r.choice(["uint32_t", "uint64_t", "uint32_t"])
            k = self.r.randrange(10)
            if k < 3:
                text, kind = f"({u})({text}) {self.r.choice('+-*')} ({u})({b})", u
            elif k < 5:
                text, kind = f"({text}) {self.r.choice('^&|')} ({b})", "int64_t"
            elif k == 5:
                text, kind = f"(({text}) {self.r.choice(['<', '>', '==', '>=', '!='])} ({b}))", "int32_t"
            elif k == 6:
                text = f"(({text}) {self.r.choice(['>>', '/'])} ((({b}) & 7) + 1))"
            elif k == 7:
                text = f"(({text}) % ((({b}) & 15) + 3))"
            elif k == 8:
                text, kind = f"(({text}) > ({b}) ? ({text}) : ({b}))", "int64_t"
            else:
                text, kind = f"(({u})({text}) << (({b}) & 3))", u
        if self.r.random() < 0.1:
            text = f"~({text})"
        return text, kind

    def float_expression(self, terms):
        single = all(t[1] == "float" for t in terms)
        f, m = ("f", "f") if single else ("", "")
        text = terms[0][0]
        for t, _ in terms[1:]:
            text = self.r.choice([
                f"0.5{f} * (({text}) + ({t}))", f"0.75{f} * ({text}) - 0.25{f} * ({t})", f"(fmax{m}({text}, {t}) + 0.0{f})",
                f"(fmin{m}({text}, {t}) + 0.0{f})", f"(({text}) > ({t}) ? ({t}) : 0.5{f} * ({text}))",
                f"({text}) * ({t}) / (1{'' if single else '.0'} + fabs{m}({t}) * fabs{m}({text}))",
                f"({text}) / (1.5{f} + fabs{m}({t}))", f"0.5{f} * ({text}) + ({t}) * 0.375{f}"])
        kind = "float" if single else "double"
        x = self.r.random()
        if x < 0.08:
            text = f"sqrt{m}(fabs{m}({text}))"
        elif x < 0.14:
            text = f"-({text})"
        elif x < 0.17:
            text = f"floor{m}({text})"
        return text, kind

    def expression(self, kind, loops, forbidden=(), own=None, count=None):
        """C text of a value for an element of this type. own: the element written, the only one of the
        forbidden arrays that may be read."""
        n = count or self.r.choice([1, 1, 2, 2, 2, 3, 4])
        terms = [self.term(loops, forbidden, is_float(kind)) for _ in range(n)]
        if own and self.r.random() < 0.4:
            terms.insert(self.r.randint(0, len(terms)), own)
        if is_float(kind):
            return self.float_expression(terms)[0]
        text, have = self.int_expression(terms)
        return text if have != "double" else f"(int)({text})"

    def test(self, loops, forbidden=(), own=None):
        a = own if own and self.r.random() < 0.3 else self.term(loops, forbidden)
        if self.r.random() < 0.2 and loops and loops[-1].ctype in ("int", "long"):
            return f"{loops[-1].name} {self.r.choice(['& 1', '% 3 == 1', '> 2', '!= 4'])}"
        return f"{a[0]} {self.r.choice(['>', '<', '>=', '!='])} {self.r.choice(['0', '1', '7', '0.5', '50'])}"
