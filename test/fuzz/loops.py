# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random forall statements (generate.py)."""

import re

from expressions import Expressions
from model import Loop, affine, is_float


class Loops(Expressions):
    """Statements are lists of C lines that stay valid when any other statement is removed."""

    def loops_for(self, extents):
        """One counter per extent."""
        out = []
        for d, e in enumerate(extents):
            x = self.r.random()
            if x < 0.8:
                base, ctype = 0, "int"
            elif x < 0.9:
                base, ctype = self.r.choice([-2, 1, 3]), self.r.choice(["int", "long"])
            else:
                base, ctype = 0, self.r.choice(["unsigned", "size_t", "short", "long", "uint64_t"])
            out.append(Loop("ijk"[d], base, base + e, ctype))
        self.views = [] if all(l.ctype in ("int", "long") for l in out) else None
        return out

    def header(self, loop, exact):
        """exact: every iteration must happen, in steps of one."""
        if loop.ctype not in ("int", "long"):
            loop.lo, loop.hi = max(loop.lo, 0), max(loop.hi, loop.lo, 0)
        t, i, lo, hi = loop.ctype, loop.name, loop.lo, loop.hi
        x = self.r.random()
        if t in ("int", "long") and x < 0.12:
            if x < 0.03 and not exact:
                return f"for ({t} {i} = {hi - 1}; {i} >= {lo}; {i} -= 2)"
            return f"for ({t} {i} = {hi - 1}; {i} >= {lo}; {i}--)"
        bound = str(hi)
        if x > 0.7 and hi > lo:
            self.bounds += 1
            bound = f"n{self.bounds}"
            self.before.append(f"int {bound} = {hi};")
        if x < 0.18 and hi > lo:
            return f"for ({t} {i} = {lo}; {i} <= {hi - 1}; {i}++)"
        if x < 0.22 and hi > lo:
            return f"for ({t} {i} = {lo}; {i} != {hi}; ++{i})"
        if x < 0.27 and not exact:
            return f"for ({t} {i} = {lo}; {i} < {bound}; {i} += {self.r.choice([2, 3])})"
        return f"for ({t} {i} = {lo}; {i} < {bound}; {i}++)"

    def nest(self, loops, body, clauses="", exact=False, order=None):
        """Lines of an annotated nest."""
        self.before = []
        loops = list(loops)
        if order is None and len(loops) > 1 and self.r.random() < 0.12:
            self.r.shuffle(loops)
        collapse = len(loops) if self.r.random() < 0.7 else self.r.randint(1, len(loops))
        pragma = "#pragma cofuse forall" + (f" collapse({collapse})" if collapse > 1 else "") + clauses
        heads = ["  " * d + self.header(l, exact) for d, l in enumerate(loops)]
        pad = "  " * len(loops)
        lines = [pragma] + heads
        if len(body) == 1:
            lines.append(pad + body[0])
        else:
            lines[-1] += " {"
            lines += [pad + b for b in body] + ["  " * (len(loops) - 1) + "}"]
        extra = self.before + (self.views or [])
        self.views = None
        if extra:
            return ["{"] + ["  " + e for e in extra] + [l if l.startswith("#") else "  " + l for l in lines] + ["}"]
        return lines

    # -- element-wise

    def write_map(self, a, loops):
        """Subscripts of the element written: every loop moves exactly one of them. Returns (texts, loops used)."""
        x = self.r.random()
        subs, used = [], []
        if len(a.extents) == 2 and x < 0.05:  # the diagonal
            l = loops[0]
            for e in a.extents:
                l.admit(1, -min(0, l.lo), e)
            return [affine(1, l.name, -min(0, l.lo))] * 2, [l]
        for d, e in enumerate(a.extents):
            l = loops[d]
            if len(a.extents) > 1 and self.r.random() < 0.07 and (used or d < len(a.extents) - 1):
                subs.append(str(self.r.randrange(e)))
                continue
            y = self.r.random()
            base = -l.lo
            if y < 0.08:
                c, off = -1, e - 1 + l.lo
            elif y < 0.16:
                c, off = 2, self.r.randint(0, 1)
            else:
                c, off = 1, base + self.r.choice([0, 0, 0, 0, 1, 1, -1, -2, 3])
            l.admit(c, off, e)
            subs.append(affine(c, l.name, off))
            used.append(l)
        return subs, used

    def sequential(self, kind, loops, forbidden):
        """An inner loop that adds up: lines and the name of the sum."""
        pool = [a for a in self.arrays + self.consts if a.size and a.key() not in forbidden]
        if not pool:
            return [], None
        a = self.r.choice(pool)
        i = loops[0]
        signed = i.ctype in ("int", "long", "short")
        k = Loop("q", 0, self.r.choice([2, 3, 4]))
        k.frozen = True
        head = f"for (int q = 0; q < {k.hi}; q++)"
        x = self.r.random()
        tables = [t for t in self.arrays if t.kind == "uint8_t" and t.size and t.key() not in forbidden]
        if x < 0.25 and tables:
            index = self.read(self.r.choice(tables), loops)[0]
            head = f"for (int q = 0; q < (int)({index} % {k.hi + 1}u); q++)"
        elif x < 0.45 and signed and not i.frozen:
            i.lo, i.hi = max(i.lo, 0), min(i.hi, 12)
            k = Loop("q", 0, max(i.hi, 1))
            k.frozen = True
            head = f"for (int q = {self.r.choice(['0', '1'])}; q {self.r.choice(['<', '<='])} {i.name}; q++)"
            k.hi = max(i.hi, 1) + 1
        elif x < 0.55:
            head = f"for (int q = {k.hi - 1}; q >= 0; q--)"
        saved = self.views
        self.views = None
        value = self.read(a, [k] if self.r.random() < 0.5 or len(a.extents) < 2 else [*loops[:1], k])
        self.views = saved
        fl = is_float(kind)
        ctype = kind if fl else "uint32_t"
        term = (value[0], value[1])
        if fl:
            add = f"acc += 0.25{'f' if kind == 'float' else ''} * {term[0]};"
        else:
            add = f"acc += (uint32_t)({self.as_int(term)[0]});"
        return [f"{ctype} acc = {self.r.choice(['0', '1'])};", head, "  " + add], ("acc", ctype)

    def csr(self, kind, loops):
        """A row of a sparse matrix; the row pointers are never written."""
        rows = [c for c in self.consts if c.name.startswith("row")]
        vals = [a for a in self.arrays if a.size >= 8 and a.form == "flat"]
        if not rows or not vals or loops[0].ctype not in ("int", "long"):
            return [], None
        row, x = rows[0], self.r.choice(vals)
        loops[0].admit(1, 0, row.extents[0] - 1)
        fl = is_float(kind)
        ctype = kind if fl else "uint32_t"
        item = x.view([x.size]).at([f"(uint32_t)(q * 5 + 1) % {x.size}u"])
        add = f"acc += 0.125{'f' if kind == 'float' else ''} * {item};" if fl else \
            f"acc += (uint32_t)({self.as_int((item, x.kind))[0]});"
        i = loops[0].name
        return [f"{ctype} acc = 0;", f"for (int q = {row.name}[{i}]; q < {row.name}[{i} + 1]; q++)", "  " + add], \
            ("acc", ctype), x.key()

    def assignment(self, own, kind, loops, forbidden, same=None):
        """Lines that set the element `own`."""
        x = self.r.random()
        if x < 0.1:
            extra = self.csr(kind, loops) if self.r.random() < 0.3 else self.sequential(kind, loops, forbidden)
            if extra[1] and (len(extra) < 3 or extra[2] not in forbidden):
                value = self.expression(kind, loops, forbidden, extra[1], 1)
                tail = f"{own} = {value};" if extra[1][0] in value else f"{own} = acc;"
                return ["{"] + extra[0] + [tail, "}"]
        if x < 0.2:
            op = self.r.choice(["+=", "-="]) if is_float(kind) else self.r.choice(["^=", "|=", "&="])
            value = self.expression(kind, loops, forbidden)
            if is_float(kind):
                f = "f" if kind == "float" else ""
                return [f"{own} = 0.5{f} * {own};", f"{own} {op} 0.5{f} * ({value});"]
            return [f"{own} {op} {value};"]
        if x < 0.24 and not is_float(kind) and kind.startswith("uint"):
            return [f"{own}{self.r.choice(['++', '--'])};"]
        value = self.expression(kind, loops, forbidden, (same or own, kind))
        if x < 0.34:
            return [f"{kind} t{self.fresh()} = {value};", f"{own} = t{self.count};"]
        return [f"{own} = {value};"]

    def elementwise(self, targets=None):
        """One forall; mostly one that has iterations."""
        for _ in range(4):
            lines, trips = self.one_elementwise(targets)
            if trips or self.r.random() < 0.1:
                break
        return lines

    def one_elementwise(self, targets):
        pool = [a for a in (targets or self.arrays) if a.size or self.r.random() < 0.3]
        a = self.r.choice(pool or self.arrays)
        shown = a
        if a.form == "flat" and not a.field and a.size and self.r.random() < 0.1:
            shown = self.reshaped(a, [Loop("i", 0, 1)] * self.r.randint(1, 2))
        loops = self.loops_for(shown.extents)
        if a.size == 0:
            loops[0].hi = loops[0].lo
            subs, used = [l.name for l in loops], loops
        else:
            subs, used = self.write_map(shown, loops)
        if a.form == "flat" and not a.field and a.size and self.views is not None and self.r.random() < 0.1:
            shift = self.r.randrange(a.size)
            self.views.append(f"{a.kind} *w = {a.name} + {shift};")
            shown = shown.view(shown.extents, "w", shift)
        own = shown.at(subs)
        forbidden = {a.key()}
        same = a.view(shown.extents).at(subs) if shown.name == "w" else own  # the element under another name
        body = self.assignment(own, a.kind, used, forbidden, same)
        if self.r.random() < 0.07 and len(a.extents) == 1 and a.size > 3 and shown is a and used[0].ctype == "int":
            body = self.halves(a, used[0])
            own = body[0].split(" = ")[0]  # the range is another one now
        elif self.r.random() < 0.22:
            test = self.test(used, forbidden, (own, a.kind))
            if self.r.random() < 0.4:
                body = [f"if ({test}) {{"] + ["  " + b for b in body] + ["} else {"] + \
                    ["  " + b for b in self.assignment(own, a.kind, used, forbidden)] + ["}"]
            else:
                body = [f"if ({test}) {{"] + ["  " + b for b in body] + ["}"]
        if self.r.random() < 0.18:
            body += self.second(a, own, used, body)
        self.note(a)
        return self.nest(used, body), all(l.trips for l in used)

    def halves(self, a, l):
        """Reads of the array itself that are never the element of another iteration: even against odd, lower half
        against upper, one element that is not written."""
        n, x = a.extents[0], self.r.random()
        l.lo, l.hi = 0, n // 2
        f = "0.5 * " if is_float(a.kind) else ""
        if x < 0.4:
            return [f"{a.at(['2 * i'])} = {f}{a.at(['2 * i + 1'])};"]
        if x < 0.6:
            return [f"{a.at([f'i + {n - n // 2}'])} = {f}{a.at(['i'])};"]
        if x < 0.8:
            return [f"{a.at(['i'])} = {f}{a.at([str(n - 1)])};"]
        l.lo, l.hi = 0, max(0, n // 2 - 1)
        return [f"{a.at(['2 * i + 1'])} = {f}{a.at(['2 * i'])} {'+ 0.25 *' if f else '|'} {a.at(['2 * i + 2'])};"]

    def second(self, a, own, loops, body):
        """Another array written in the same loop; only the element written may be read of either."""
        text = "\n".join((self.views or []) + body)
        pool = [b for b in self.arrays if b.key() != a.key() and len(b.extents) == len(loops) and b.size
                and not re.search(rf"\b{b.name}\b", text)]
        if not pool or any(l.lo < 0 for l in loops):
            return []
        b = self.r.choice(pool)
        for l, e in zip(loops, b.extents):
            l.admit(1, 0, e)
        value = self.expression(b.kind, loops, {a.key(), b.key()}, (own, a.kind))
        line = f"{b.at([l.name for l in loops])} = {value};"
        return [f"if ({self.test(loops, {a.key(), b.key()})})", f"  {line}"] if self.r.random() < 0.25 else [line]

    def carried(self):
        """A dependence between iterations: must be found and run serially."""
        pool = [a for a in self.arrays if len(a.extents) == 1 and a.size > 2 and not a.field]
        if not pool:
            return self.elementwise()
        a = self.r.choice(pool)
        n, d, x = a.extents[0], self.r.choice([1, 1, 2]), self.r.random()
        l = Loop("i", d, n)
        f = "0.5 * " if is_float(a.kind) else ""
        if x < 0.35:
            value = f"{f}{a.at([f'i - {d}'])}"
        elif x < 0.6:
            l.lo, l.hi = 0, n - d
            value = f"{f}{a.at([f'i + {d}'])}"
        elif x < 0.75:
            l.lo, value = 0, f"{f}{a.at([f'{n - 1} - i'])}"
        elif x < 0.85:
            l.lo, l.hi = 0, (n + 1) // 2
            value = f"{f}{a.at(['2 * i'])}"
        else:
            l.lo, l.hi = 0, n - d
            self.views = None
            t = a.kind
            return self.nest([l], [f"{t} acc = 0;", f"for (int q = 0; q <= {d}; q++)", f"  acc += {f}{a.at(['i + q'])};",
                                   f"{a.at(['i'])} = acc;"])
        value += " + 0.125" if f else " ^ (i & 3)"
        self.views = None
        return self.nest([l], [f"{a.at(['i'])} = {value};"])

    def family(self, new=()):
        """Several loops over one range, whose subscripts differ by what stays inside a row or a plane: they share
        tiles, and may share a nest only where elements of one iteration meet."""
        shapes = {}
        for a in [*self.arrays, *new]:
            if a.size and not a.field:
                shapes.setdefault(len(a.extents), []).append(a)
        rank = self.r.choice([k for k in shapes for _ in range(3 if k > 1 else 1)])
        pool = [a for a in shapes[rank] if min(a.extents) > 2] or shapes[rank]
        out = []
        low = [min(a.extents[d] for a in pool) for d in range(rank)]
        edge = [self.r.choice([0, 1, 1]) if e > 2 else 0 for e in low]
        last = None
        for _ in range(self.r.choice([2, 3, 3, 4])):
            loops = [Loop("ijk"[d], edge[d], low[d] - edge[d]) for d in range(rank)]
            a = self.r.choice(pool)
            if a is last:
                a = self.r.choice(pool)

            def at(x, still):
                subs = []
                for d, l in enumerate(loops):
                    moves = edge[d] and self.r.random() < (0.15 if d < still else 0.5)
                    subs.append(affine(1, l.name, self.r.choice([-1, 1]) if moves else 0))
                return x.at(subs), x.kind

            own = at(a, rank)[0]
            others = [b for b in pool if b is not a] or [b for b in self.arrays if b is not a and b.size][:0]
            if last and last is not a:
                terms = [at(last, 1)] + [at(self.r.choice(others), 1) for _ in range(self.r.choice([0, 1]))]
            else:
                terms = [at(self.r.choice(others), 1)] if others else [("s0", "double")]
            terms.append(self.r.choice([(own, a.kind), ("s0", "double"), ("i", "int32_t"), ("su", "uint32_t")]))
            value = self.float_expression(terms)[0] if is_float(a.kind) else self.int_expression(terms)[0]
            self.views = None
            body = [f"{own} = {value};"]
            if self.r.random() < 0.12:
                body = [f"if ({self.r.choice(terms)[0]} > 1)", "  " + body[0]]
            for l in loops:
                l.frozen = True
            self.before = []
            heads = ["  " * d + f"for (int {l.name} = {l.lo}; {l.name} < {l.hi}; {l.name}++)" for d, l in enumerate(loops)]
            collapse = f" collapse({rank})" if rank > 1 and self.r.random() < 0.7 else ""
            lines = ["#pragma cofuse forall" + collapse] + heads
            if len(body) > 1:
                lines[-1] += " {"
            lines += ["  " * rank + b for b in body] + (["  " * (rank - 1) + "}"] if len(body) > 1 else [])
            out.append(lines)
            self.note(a)
            last = a
        return out

    # -- reductions

    def reduction(self):
        pool = [a for a in self.arrays if a.size]
        a = self.r.choice(pool)
        loops = self.loops_for(a.extents)
        x = self.read(a, loops)
        k = self.r.random()
        clauses, body = [], []
        for _ in range(self.r.choice([1, 1, 1, 2])):
            form = self.one_reduction(x, loops)
            if form and form[1] not in " ".join(clauses):
                clauses.append(f" reduction({form[0]} : {form[1]})")
                body += form[2]
        if not clauses:
            return self.elementwise()
        if k < 0.15:
            body = [f"if ({self.test(loops)}) {{"] + ["  " + b for b in body] + ["}"]
        if self.r.random() < 0.25:
            body += self.second(a, x[0], loops, body)
        return self.nest(loops, body, "".join(clauses))

    def one_reduction(self, x, loops):
        """(operator, variable, lines); sums of floats are made exact."""
        text, kind = x
        y = self.r.random()
        if y < 0.3 and is_float(kind) or y < 0.15:
            v, t = self.r.choice([("fx", "double"), ("fz", "double"), ("mx", "double")] if kind == "double"
                                 else [("fx", "double"), ("mf", "float")] if kind == "float" else [("mi", "int64_t")])
            if t == "int64_t" and kind == "uint64_t":
                return None
            op, cmp = self.r.choice([("max", ">"), ("min", "<")])
            forms = [[f"if ({text} {cmp} {v})", f"  {v} = {text};"], [f"{v} = {text} {cmp} {v} ? {text} : {v};"]]
            if t != "int64_t":
                forms.append([f"{v} = f{op}{'f' if t == 'float' else ''}({v}, {text});"])
            return op, v, self.r.choice(forms)
        if y < 0.42:  # sums of whole numbers are exact in any order
            v = self.r.choice(["ds", "dz", "fs"])
            term = f"({self.as_int(x)[0]}) & 15"
            return "+", v, [f"{v} += {term};"]
        if y < 0.47:
            v = self.r.choice(["dp"])
            return "*", v, [f"{v} *= {text} > 1 ? -1.0 : 1.0;"]
        i = self.as_int(x)[0]
        op, v = self.r.choice([("+", "su"), ("+", "su"), ("+", "zu"), ("*", "sl"), ("^", "su"), ("|", "so"),
                               ("&", "sa"), ("+", "zl"), ("^", "zu"), ("&&", "sb"), ("||", "sc"), ("+", "s8")])
        i = f"({dict(su='uint32_t', zu='uint32_t', sl='uint64_t', zl='uint64_t', so='uint32_t', sa='uint32_t', s8='uint8_t').get(v, 'int')})({i})"
        if op in ("&&", "||"):
            return op, v, [f"{v} = {v} {op} ({text} {self.r.choice(['> 1', '!= 3', '< 90'])});"]
        if op == "*":
            return op, v, [f"{v} *= {i} | 1;"]
        return op, v, [f"{v} {op}= {i};"]

    def fresh(self):
        self.count += 1
        return self.count
