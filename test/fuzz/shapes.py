# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Short sequences of loops, one for each rule that the analysis of a window knows (templates.py)."""

from model import CELL, is_float, size_of


class Shapes:
    """Lists of C lines over p, q and r: pointers to n or more elements of type k. They may be the same, but p and q
    are so only where there is no other array of the type."""

    def shape_of(self, k, x, y, z, n):
        make = self.r.choice([
            self.reduced, self.points, self.points, self.points, self.moved, self.moved, self.wrapped, self.wrapped, self.odd_rows, self.one_row, self.maybe,
            self.later, self.later, self.members, self.members, self.both, self.both, self.both, self.peek, self.reused,
            self.captured, self.released, self.sites, self.crossed, self.shifted, self.reach, self.pieces, self.pieces, self.one_row, self.every_other,
            self.neighbours, self.neighbours, self.neighbours, self.opaque, self.slanted, self.two_names, self.two_names, self.both_members, self.stencil, self.stencil])
        lines = make(k, n)
        return ["{", f"  {k} *p = {x.flat}, *q = {y.flat}, *r = {z.flat};"] + \
            [l if l.startswith("#") else "  " + l for l in lines] + ["}"]

    # -- pieces

    def value(self, k, *terms):
        """An expression of these."""
        if is_float(k):
            f = "f" if k == "float" else ""
            weights = self.r.sample([f"0.5{f}", f"0.25{f}", f"0.125{f}", f"0.375{f}"], len(terms))
            return " + ".join(f"{w} * ({t})" for w, t in zip(weights, terms))
        factors = self.r.sample(["1u", "3u", "5u", "7u"], len(terms))
        return f"({k})(" + " ^ ".join(f"(uint32_t)({t}) * {w}" for w, t in zip(factors, terms)) + ")"

    def own_scalar(self, k):
        return {"double": "s0", "float": "(float)s0"}.get(k, "su")

    def loop(self, n, *body, first=0, clause="", step="++"):
        """An annotated loop over i."""
        head = f"for (int i = {first}; i < {n}; i{step})"
        if len(body) == 1:
            return [f"#pragma cofuse forall{clause}", head, "  " + body[0]]
        return [f"#pragma cofuse forall{clause}", head + " {"] + ["  " + b for b in body] + ["}"]

    def loop2(self, h, w, *body):
        return [self.r.choice(["#pragma cofuse forall", "#pragma cofuse forall collapse(2)"]),
                f"for (int i = 0; i < {h}; i++)", f"  for (int j = 0; j < {w}; j++) {{"] + \
            ["    " + b for b in body] + ["  }"]

    def single(self, line):
        return ["#pragma cofuse task", line]

    def whole(self, k, name, n):
        """All of an array is written."""
        return self.loop(n, f"{name}[i] = {self.value(k, f'{name}[i]', self.own_scalar(k))};")

    def edge(self, n):
        """An element, mostly near an end or the middle: where tiles meet."""
        return self.r.choice([0, 1, n - 1, n - 1, n - 2, n // 2, n // 2 - 1, self.r.randrange(n)])

    def stay(self):
        """Sometimes what is pending runs."""
        return self.r.choice([[], [], [], ["#pragma cofuse flush"]])

    def fresh_array(self, k, size, kept=False):
        """(name, lines) of an array that the program will free."""
        t = f"t{self.fresh()}"
        lines = [f"{k} *{t} = malloc({size} * sizeof *{t});"]
        if kept:
            lines.append(f"for (int q = 0; q < {size}; q++) {t}[q] = (q * 29 + {self.count}) % 61;")
        return t, lines + [f"#pragma cofuse store({t}[0:{size}])" + ("" if kept else self.r.choice(["", " undefined"]))]

    # -- groups

    def reduced(self, k, n):
        """A reduction and what uses its result at once."""
        v, op, term = self.r.choice([("zu", "+", f"(uint32_t)({self.as_int(('p[i]', k))[0]})"),
                                     ("zu", "^", f"(uint32_t)({self.as_int(('p[i]', k))[0]})"),
                                     ("zl", "+", f"(uint64_t)({self.as_int(('p[i]', k))[0]})"),
                                     ("dz", "+", f"({self.as_int(('p[i]', k))[0]}) & 15")])
        lines = self.whole(k, "p", n) if self.r.random() < 0.4 else []
        lines += self.loop(n, f"{v} {op}= {term};", clause=f" reduction({op} : {v})")
        used = "dz * 0.01" if v == "dz" else f"({v} & 31)"
        f = self.r.random()
        if f < 0.45:
            lines += self.loop(n, f"q[i] = {self.value(k, 'q[i]', used)};")
        elif f < 0.6:
            lines += self.single(f"q[{self.edge(n)}] = {used};")
        elif f < 0.75:
            lines += self.single({"zu": "zl += zu;", "zl": "zu += (uint32_t)zl;", "dz": "z0 = 0.5 * z0 + 0.01 * dz;"}[v])
        elif f < 0.9:
            lines += self.single({"zu": "zu = zu * 3u + 1u;", "zl": "zl ^= 5u;", "dz": "dz = 3;"}[v])
            lines += self.loop(n, f"{v} {op}= {term};", clause=f" reduction({op} : {v})")
        else:
            lines += self.loop(n, f"zl += (zu & 7u) + (uint64_t)({self.as_int(('q[i]', k))[0]});", clause=" reduction(+ : zl)")
        return lines

    def points(self, k, n):
        """Single elements that change on the rank that has them."""
        a, b, c, d = (self.edge(n) for _ in range(4))
        s = self.own_scalar(k)
        long = self.r.choice([2, 3, n // 2])
        zero = "acc = acc / 2 +" if is_float(k) else "acc ^="
        steps = [
            lambda: ["#pragma cofuse task", "{", f"  p[{a}] = {self.value(k, f'r[{b}]', s)};", f"  q[{c}] = {self.value(k, s, f'q[{c}]')};",
                     "}"],
            lambda: self.loop(b + 1, f"{k} acc = 0;", f"for (int c = 0; c < {long}; c++)", f"  {zero} p[c + {min(a, n - long)}];",
                              "q[i] = acc;", first=b),
            lambda: self.single(f"p[{a}] = {self.value(k, f'q[{b}]', s)};"),
            lambda: self.single(f"q[{c}] = {self.value(k, f'p[{a}]', f'q[{c}]')};"),
            lambda: self.single(f"p[{d}] = {self.value(k, f'p[{a}]', f'p[{d}]')};"),
            lambda: self.loop(b + 1, f"q[i] = {self.value(k, f'p[{a}]', 'q[i]')};", first=b),
            lambda: self.whole(k, "q", n),
            lambda: self.loop(n - 1, f"r[i] = {self.value(k, 'r[i]', 'p[i]')};"),
            lambda: self.loop(n, f"q[i] = {self.value(k, f'p[{a}]', 'q[i]')};"),
            lambda: self.loop(n - 1, f"p[i + 1] = {self.value(k, 'p[i + 1]', 'q[i]')};"),
        ]
        chosen = self.r.choices(steps, k=self.r.randint(3, 5))
        if self.r.random() < 0.4:  # on every rank, then on one, then used
            chosen = [steps[0], steps[2], steps[self.r.choice([3, 5, 8])]]
        return [line for make in chosen for line in make()]

    def shifted(self, k, n):
        """Reads at other offsets of what was just written, written through the own tile."""
        lines = []
        names = ["p", "q", "r"]
        for _ in range(self.r.randint(3, 5)):
            self.r.shuffle(names)
            a, b, c = names
            o, w = self.r.choice([0, 0, 1, 2, 3]), self.r.choice([0, 0, 0, 1])
            terms = [f"{b}[i{f' + {o}' if o else ''}]"]
            if self.r.random() < 0.4:
                terms.append(f"{c}[{self.r.choice(['i', f'{n} - 1 - i', f'i / 2'])}]")
            if self.r.random() < 0.4:
                terms.append(f"{a}[i{' + 1' if w else ''}]")
            lines += self.loop(n - max(o, w), f"{a}[i{' + 1' if w else ''}] = {self.value(k, *terms)};") + self.stay()
        return lines

    def every_other(self, k, n):
        """Written twice through one box: every other element, then all; the rest is read somewhere else."""
        h = n // 2
        o = self.r.choice([1, 1, 3, 0])
        lines = self.loop(h, f"p[2 * i] = {self.value(k, 'p[2 * i]', self.own_scalar(k))};")
        lines += self.loop(2 * h - 1, f"p[i] = {self.value(k, 'p[i]', self.own_scalar(k))};")
        return lines + self.loop((n - o + 1) // 2, f"q[i] = {self.value(k, 'q[i]', f'p[2 * i + {o}]')};")

    # -- nests

    def moved(self, k, n):
        """The last loop could join the first one, but for what the loop between them writes or reads."""
        s = self.own_scalar(k)
        d = self.r.choice([-2, -1, -1, 0, 1, 1, 2])
        m = n - self.r.choice([0, 0, 1, 2, 3])
        lo, hi = max(0, d), min(n, m + d)  # what the last loop reads of p
        at = min(n - 1, max(0, self.r.choice([lo, hi - 1, hi - 1, hi - 1, hi, lo - 1, self.edge(n)])))
        long = self.r.choice([1, 1, 2, 3])
        at = min(at, n - long)
        name = self.r.choice(["q", "q", "r"])
        off = f"i + {d}" if d > 0 else f"i - {-d}" if d else "i"
        read = f"p[{off}]"
        if m + d > n or d < 0 or self.r.random() < 0.3:
            tests = ([self.not_below(off)] if d < 0 else []) + ([self.below(off, n)] if m + d > n or d >= 0 else [])
            read = f"({' && '.join(tests)} ? {read} : 1)"
        between = f"p[i + {at}] = {self.value(k, f'p[i + {at}]', s, 'i')};"
        lines = self.loop(m, f"{name}[i] = {self.value(k, f'{name}[i]', s)};")
        lines += self.loop(long, between) if self.r.random() < 0.8 else self.single(f"p[{at}] = {self.value(k, s, f'p[{at}]')};")
        if self.r.random() < 0.3:
            lines += self.loop(long, f"r[i] = {self.value(k, 'q[i]', 'r[i]')};")
        return lines + self.loop(m, f"q[i] = {self.value(k, 'q[i]', read)};")

    def wrapped(self, k, n):
        """A condition that lets a subscript run over the end of a row."""
        w = self.r.choice([2, 3, 4])
        h = n // w
        t, lines = f"t{self.fresh()}", []
        up = self.r.random() < 0.5
        lines = [f"{k} *{t} = malloc({h * w} * sizeof *{t});", f"#pragma cofuse store({t}[0:{h}][0:{w}])"]
        lines += self.loop2(h, w, f"{t}[i * {w} + j] = {self.value(k, f'p[i * {w} + j]')};")
        read = f"i * {w} + j + 1 < {h * w} ? {t}[i * {w} + j + 1] : 1" if up else f"i * {w} + j - 1 >= 0 ? {t}[i * {w} + j - 1] : 1"
        own = f"q[i * {w} + j]"
        lines += self.stay() + self.loop2(h, w, f"{own} = {self.value(k, own, self.own_scalar(k))};")
        lines += self.loop(h, f"{t}[i * {w}{'' if up else f' + {w - 1}'}] = {self.value(k, 'p[i]', 'i')};")
        return lines + self.loop2(h, w, f"{own} = {self.value(k, own, read)};") + [f"free({t});"]

    def odd_rows(self, k, n):
        """Every other element of rows of odd length: what follows the last one is the first of the next row."""
        w, h = self.r.choice([5, 5, 7]), self.r.randint(3, 8)
        t, u = f"t{self.fresh()}", f"u{self.fresh()}"
        lines = [f"{k} *{t} = malloc({h * w} * sizeof *{t}), *{u} = calloc({h * w}, sizeof *{u});",
                 f"for (int q = 0; q < {h * w}; q++) {t}[q] = q % 17;", f"#pragma cofuse store({t}[0:{h}][0:{w}], {u}[0:{h}][0:{w}])"]
        own, m = f"[i * {w} + 2 * j]", (w + 1) // 2
        pair = [self.loop2(h - 1, m, f"{t}{own} = {self.value(k, 'j', self.own_scalar(k))};"),
                self.loop2(h - 1, m, f"{u}{own} = {self.value(k, f'{t}[i * {w} + 2 * j + 1]', 'i')};")]
        self.r.shuffle(pair)
        if self.r.random() < 0.4:  # of itself: iterations depend on each other
            pair = [self.loop2(h - 1, m, f"{t}{own} = {self.value(k, f'{t}[i * {w} + 2 * j + 1]', 'i')};"), []]
        return lines + pair[0] + pair[1] + self.loop(min(h * w, n), f"q[i] = {self.value(k, f'{u}[i]', f'{t}[i]')};") + [f"free({t}), free({u});"]

    def reach(self, k, n):
        """An inner loop reaches elements of other iterations."""
        m, off = self.r.choice([1, 2, 3]), self.r.choice([0, 0, 1])
        trips = n - m - off
        first = self.loop(trips if self.r.random() < 0.8 else n, f"p[i] = {self.value(k, 'p[i]', self.own_scalar(k))};")
        zero = "acc = acc / 2 +" if is_float(k) else "acc ^="
        inner = self.r.choice([f"for (int c = 0; c < {m}; c++)", f"for (int c = {m}; c-- > 0;)", f"for (int c = 0; c <= {m}; c++)"])
        second = self.loop(trips, f"{k} acc = 0;", inner, f"  {zero} p[i + c{f' + {off}' if off else ''}];", f"q[i] = acc;")
        return first + second if self.r.random() < 0.7 else second + first

    def pieces(self, k, n):
        """Pieces of p, each for one element of q; some lie across the end of a tile."""
        w = self.r.choice([2, 3, 3])
        zero = "acc = acc / 2 +" if is_float(k) else "acc ^="
        own = self.r.choice([f"i * {w}", f"i * {w}", f"i * {w} + 1", "i"])
        return self.whole(k, "p", n) + self.stay() + \
            self.loop(n // w, f"{k} acc = 0;", f"for (int c = 0; c < {w}; c++)", f"  {zero} p[i * {w} + c];", f"q[{own}] = acc;")

    def crossed(self, k, n):
        """Two loops over the same elements in another order, or over every other one."""
        m = n // 2
        a, b = self.r.choice([("i", "2 * i"), ("2 * i", "i"), ("i", f"{m - 1} - i"), ("2 * i", "2 * i + 1"), ("2 * i", "2 * i"),
                              ("i", f"i + {n - m}"), ("i", "i / 2"), ("2 * i + 1", "2 * i")])
        if self.r.random() < 0.3:
            h, w = 2, n // 2
            if self.r.random() < 0.5:
                return self.loop2(h, w, f"p[i * {w} + j] = {self.value(k, f'p[i * {w} + j]', 'j')};") + \
                    self.loop2(h, w, f"q[i * {w} + j] = {self.value(k, f'q[i * {w} + j]', f'p[j * {h} + i]')};")
            return self.loop2(h, w, f"r[j] = {self.value(k, 'q[i]', 'i')};")
        return self.loop(m, f"p[{a}] = {self.value(k, f'p[{a}]', 'i')};") + \
            self.loop(m, f"q[i] = {self.value(k, 'q[i]', f'p[{b}]')};")

    # -- temporaries

    def maybe(self, k, n):
        """A temporary with contents, written under a condition or in part."""
        t, lines = self.fresh_array(k, n, True)
        h, s = n // 2, self.own_scalar(k)
        if self.r.random() < 0.6:  # p and q have tiles, which the temporary follows
            lines = self.whole(k, "p", n) + self.whole(k, "q", n) + ["#pragma cofuse flush"] + lines
        f = self.r.random()
        if f < 0.4:
            lines += self.loop(n, f"if ({self.r.choice(['i % 3 == 1', 'p[i] > 3', 'i & 1'])})", f"  {t}[i] = {self.value(k, 'p[i]', 'i')};")
            lines += self.loop(n, f"q[i] = {self.value(k, 'q[i]', f'{t}[i]')};")
        elif f < 0.5:
            lines += self.loop(n, f"{t}[i] = {self.value(k, f'{t}[i]', 'i')};")
            lines += self.loop(n, f"q[i] = {self.value(k, 'q[i]', f'{t}[i]')};")
        else:
            a, b = self.r.choice([("i", f"i + {h}"), ("i", f"i + {h}"), (f"i + {h}", "i"), ("2 * i", "2 * i + 1"), ("2 * i + 1", "2 * i"),
                                  ("2 * i", "2 * i"), ("i", "2 * i")])
            own = "2 * i" if "*" in a else "i"
            lines += self.loop(h, f"{t}[{a}] = {self.value(k, f'p[{own}]', s)};")
            lines += self.loop(h, f"q[{own}] = {self.value(k, f'q[{own}]', f'{t}[{b}]')};")
        return lines + [f"free({t});"]

    def later(self, k, n):
        """A temporary that is used once more: in another group, in another nest, at another element."""
        t, lines = self.fresh_array(k, n, self.r.random() < 0.3)
        s = self.own_scalar(k)
        lines += self.loop(n, f"{t}[i] = {self.value(k, 'p[i]', s)};") + self.loop(n, f"q[i] = {self.value(k, 'q[i]', f'{t}[i]')};")
        f = self.r.random()
        if f < 0.5:  # ends the group
            lines += self.r.choice([
                self.loop(n - 1, f"r[i] = {self.value(k, 'r[i]', 'q[i + 1]')};", first=1),
                self.loop(n - 1, f"p[i] = {self.value(k, 'p[i]', 'q[i + 1]')};"),
                self.single(f"z0 = 0.5 * z0 + 0.001 * (double)(q[{self.edge(n)}] > 1);")])
        o, m = self.r.choice([(0, n), (0, n), (0, n - 1), (1, n - 1), (0, n // 2)])
        lines += self.loop(m, f"r[i] = {self.value(k, 'r[i]', f'{t}[i + {o}]' if o else f'{t}[i]')};")
        if self.r.random() < 0.3:
            lines += self.single(f"zl += (uint64_t)({self.as_int((f'{t}[{self.edge(n)}]', k))[0]});")
        return lines + [f"free({t});"]

    def members(self, k, n):
        """A temporary of structs, some of whose members are written."""
        t = f"t{self.fresh()}"
        lines = [f"struct cell *{t} = calloc({n}, sizeof *{t});",
                 f"for (int q = 0; q < {n}; q++) {t}[q].x = q % 11 * 0.25, {t}[q].y = q % 7, {t}[q].k = q, {t}[q].t = q % 5;",
                 f"#pragma cofuse store({t}[0:{n}])"]

        def write(m, when=""):
            if is_float(CELL[m]):
                return self.loop(n, f"{when}{t}[i].{m} = {'0.5 * p[i]' if is_float(k) else '0.25 * (i & 15)'};")
            return self.loop(n, f"{when}{t}[i].{m} = {self.as_int(('p[i]', k))[0]} & 63;")

        def read(*ms):
            terms = [f"{t}[i].{m}" if is_float(k) else self.as_int((f"{t}[i].{m}", CELL[m]))[0] for m in ms]
            return self.loop(n, f"q[i] = {self.value(k, 'q[i]', *terms)};")

        f = self.r.random()
        a, b, c = self.r.sample("xykt", 3)
        if f < 0.3:
            lines += write(a) + read(self.r.choice([a, b]), b)
        elif f < 0.35:
            lines += write(a) + write(b, self.r.choice(["", "if (i & 1) "])) + read(a, b)
        elif f < 0.45:
            half = f"0.5 * {t}[i].{b} + 1" if is_float(CELL[b]) else f"{t}[i].{b} / 2 + 1"
            lines += write(a) + self.loop(n, f"{t}[i].{b} = {half};") + read(b, a)
        elif f < 0.55:
            lines += self.loop(n, f"{t}[i].{a} = i & 7;", f"q[i] = {self.value(k, 'q[i]', f'({t}[i].{b} > 2)')};") + read(a)
        elif f < 0.85:
            at = {"x": [0, 3, 6], "y": [8, 9], "k": [12, 14], "t": [16]}[a]
            byte = self.r.choice([*at, *at, 20])
            lines += write(a) + self.loop(n, f"((unsigned char *){t})[i * 24 + {byte}] = i & 63;") + \
                ([self.show_member(t, a, n)] if a in "xy" else read(a))
        elif f < 0.93:  # memory from malloc takes the type of what is written last
            m, other = self.r.choice([("x", f"((int64_t *){t})[i * 3]"), ("y", f"((int32_t *){t})[i * 6 + 2]")])
            lines += write(m) + self.loop(n, f"{other} = i & 63;") + self.loop(n, f"q[i] = {self.value(k, 'q[i]', f'({other} & 31)')};")
        else:
            lines += write(a) + read(a) + write(c) + read(c, a)
        return lines + [f"free({t});"]

    def show_member(self, t, m, n):
        """Punned floats may hold any bits: their sign goes on."""
        return f"for (int q = 0; q < {n}; q++) su = su * 5u + ({t}[q].{m} > 0.5);"

    def neighbours(self, k, n):
        """Members of structs written, and read of the neighbour."""
        t = f"t{self.fresh()}"
        lines = [f"struct cell *{t} = calloc({n}, sizeof *{t});", f"#pragma cofuse store({t}[0:{n}])"]

        def read(text, kind, m):
            return self.loop(m, f"q[i] = {self.value(k, 'q[i]', text if is_float(k) else self.as_int((text, kind))[0])};")

        value = "0.5 * p[i]" if is_float(k) else "(i * 7 + su) & 31"
        if self.r.random() < 0.5:
            a, b = self.r.choice([("y", "k"), ("y", "k"), ("k", "y"), ("x", "y"), ("k", "t")])
            o = self.r.choice([0, 1, 1])
            lines += self.loop(n, f"{t}[i].{a} = {value if is_float(CELL[a]) else 'i & 7'};") + \
                self.loop(n, f"{t}[i].{b} = {value if is_float(CELL[b]) else 'i & 15'};")
            lines += read(f"{t}[i + {o}].{b}", CELL[b], n - o)
        else:
            byte = self.r.choice([0, 0, 3])
            lines += self.loop(n, f"((unsigned char *){t})[i * 24{f' + {byte}' if byte else ''}] = i & 63;") + \
                self.loop(n, f"{t}[i].x = {value};") + \
                read(f"((unsigned char *){t})[i * 24 + {24 + self.r.choice([6, 7, 5])}]", "uint8_t", n - 1)
        return lines + [f"free({t});"]

    def slanted(self, k, n):
        """A column and the diagonal of a temporary: the same only in the first iteration."""
        h = self.r.choice([2, 2, 3, 4])
        while h * h > n:
            h -= 1
        w = n // h
        t = f"t{self.fresh()}"
        a, b = self.r.choice([(f"i * {w}", f"i * {w} + i"), (f"i * {w} + i", f"i * {w}"), (f"i * {w} + i", f"i * {w} + i")])
        return [f"{k} *{t} = malloc({h * w} * sizeof *{t});", f"for (int q = 0; q < {h * w}; q++) {t}[q] = q % 13;",
                f"#pragma cofuse store({t}[0:{h}][0:{w}])"] + \
            self.loop(h, f"{t}[{a}] = {self.value(k, 'p[i]', self.own_scalar(k))};") + \
            self.loop(h, f"q[i] = {self.value(k, 'q[i]', f'{t}[{b}]')};") + [f"free({t});"]

    def two_names(self, k, n):
        """An element read and written in one loop through two pointers."""
        t, lines = self.fresh_array(k, n, True)
        body = [f"q[i] = {self.value(k, 'q[i]', f'{t}[i]')};", f"w[i] = {self.value(k, 'p[i]', self.own_scalar(k))};"]
        self.r.shuffle(body)
        f = self.r.random()
        if f < 0.2:
            body = [f"w[i] = {self.value(k, f'{t}[i]', 'p[i]')};"]
        elif f < 0.7:  # written before the read in some iterations, and after it in all
            body = ["if (i % 3 == 1)", f"  w[i] = i & 7;", f"q[i] = {self.value(k, 'q[i]', f'{t}[i]')};", body[-1] if "w[i]" in body[-1] else body[0]]
        lines += [f"{k} *w = {t};"] + self.loop(n, *body)
        return lines + self.loop(n, f"r[i] = {self.value(k, 'r[i]', f'{t}[i]')};") + [f"free({t});"]

    # -- ranks

    def one_row(self, k, n):
        """A reduction over what one rank has."""
        a = self.edge(n)
        return self.whole(k, "p", n) + self.loop(a + 1, f"p[i] = {self.value(k, 'p[i]', 'q[i]')};",
                                                 f"zu += (uint32_t)({self.as_int(('p[i]', k))[0]});", first=a,
                                                 clause=" reduction(+ : zu)") + self.whole(k, "q", n)

    def both(self, k, n):
        """Two arrays whose tiles cannot both be followed, so that every rank writes all; then neighbours."""
        m, s = n - self.r.choice([0, 0, 1, 2]), self.own_scalar(k)
        lines = self.whole(k, "p", n) + self.whole(k, "q", n) + self.r.choice([[], ["#pragma cofuse flush"], ["#pragma cofuse flush"]])
        f, o, hi = self.r.random(), 0, m
        if f < 0.3:
            o = self.r.choice([0, 0, n - m])
            when = self.r.choice(["", "", "if (i % 3 == 1) "])
            lines += self.loop(m, f"{when}p[i{f' + {o}' if o else ''}] = {self.value(k, 'i', s)};", f"q[{m - 1} - i] = {self.value(k, 'i', s)};")
            hi = m + o
        elif f < 0.6:
            w = self.r.choice([2, 3])
            lines += self.loop2(m // w, w - 1, f"p[i * {w} + j] = {self.value(k, 'i', s)};", f"q[{m - 1} - i * {w} - j] = {self.value(k, 'j', 'i')};")
            hi = m // w * w - 1
        elif f < 0.72:
            lines += self.loop(m // 2, f"p[2 * i] = {self.value(k, 'i', s)};", f"q[{m - 1} - i] = i & 7;")
            hi = m // 2 * 2 - 1
        else:
            lines += self.loop(m // 2, f"p[i + {n - m // 2}] = {self.value(k, 'i', s)};", f"q[{m - 1} - i] = i & 7;")
            hi = n
        d, end = self.r.choice([1, 1, 2]), self.r.choice([n, hi, hi])
        return lines + self.loop(end - d, f"r[i] = {self.value(k, 'r[i]', f'p[i + {d}]', 'p[i]')};")

    def both_members(self, k, n):
        """One member written on every rank, another one read of the neighbour."""
        t, u = f"t{self.fresh()}", f"u{self.fresh()}"
        a, b = self.r.choice([("x", "y"), ("y", "x"), ("x", "x"), ("k", "x")])
        lines = [f"struct cell *{v} = calloc({n}, sizeof *{v});" for v in (t, u)] + \
            [f"#pragma cofuse store({t}[0:{n}], {u}[0:{n}])"] + self.loop(n, f"{t}[i].{b} = (i * 5 + su) & 15;") + ["#pragma cofuse flush"]
        lines += self.loop(n, f"{t}[i].{a} = i & 7;", f"{u}[{n - 1} - i].{a} = i & 3;")
        read = f"{t}[i + 1].{b}" if is_float(k) else self.as_int((f"{t}[i + 1].{b}", CELL[b]))[0]
        return lines + self.loop(n - 1, f"q[i] = {self.value(k, 'q[i]', read)};") + [f"free({t}), free({u});"]

    def stencil(self, k, n):
        """Neighbours on both sides, in any order, in one loop or several."""
        lines = self.whole(k, "p", n) + self.stay()
        for own in self.r.choice([["q"], ["q", "r"], ["r", "q"]]):
            ds = self.r.sample([-2, -1, -1, 0, 1, 1, 2], self.r.choice([1, 2, 3]))
            lines += self.loop(n - 2, f"{own}[i] = {self.value(k, *(f'p[i + {d}]' if d >= 0 else f'p[i - {-d}]' for d in ds))};", first=2)
        return lines

    # -- the host

    def peek(self, k, n):
        """Elements read and written between launches."""
        lines = []
        for _ in range(self.r.randint(2, 4)):
            name = self.r.choice("pqr")
            other = self.r.choice([x for x in "pqr" if x != name])
            o = self.r.choice([0, 0, 1])
            lines += self.loop(n - o, f"{name}[i] = {self.value(k, f'{other}[i + {o}]', self.own_scalar(k))};")
            f, e, g = self.r.random(), self.edge(n), self.edge(n)
            x = self.r.choice("pqr")
            if f < 0.3:
                lines.append(f"{x}[{e}] = {self.r.choice(['1', '3'])};")
            elif f < 0.5:
                lines.append(f"s1 = 0.5 * s1 + 0.001 * (double){x}[{e}];")
            elif f < 0.6:
                lines.append(f"{x}[{e}] = {x}[{g}];")
            elif f < 0.7:
                lines.append(f"for (int i = {min(e, g)}; i < {max(e, g)}; i++) {x}[i] = i & 7;")
            elif f < 0.8:
                lines.append(f"for (int i = {min(e, g)}; i < {max(e, g)}; i++) s1 = 0.75 * s1 + 0.001 * (double){x}[i];")
        return lines

    def reused(self, k, n):
        """Memory that comes back while tasks on it were pending."""
        t, lines = self.fresh_array(k, n)
        s = self.own_scalar(k)
        lines += self.loop(n, f"{t}[i] = {self.value(k, 'p[i]', s)};") + \
            self.loop(n, f"q[i] = {self.value(k, 'q[i]', f'{t}[{n} - 1 - i]' if self.r.random() < 0.5 else f'{t}[i]')};")
        lines += [f"free({t});"]
        u, more = self.fresh_array(k, n, self.r.random() < 0.7)
        if self.r.random() < 0.3:
            more = [l for l in more if not l.startswith("#")]
        if not any("for (" in l for l in more):
            more += self.loop(n, f"{u}[i] = i & 7;")
        return lines + more + self.loop(n, f"r[i] = {self.value(k, 'r[i]', f'{u}[i]')};") + [f"free({u});"]

    def captured(self, k, n):
        """Memory that is no store changes after the launch."""
        u = f"u{self.fresh()}"
        fill = f"for (int q = 0; q < {n}; q++) {u}[q] = (q * {{}} + 3) % 31;"
        return [f"{k} {u}[{n}];", fill.format(5)] + self.loop(n, f"p[i] = {self.value(k, 'p[i]', f'{u}[i]')};") + \
            [self.r.choice([fill.format(7), f"{u}[{self.edge(n)}] = 9;"])] + \
            self.loop(n, f"q[i] = {self.value(k, f'{u}[i]', f'{u}[{self.edge(n)}]')};") + [fill.format(11)]

    def released(self, k, n):
        """A store that ends while tasks on it are pending; its memory goes on."""
        t, lines = self.fresh_array(k, n)
        s = self.own_scalar(k)
        lines += self.loop(n, f"{t}[i] = {self.value(k, 'p[i]', s)};")
        if self.r.random() < 0.6:
            lines += self.loop(n, f"q[i] = {self.value(k, 'q[i]', f'{t}[{n} - 1 - i]' if self.r.random() < 0.5 else f'{t}[i]')};")
        lines.append(f"#pragma cofuse release({t})")
        lines += self.loop(n, f"{t}[i] = {self.value(k, 'i', s)};")
        lines += [f"for (int q = 0; q < {n}; q++) s1 = 0.75 * s1 + 0.001 * (double){t}[q];"] if self.r.random() < 0.5 else []
        return lines + self.loop(n, f"r[i] = {self.value(k, 'r[i]', f'{t}[i]')};") + [f"free({t});"]

    # -- windows that look alike

    def sites(self, k, n):
        """Two loops with the same accesses take turns."""
        s = self.own_scalar(k)
        one = two = None
        while one == two:
            one, two = (self.loop(n, f"p[i] = {self.value(k, 'p[i]', 'q[i]', s)};") for _ in range(2))
        body = ["if (it % 2) {"] + [l if l.startswith("#") else "  " + l for l in one] + ["} else {"] + \
            [l if l.startswith("#") else "  " + l for l in two] + ["}"]
        return self.again(body)

    def opaque(self, k, n):
        """One loop over arrays of structs of two sizes."""
        t, u = f"t{self.fresh()}", f"u{self.fresh()}"
        n = max(n, 12)
        lines = ["{", f"  struct cell *{t} = calloc({n}, sizeof *{t});", f"  struct duo *{u} = (void *){t};", "  if (it % 2) {",
                 f"#pragma cofuse store({t}[0:{n}])", "  } else {", f"#pragma cofuse store({u}[0:{n}])", "  }",
                 f"  double_ramp({n // 3}, 1, 6, &{t}->x);"]
        lines += self.r.choice([[f"  double_copy({n // 3}, &{u}->x, &{t}->x + {self.r.choice([0, 6])});"], []])
        return self.again(lines + [f"  for (int q = 0; q < {n // 3}; q++) s1 = 0.75 * s1 + 0.001 * (&{t}->x)[q * 6];",
                                   f"  free({t});", "}"])
