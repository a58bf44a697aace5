# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs in the cofuse language. One seed gives one program, on every machine.

Every program is valid C without undefined behaviour, and every forall has independent iterations but for a few
that cofuse must find and run serially. All output is exact: sums are over integers or whole floats. A program is
a tree of statements, each of which may be taken out (shrink.py)."""

import random
import re

from loops import Loops
from model import Array, is_float, size_of
from templates import Templates

KINDS = ["double"] * 9 + ["float"] * 3 + ["uint32_t"] * 3 + ["int16_t"] * 2 + ["uint8_t", "uint8_t", "int32_t",
         "int64_t", "uint64_t", "int8_t", "uint16_t", "_Bool"]
POOLED = ("double", "float", "uint32_t", "int16_t")


class Node:
    """Lines of C, or a block around more nodes."""

    def __init__(self, lines, children=None, tail=()):
        self.lines, self.children, self.tail = lines, children, list(tail)

    def emit(self, depth, out):
        pad = "  " * depth
        out += [l if l.startswith("#") else pad + l for l in self.lines]
        if self.children is not None:
            for c in self.children:
                c.emit(depth + 1, out)
            out += [l if l.startswith("#") else pad + l for l in self.tail]


class Program(Loops, Templates):
    def __init__(self, seed):
        self.seed = seed
        self.r = random.Random(f"cofuse {seed}")
        self.count = self.bounds = 0
        self.views = None
        self.depth_of_loops = 0
        self.before, self.recent, self.consts = [], [], []
        self.scalars = [("s0", "double"), ("s1", "double"), ("s0", "double"), ("su", "uint32_t"), ("mx", "double"),
                        ("mi", "int64_t"), ("ds", "double"), ("it", "int32_t")]
        self.cells = [("z0", "double"), ("z0", "double"), ("zu", "uint32_t"), ("fz", "double"), ("zl", "uint64_t")]
        base = [self.r.choice([1, 2, 3, 4, 5, 6, 8, 9, 13, 17, 24]) for _ in range(3)]
        if self.r.random() < 0.2:
            base[self.r.randrange(2)] = self.r.randint(33, 47)
        self.base = base
        self.arrays = [self.array(f"a{i}") for i in range(self.r.randint(3, 6))]
        if seed % 3 == 1:
            self.arrays += self.alike(len(self.arrays))
        if self.r.random() < 0.12:
            n = base[0] + 2
            for f in "xykt":
                c = Array("c0", {"x": "double", "y": "float", "k": "int32_t", "t": "uint8_t"}[f], [n], field=f)
                self.arrays.append(c)
        self.blocks = self.layout()
        if self.r.random() < 0.25:
            self.consts.append(Array("row0", "int32_t", [base[0] + 2]))
        self.nodes = self.shaped() if seed % 3 == 1 else [self.statement(0) for _ in range(self.r.randint(3, 8))]
        self.silent = [a.name for a in self.arrays if self.r.random() < 0.05]
        self.late = self.r.random() < 0.5

    def array(self, name):
        kind = self.r.choice(KINDS)
        rank = self.r.choice([1, 1, 1, 1, 2, 2, 2, 3])
        ext = [b + self.r.choice([0, 0, 0, 1, 2]) for b in self.r.sample(self.base, rank)]
        if rank == 1:
            ext = [ext[0] * self.r.choice([1, 2, 3])]
        if rank == 3:
            ext = [min(e, 9) for e in ext]
        if self.r.random() < 0.03:
            ext[self.r.randrange(rank)] = 0
        if self.arrays_like and self.r.random() < 0.4:
            ext = self.r.choice(self.arrays_like)
            if self.r.random() < 0.6:
                kind = self.kind_like
        self.arrays_like.append(ext)
        self.kind_like = kind
        x = self.r.random()
        form = "flat"
        if x < 0.25 and len(ext) > 1 and all(ext[1:]):
            form = "rows"
        elif x < 0.35 and all(ext):
            form = "auto"
        return Array(name, kind, ext, form, "plain" if self.r.random() < 0.08 and form == "flat" else "store")

    arrays_like = kind_like = None

    def __new__(cls, *_):
        self = super().__new__(cls)
        self.arrays_like = []
        return self

    def alike(self, n):
        """Arrays of one type for templates.py, mostly of one length."""
        kind = self.r.choice(["double", "double", *POOLED])
        size = self.r.choice([8, 9, 12, 17, 24, 25, 40])
        return [Array(f"a{n + i}", kind, [size + self.r.choice([0, 0, 0, 1, 3])]) for i in range(3)]

    def shaped(self):
        """Mostly templates, with a few other statements in between."""
        nodes = []
        for _ in range(self.r.randint(4, 6)):
            lines = self.template()
            nodes.append(Node(lines) if lines else self.statement(1))
            if self.r.random() < 0.25:
                nodes.append(self.statement(1))
        return nodes

    def layout(self):
        """Which arrays share a block of memory: lists of (block, [array, offset])."""
        blocks, n = [], 0
        for a in self.arrays:
            if a.form == "auto" or a.field:
                continue
            bytes_ = a.size * size_of(a.kind)
            if blocks and self.r.random() < 0.15 and len(blocks[-1][1]) < 3:
                name, parts, end = blocks[-1]
                at = (end + self.r.choice([0, 8, 64]) + 63) // 8 * 8
                parts.append((a, at))
                blocks[-1] = (name, parts, at + bytes_)
            else:
                blocks.append((f"b{n}", [(a, 64)], 64 + bytes_))
                n += 1
        return blocks

    def note(self, a):
        self.recent = [a.key()] + self.recent[:1]

    # -- statements

    def statement(self, depth):
        x = self.r.random()
        if self.depth_of_loops < 2 and depth < 3 and x < 0.10:
            it = ["it", "it1"][self.depth_of_loops]
            self.depth_of_loops += 1
            body = [self.statement(depth + 1) for _ in range(self.r.randint(1, 4))]
            self.depth_of_loops -= 1
            return Node([f"for ({it} = 0; {it} < {self.r.choice([2, 3, 3, 5, 9])}; {it}++) {{"], body, ["}"])
        if depth < 3 and x < 0.24:
            return self.temporary(depth)
        if depth < 2 and x < 0.27:
            return Node([f"if ({self.host_test()}) {{"], [self.statement(depth + 1) for _ in range(self.r.randint(1, 2))],
                        ["}"])
        if depth < 2 and x < 0.30:
            return self.automatic(depth)
        if any(a.size and not a.field for a in self.arrays) and self.r.random() < 0.12:
            return Node([], [Node(lines) for lines in self.family()])
        if self.depth_of_loops == 0 and self.r.random() < 0.09:
            return self.alternating()
        if self.depth_of_loops == 0 and self.r.random() < 0.08:
            lines = self.template()
            if lines:
                return Node(lines)
        if self.r.random() < 0.012:
            return self.punned()
        x = self.r.random()
        if x < 0.52:
            return Node(self.elementwise())
        if x < 0.62:
            return Node(self.reduction() if any(a.size for a in self.arrays) else self.elementwise())
        if x < 0.72:
            return Node(self.pool_call() or self.elementwise())
        if x < 0.82:
            return Node(self.host())
        if x < 0.88:
            return Node(self.task())
        if x < 0.91:
            return Node(self.scalar())
        if x < 0.935:
            return Node(self.carried())
        if x < 0.955:
            return Node(self.swap() or self.elementwise())
        if x < 0.97:
            return Node(self.restore() or self.elementwise())
        if x < 0.985:
            return Node(self.r.choice([["#pragma cofuse flush"], self.flush_in_turn()]))
        return Node([f'show_value("s0", s0), show_value("z0", z0), show_value("su", su);'])

    @staticmethod
    def flush_in_turn():
        return ["if (it % 2) {", "#pragma cofuse flush", "}"]

    def cover(self, a):
        """Lines that write every element."""
        loops = self.loops_for(a.extents)
        for l in loops:
            l.frozen = True
        value = self.expression(a.kind, loops, {a.key()})
        body = [f"{a.at([l.name + (f' + {-l.lo}' if l.lo < 0 else f' - {l.lo}' if l.lo else '') for l in loops])} = {value};"]
        self.note(a)
        return self.nest(loops, body, exact=True)

    def host_fill(self, a, salt):
        f = " * 0.03125" if is_float(a.kind) else ""
        target = a.at(["q"]) if a.field else f"{a.flat}[q]"
        return f"for (int q = 0; q < {a.size}; q++) {target} = (q * 37 + {salt * 11}) % 101{f};"

    def temporary(self, depth):
        """Arrays that live for a few statements; freed while tasks on them may be pending."""
        like = [a for a in self.arrays if a.size and not a.field] or [Array("x", "double", [7])]
        n = self.r.choice([1, 1, 1, 2])
        new, head, tail = [], ["{"], []
        for _ in range(n):
            l = self.r.choice(like)
            kind = l.kind if self.r.random() < 0.6 else self.r.choice(KINDS)
            ext = [max(1, e - self.r.choice([0, 0, 0, 1, 2])) for e in l.extents]
            new.append(Array(f"t{self.fresh()}", kind, ext))
        if n == 2 and self.r.random() < 0.3:
            x, y = new
            at = (x.size * size_of(x.kind) + 63) // 64 * 64
            head.append(f"  {x.kind} *{x.name} = malloc({at + y.size * size_of(y.kind)});")
            head.append(f"  {y.kind} *{y.name} = (void *)((char *){x.name} + {at});")
            tail = [f"  free({x.name});"]
        elif self.r.random() < 0.3:
            for t in new:
                bytes_ = t.size * size_of(t.kind)
                head.append(f"  char *m_{t.name} = block_new({bytes_});")
                head.append(f"  {t.kind} *{t.name} = (void *)(m_{t.name} + BAND);")
                tail.append(f'  band("{t.name}", m_{t.name}, 0, BAND), band("{t.name}", m_{t.name}, '
                            f"{bytes_} + BAND, {bytes_} + 2 * BAND);")
                tail.append(f"  free(m_{t.name});")
        else:
            for t in new:
                head.append(f"  {t.kind} *{t.name} = malloc({t.size} * sizeof *{t.name});")
                tail.append(f"  free({t.name});")
        first = []
        for t in new:
            kept = self.r.random() < 0.25
            if kept:
                first.append("  " + self.host_fill(t, self.count))
            first.append("#pragma cofuse store(" + t.sections() + ")" + ("" if kept else self.r.choice(["", " undefined"])))
        for t in new:
            if not any(t.name in line for line in first if "for (" in line):
                cover = self.cover(t)
                first += cover
                self.arrays.append(t)
            else:
                self.arrays.append(t)
        self.recent = [t.key() for t in new]
        body = []
        if kept and len(new[-1].extents) == 1 and new[-1].size > 3:
            body += [Node(lines) for lines in self.pair(new[-1])]
        for i in range(self.r.choice([1, 2, 2, 3, 4])):
            self.recent = [t.key() for t in new] if self.r.random() < 0.7 else self.recent
            if self.r.random() < 0.25:
                body += [Node(lines) for lines in self.family()]
            elif i == 0 and self.r.random() < 0.7 or self.r.random() < 0.4:
                body.append(Node(self.elementwise()))
            else:
                body.append(self.statement(depth + 1))
        if self.r.random() < 0.2:
            body.append(Node(self.flush_in_turn()))
        for t in new:
            self.arrays.remove(t)
        self.recent = []
        return Node(head + first, body, tail + ["}"])

    def alternating(self):
        """The same windows again and again, but for one argument or another."""
        calls = [c for c in (self.pool_call(True) for _ in range(self.r.choice([1, 1, 2, 3]))) if c]
        a = self.some()
        if not calls or not a:
            return Node(self.elementwise())
        end = self.r.choice([["#pragma cofuse flush"], [f"s1 = 0.5 * s1 + 0.001 * {self.element(a)};"], self.flush_in_turn()])
        if self.r.random() < 0.2 and any(x.name[0] == "a" for x in self.arrays):
            back = self.restore()
            calls += [back] if back and self.r.random() < 0.7 else []
        return Node([f"for (it = 0; it < {self.r.choice([4, 5, 6])}; it++) {{"], [Node(c) for c in calls] + [Node(end)], ["}"])

    def punned(self):
        """Bytes of a temporary written as a member and as characters."""
        pool = [a for a in self.arrays if a.kind == "double" and a.size > 1 and a.form == "flat"]
        a = self.r.choice(pool) if pool else Array("a0", "double", [1])
        if not pool:
            return Node(["s0 = 0.5;"])
        n, t, head = a.size, f"t{self.fresh()}", f"for (int i = 0; i < {a.size}; i++)"
        b = a.view([n]).at(["i"])
        return Node(["{", f"  struct cell *{t} = malloc({n} * sizeof *{t});", f"#pragma cofuse store({t}[0:{n}]) undefined",
                     "#pragma cofuse forall", "  " + head, f"    {t}[i].x = 0.5 * {b};", "#pragma cofuse forall", "  " + head,
                     f"    ((unsigned char *){t})[i * 24 + {self.r.choice([0, 3, 6, 20])}] = i & 63;", "#pragma cofuse forall",
                     "  " + head, f"    {b} = {t}[i].x;", f"  free({t});", "}"])

    def pair(self, t):
        """One task writes some elements of a temporary, the next reads others, in the same loop."""
        pool = [a for a in self.arrays if len(a.extents) == 1 and a.size >= t.size // 2 and a.own != t.own and not a.field]
        if not pool:
            return []
        b, h = self.r.choice(pool), t.size // 2
        own, other = self.r.choice([("2 * i", "2 * i + 1"), ("i", f"i + {h}"), ("2 * i", "2 * i"), (f"i + {h}", "i")])
        head = f"for (int i = 0; i < {h}; i++)"
        when = self.r.choice(["", "", "if (i % 3 == 1) ", f"if ({self.element(b)} > i) "])
        return [["#pragma cofuse forall", head, f"  {when}{t.at([own])} = i & 3;"],
                ["#pragma cofuse forall", head, f"  {b.at(['i'])} = {self.as_int((t.at([other]), t.kind))[0]};"]]

    def automatic(self, depth):
        """An automatic array in a block."""
        t = Array(f"v{self.fresh()}x", self.r.choice(KINDS), [self.r.choice([1, 3, 7, 12, 30])], "auto")
        head = ["{", f"  {t.kind} {t.name}[{t.size}];", "  " + self.host_fill(t, self.count)]
        if self.r.random() < 0.85:
            head.append(f"#pragma cofuse store({t.name})")
        self.arrays.append(t)
        self.recent = [t.key()]
        body = [self.statement(depth + 1) for _ in range(self.r.randint(1, 3))]
        self.arrays.remove(t)
        self.recent = []
        tail = [f"  s1 = 0.5 * s1 + {t.name}[{self.r.randrange(t.size)}] * 0.01;"] if self.r.random() < 0.6 else []
        return Node(head, body, tail + ["}"])

    def element(self, a):
        if a.form == "rows" or (a.form == "auto" and len(a.extents) > 1):
            return a.at([str(self.r.randrange(e)) for e in a.extents])
        return a.at([str(self.r.randrange(a.size))] if len(a.extents) == 1 else
                    [str(self.r.randrange(e)) for e in a.extents])

    def some(self):
        pool = [a for a in self.arrays if a.size]
        return self.r.choice(pool) if pool else None

    def host_test(self):
        a = self.some()
        return f"{self.element(a)} > 1" if a and self.r.random() < 0.6 else self.r.choice(
            ["s0 > 0.5", "su & 1", "z0 > 1", "it % 2 == 0", "zu > 7"])

    def host(self):
        a, b = self.some(), self.some()
        if not a:
            return ["s0 = 0.75;"]
        x = self.r.random()
        n = a.size
        if x < 0.2:
            v = self.element(b)
            return [f"{self.element(a)} = {self.as_int((v, b.kind))[0] if is_float(b.kind) and not is_float(a.kind) else v};"]
        if x < 0.3:
            return [f"s1 = 0.5 * s1 + 0.001 * {self.element(a)};"]
        if x < 0.36:
            return [f"s0 = {self.element(a)} > 1 ? 0.25 : 1.25;"]
        if x < 0.42:
            return [f"if ({self.element(a)} > {self.element(b)}) {self.element(a)} = {self.r.choice(['1', '0', '3'])};"]
        if a.field:
            lo, hi = sorted([self.r.randrange(n + 1), self.r.randrange(n + 1)])
            f = " * 0.5" if is_float(a.kind) else " / 2"
            return [f"for (int q = {lo}; q < {hi}; q++) {a.at(['q'])} = {a.at(['q'])}{f};"]
        p, lo, hi = a.flat, *sorted([self.r.randrange(n + 1), self.r.randrange(n + 1)])
        if x < 0.62:
            last = min(hi, n - 1)
            f = f"0.5 * {p}[q + 1]" if is_float(a.kind) else f"{p}[q + 1]"
            return [self.r.choice([f"for (int q = {lo}; q < {last}; q++) {p}[q] = {f};",
                                   f"for (int q = {hi}; q-- > {lo};) {p}[q] = {p}[q]{' * 0.5' if is_float(a.kind) else ' / 2'};",
                                   f"for (int q = {lo}; q < {hi}; q += 3) {p}[q] = q & 7;"])]
        if x < 0.68:
            h = n // 2
            return [f"memcpy({p}, {p} + {n - h}, {h} * sizeof *{p});"]
        if x < 0.73 and n > 1:
            return [f"memmove({p} + 1, {p}, {n - 1} * sizeof *{p});"]
        if x < 0.78:
            return [f"memset({p} + {lo}, 0, {hi - lo} * sizeof *{p});"]
        if x < 0.9:
            same = [c for c in self.arrays if c.kind == a.kind and c.own != a.own and c.size and not c.field]
            if same:
                c = self.r.choice(same)
                return [f"memcpy({p}, {c.flat}, {min(n, c.size)} * sizeof *{p});"]
        if a.kind in POOLED:
            return [f"{a.kind}_set({p} + {self.r.randrange(n)}, {a.kind}_get({p} + {self.r.randrange(n)}));"]
        return [f"for (int q = {lo}; q < {hi}; q++) s1 = 0.75 * s1 + 0.125 * (double){p}[q] / (1.0 + fabs((double){p}[q]));"]

    def task(self):
        a = self.some()
        s = self.r.choice(["s0", "s1", "1.25", "0.125 * z0", "mx / (1.0 + fabs(mx))"])
        forms = [[f"z0 = 0.5 * z0 + {s};"], [f"z0 = 0.5 * z0 + {s};"], ["zu = zu * 3u + 1u;"], ["dz = 3;"], [f"fz = {s};"],
                 ["{", "  double t = 0.5 * z0;", f"  z0 = t + {s};", "  zu ^= 5u;", "  if (zu & 1)", "    fz = t;", "}"],
                 ["zl += zu;"]]
        if a:
            e = self.element(a)
            read = e if not is_float(a.kind) else f"{e} / (1.0 + fabs({e}))"
            forms += [[f"z0 = 0.5 * z0 + 0.01 * {read};"], [f"{e} = {'z0' if is_float(a.kind) else 'zu'};"],
                      [f"{e} = {self.element(a)};"]]
        return ["#pragma cofuse task"] + self.r.choice(forms)

    def scalar(self):
        return [self.r.choice(["s0 = 0.5 * s0 + 0.25;", "s1 = s0 - 1.0;", "su ^= 5u;", "mx = 0.5;", "mi = -3;", "s0 = 0.25 * z0;",
                               "z0 = 0.5 * s0;", "zu = su + 1u;", "ds = 1;", "fz = -1;", "so = 1; sa = ~0u;", "sl = 3;"])]

    def swap(self):
        pairs = [(a, b) for a in self.arrays for b in self.arrays
                 if a.name < b.name and a.kind == b.kind and a.extents == b.extents and a.form == b.form != "auto"
                 and not a.field and a.name[0] == b.name[0] == "a" and a.role == b.role]
        if not pairs:
            return None
        a, b = self.r.choice(pairs)
        return [f"{{ void *swap = {a.name}; {a.name} = {b.name}; {b.name} = swap; }}"]

    def restore(self):
        """Ends a store and makes it one again, of the same or another shape."""
        pool = [a for a in self.arrays if a.role == "store" and a.form == "flat" and not a.field and a.size and a.name[0] == "a"]
        if not pool:
            return None
        a = self.r.choice(pool)
        shape = self.r.choice([f"[0:{a.size}]", "".join(f"[0:{e}]" for e in a.extents),
                               "".join(f"[0:{e}]" for e in a.extents[::-1])])
        if self.r.random() < 0.4:
            return [f"#pragma cofuse store({a.name}{shape})"]
        if self.r.random() < 0.4:
            value = f"s1 = 0.5 * s1 + 0.01 * {self.element(a)};"
            plain = a.view([a.size])
            cover = ["#pragma cofuse forall", f"for (int i = 0; i < {a.size}; i++)", f"  {plain.at(['i'])} = i & 15;"]
            return [f"#pragma cofuse release({a.name})"] + cover + [value, f"#pragma cofuse store({a.name}{shape})"]
        return [f"#pragma cofuse release({a.name})", self.host_fill(a, 5), f"#pragma cofuse store({a.name}{shape})"]

    def pool_call(self, vary=None):
        pool = [a for a in self.arrays if a.size and a.kind in POOLED and not a.field]
        if not pool:
            return None
        d = self.r.choice(pool)
        same = [a for a in pool if a.kind == d.kind and (a is not d or self.r.random() < 0.4)] or [d]
        a, b = self.r.choice(same), self.r.choice(same)
        k, f = d.kind, self.r.randrange(15)
        n = min(d.size, a.size, b.size)
        od, oa, ob = (self.r.choice([0, 0, 0, 1, 2, x.size - n]) if x.size > n else 0 for x in (d, a, b))
        while max(od + n - d.size, oa + n - a.size, ob + n - b.size) > 0:
            n -= 1
        if n <= 0:
            return None
        if d is a and self.r.random() < 0.5 and n > 3:
            n, od, oa = n - 2, self.r.choice([0, 1, 2]), self.r.choice([0, 1, 2])
        vary = vary or self.r.random() < 0.5  # other arguments in every other iteration of a loop around
        turn = " + it % 2" if vary else ""

        def at(x, o, n=n):
            if vary and o + n < x.size and self.r.random() < 0.6:
                return f"{x.flat} + {o} + it % 2"
            return f"{x.flat} + {o}" if o else x.flat

        def pick(x, y, ox, oy):
            """Sometimes another array every other time."""
            if vary and self.r.random() < 0.3:
                return f"(it % 2 ? {x.flat} + {ox} : {y.flat} + {oy})"
            return at(x, ox)

        sc = {"double": "s0", "float": "(float)s0", "uint32_t": "su", "int16_t": "(int16_t)su"}[k]
        less = f"{n} - it % 2" if vary and n > 1 and self.r.random() < 0.4 else str(n)
        ob = min(ob, b.size - n)
        self.note(d)
        if f == 0:
            return [f"{k}_copy({less}, {at(d, od)}, {pick(a, b, oa, ob)});"]
        if f in (1, 2):
            return [f"{k}_mix({less}, {pick(d, a, od, oa)}, {pick(a, b, oa, ob)}, {at(b, ob)});"]
        if f == 3:
            return [f"{k}_axpy({less}, {at(d, od)}, {pick(a, b, oa, ob)}, {sc});"]
        if f == 4:
            return [f"{k}_three({less}, {at(d, od)}, {pick(a, b, oa, ob)});"]
        if f == 5:
            w = d.extents[-1] if self.r.random() < 0.6 else self.r.randint(1, 9)
            h = d.size // w
            if h:
                i, j = self.r.randrange(h), self.r.randrange(w)
                rows, cols = self.r.randint(0, h - i), self.r.randint(0, w - j)
                if vary and rows > 1 and w > 1:  # two leading dimensions in turn
                    return [f"{k}_fill({rows - 1 if rows > 2 else 1}, {min(cols, w - 1)}, {w} - it % 2, {d.flat} + {i * w}, {sc});"]
                return [f"{k}_fill({rows}, {cols}, {w}, {d.flat} + {i * w + j}, {sc});"]
        if f == 6 and len(d.extents) == 2 and a.size >= d.size:
            return [f"{k}_five({d.extents[0]}{' - it % 2' if vary else ''}, {d.extents[1]}, {d.extents[1]}, {d.flat}, {a.flat});"]
        if f == 7 and len(d.extents) == 2 and a.size >= d.size:
            return [f"{k}_trans({d.extents[0]}, {d.extents[1]}, {d.flat}, {a.flat});"]
        if f == 8:
            return [f"{k}_by({less}, {at(d, od)}, {self.r.choice(['&z0', '&s0']) if k == 'double' else '&zu' if k == 'uint32_t' else a.flat + f' + {self.r.randrange(a.size)}'});"]
        if f == 11:
            return [f"{k}_ramp({n}, {self.r.choice([1, 2])}{turn}, 1, {d.flat} + {od});"]
        if f == 12:
            m = d.extents[-1] if len(d.extents) > 1 else self.r.randint(1, 6)
            return [f"{k}_scan({d.size // m}, {m}, {d.flat});"]
        if f == 13:
            m = self.r.randint(1, 3)
            b = self.r.choice([a, a, d])
            return [f"{k}_gather({n - m}, {m}{turn}, {d.flat} + {od}, {b.flat} + {oa if b is a else od});"] if n > m else None
        if f == 14:
            h, w = self.r.randint(1, min(5, a.size)), self.r.randint(1, d.size)
            return [f"{k}_last({h}, {w}, {d.flat}, {a.flat});"]
        v = {"double": "mx", "float": "mf", "uint32_t": "su", "int16_t": "mh"}[k]
        if f == 9:
            return [f"{v} = {k}_{self.r.choice(['min', 'max'])}({n}, {at(d, od)}, {v});"]
        return [f"{k}_maxto({n}, {at(d, od)}, {'&fz' if k == 'double' else '&' + v});"]

    # -- text

    def text(self, nodes=None):
        """The function fuzz_<seed>. Arrays that no statement names are left out."""
        body = []
        for n in self.nodes if nodes is None else nodes:
            n.emit(1, body)
        used = set(re.findall(r"\b[abc]\d+\b|\brow0\b", "\n".join(body)))
        head, show, tail = [], [], []
        stores = ["z0", "zu", "zl", "fz", "dz"]
        fills = []
        for i, a in enumerate(self.arrays):
            if a.name not in used or (a.field and a.field != "x"):
                continue
            if a.form == "auto":
                head.append(f"{a.kind} {a.name}{''.join(f'[{e}]' for e in a.extents)};")
            if a.role == "store":
                stores.append(a.sections())
            if a.field:
                fills.append(f"for (int q = 0; q < {a.size}; q++) c0[q].x = q % 11 * 0.25, c0[q].y = q % 7, c0[q].k = q, c0[q].t = q % 5;")
                show.append(f'show_cells("c0", c0, {a.size});')
                head.append(f"struct cell *c0 = calloc({a.size}, sizeof *c0);")
                tail.append("free(c0);")
                continue
            fills.append(self.host_fill(a, i))
            if a.name not in self.silent:
                fn = {"double": f"show_double(\"{a.name}\", {a.flat}, {a.size});",
                      "float": f"show_float(\"{a.name}\", {a.flat}, {a.size});"}.get(a.kind)
                show.append(fn or f'show_bytes("{a.name}", {a.flat}, {a.size * size_of(a.kind)});')
        for name, parts, end in self.blocks:
            if not any(a.name in used for a, _ in parts):
                continue
            head.append(f"char *{name} = block_new({end} - BAND);")
            at = 0
            for a, off in parts:
                show.append(f'band("{a.name}", {name}, {at}, {off});')
                at = off + a.size * size_of(a.kind)
                star = f"{a.kind} (*{a.name}){''.join(f'[{e}]' for e in a.extents[1:])}" if a.form == "rows" else f"{a.kind} *{a.name}"
                if a.name in used:
                    head.append(f"{star} = (void *)({name} + {off});")
            show.append(f'band("{name}", {name}, {at}, {end} + BAND);')
            tail.append(f"free({name});")
        for c in self.consts:
            if c.name in used:
                head += [f"int32_t {c.name}[{c.size}];",
                         f"for (int q = 0; q < {c.size}; q++) {c.name}[q] = q * 2 - (q & 1) + (q > 3);"]
                stores.append(c.name)
        declare = f"#pragma cofuse store({', '.join(stores)})"
        # Values that the compiler knows it rounds once where it folds a contracted product (docs/language.md).
        scalars = ["double s0 = given(1), s1 = given(2), z0 = given(3), mx = given(-2), fx = given(0.5), fz = given(4);",
                   "double ds = given(0), dz = given(0), dp = given(1);", "float mf = given(1), fs = given(0);", "uint32_t su = 1, zu = 2, so = 0, sa = ~0u;", "uint64_t sl = 1, zl = 5;",
                   "int64_t mi = 4;", "int16_t mh = 3;", "uint8_t s8 = 0;", "int sb = 1, sc = 0, it = 0, it1 = 0;"]
        fills = [l.replace("for (int q = 0;", "for (int q = none;") for l in fills]
        order = fills + [declare] if self.late else [declare] + fills
        values = ["s0", "s1", "z0", "mx", "fx", "fz", "ds", "dz", "dp", "mf", "fs", "su", "zu", "so", "sa", "sl", "zl", "mi",
                  "mh", "s8", "sb", "sc"]
        out = [f"void fuzz_{self.seed}(void) {{", f"  prog = {self.seed};"]
        out += [l if l.startswith("#") else "  " + l for l in scalars + head + order]
        out += body
        out += [f'  show_value("{v}", {v});' for v in values]
        out += ["  " + l for l in show + tail] + ["}"]
        return "\n".join(out) + "\n"


if __name__ == "__main__":
    import sys
    for s in sys.argv[1:]:
        print(Program(int(s)).text())
