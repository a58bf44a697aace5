# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes of program that chance alone seldom builds (generate.py): each was added because a mutant got away."""

from model import is_float, size_of
from shapes import Shapes


class Templates(Shapes):
    """Lists of C lines. k: element type; x, y, z: arrays of it; n: a length that all of them have."""

    def template(self):
        """One of these, or one of shapes.py."""
        by_kind = {}
        for a in self.arrays:
            if a.kind in ("double", "float", "uint32_t", "int16_t") and a.size > 7 and not a.field:
                by_kind.setdefault(a.kind, []).append(a)
        if not by_kind:
            return None
        k = self.r.choice([k for k in sorted(by_kind) for _ in range(len(by_kind[k]) ** 2)])
        pool = by_kind[k]
        x, y, z = (self.r.choice(pool) for _ in range(3))
        if y is x and len(pool) > 1:
            y = self.r.choice([a for a in pool if a is not x])
        n = min(x.size, y.size, z.size)
        if self.r.random() < 0.65:
            return self.shape_of(k, x, y, z, n)
        s = {"double": "s0", "float": "(float)s0", "uint32_t": "su", "int16_t": "(int16_t)su"}[k]
        make = self.r.choice([self.inner_trips, self.inner_trips, self.inner_trips, self.other_store, self.leading, self.turned, self.longer, self.sometimes,
                              self.steps, self.still_live, self.homes, self.homes, self.grains, self.tall_or_wide,
                              self.borders, self.borders, self.histogram, self.histogram,
                              self.edges, self.edges, self.beside, self.in_lanes, self.in_lanes, self.wide, self.wide, self.from_where, self.from_where, self.flat_or_deep, self.given_up, self.host_between, self.host_between])
        return make(k, x, y, z, n, s)

    def again(self, lines):
        """A loop whose iterations start and end with nothing pending."""
        end = self.r.choice([["#pragma cofuse flush"], [f"s1 = 0.5 * s1 + 0.001 * {self.element(self.some())};"]])
        first = self.r.choice([0, 0, 1])
        if self.r.random() < 0.4:  # the second window is like the first, whose arrays had no tiles yet
            lines = [l.replace("it % 2", "it / 2 % 2") for l in lines]
        out = ["#pragma cofuse flush", f"for (it = {first}; it < {first + self.r.choice([4, 5, 6])}; it++) {{",
               "  s0 = 0.75 * s0 + 0.125;", "  su = su * 5u + 1u;"]
        return out + [l if l.startswith("#") else "  " + l for l in lines + end] + ["}"]

    def inner_trips(self, k, x, y, z, n, s):
        """An inner loop that reaches the neighbours every other time."""
        m = self.r.choice([1, 1, 1, 1, 1, 2])
        t = n - m - 1
        calls = [f"{k}_axpy({self.r.choice([t, t, n])}, {y.flat}, {z.flat}, {s});", f"{k}_gather({t}, {m} + it % 2, {x.flat}, {y.flat});"]
        return self.again(calls if self.r.random() < 0.7 else calls[::-1])

    def other_store(self, k, x, y, z, n, s):
        """Two arrays take turns, mostly so that each is used as often as the other."""
        o = self.r.choice([0, 0, 1, 2])
        z, u = (self.r.choice([a for a in self.arrays if a.kind == k and a.size >= n and not a.field]) for _ in range(2))
        calls = [f"{k}_axpy({n}, {x.flat}, {y.flat}, {s});", f"{k}_axpy({n - o}, {z.flat}, (it % 2 ? {x.flat} : {y.flat}) + {o}, {s});"]
        if self.r.random() < 0.7:
            calls.append(f"{k}_axpy({n - o}, {u.flat}, (it % 2 ? {y.flat} : {x.flat}) + {o}, {s});")
        return self.again(calls)

    def leading(self, k, x, y, z, n, s):
        w = self.r.choice([2, 3, 4])
        h = n // w
        return self.again([f"{k}_fill({h}, {w - 1}, {w} - it % 2, {x.flat}, {s});", f"{k}_axpy({n}, {x.flat}, {y.flat}, {s});"])

    def turned(self, k, x, y, z, n, s):
        """One memory as arrays of two shapes, in turn."""
        t, a = f"t{self.fresh()}", self.r.choice([2, 3])
        w = a * self.r.choice([2, 3])
        h = self.r.choice([3, 5, 6, 7, 9])
        other = f"[0 : it % 2 ? {h * w // a} : {h}][0 : it % 2 ? {a} : {w}]"
        return self.again(["{", f"  {k} *{t} = calloc({h * w}, sizeof *{t});", f"#pragma cofuse store({t}{other})",
                           f"  {k}_ramp({h}, 1, {w}, {t});"] +
                          ([f"  {k}_ramp({h - 1}, 1, {w}, {t} + {w});"] if self.r.random() < 0.3 else []) +
                          [f"  for (int q = 0; q < {h}; q++) s1 = 0.75 * s1 + 0.01 * (double){t}[q * {w}];", f"  free({t});", "}"])

    def longer(self, k, x, y, z, n, s):
        a = self.r.randint(1, n // 2)
        o = a + self.r.choice([0, 1, 2])
        return [f"{k}_axpy({a}, {x.flat}, {y.flat}, {s});", f"{k}_axpy({n}, {x.flat}, {y.flat}, {s});",
                f"{k}_copy({n - o}, {z.flat}, {x.flat} + {o});"]

    def sometimes(self, k, x, y, z, n, s):
        """Two arrays of other lengths in one loop, one of them under a condition; then neighbours of that one."""
        if x is y or x.form != "flat" or y.form != "flat":
            return self.longer(k, x, y, z, n, s)
        half = "0.5 *" if is_float(k) else "3 ^"
        u, v = x.view([x.size]), y.view([y.size])
        return [f"{k}_axpy({y.size}, {y.flat}, {y.flat}, {s});", "#pragma cofuse forall", f"for (int i = 0; i < {min(x.size, y.size)}; i++) {{",
                f"  {u.at(['i'])} = {half} {u.at(['i'])};", f"  if (i % 3 == 1)", f"    {v.at(['i'])} = i & 7;", "}",
                f"{k}_three({n}, {z.flat}, {y.flat});"]

    def steps(self, k, x, y, z, n, s):
        """Loops over the same elements whose counters go in other steps."""
        m = n // 2
        return self.again([f"{k}_ramp({m} * (1 + it % 2), 1 + it % 2, 2 - it % 2, {x.flat});"])

    def still_live(self, k, x, y, z, n, s):
        t = f"t{self.fresh()}"
        weight = "0.01 *" if is_float(k) else "0.01 * (double)"
        return self.again(["{", f"  {k} *{t} = malloc({n} * sizeof *{t});", f"#pragma cofuse store({t}[0:{n}])",
                           f"  {k}_copy({n}, {t}, {x.flat});", f"  {k}_axpy({n}, {z.flat}, {t}, {s});", "  if (it % 2)",
                           f"    s1 = 0.5 * s1 + {weight}{t}[{self.r.randrange(n)}];", f"  free({t});", "}"])

    def homes(self, k, x, y, z, n, s):
        """Two arrays of one shape whose tiles lie differently."""
        t, u = f"t{self.fresh()}", f"t{self.fresh()}"
        o, d, w = self.r.choice([0, 1, 2, 3]), self.r.choice([0, 0, 1]), self.r.choice([2, 3, 5])
        weight = "0.01 *" if is_float(k) else "0.01 * (double)"
        body = self.again([f"{k}_axpy({n - d}, it % 2 ? {t} : {u}, {z.flat} + {d}, {s});"] +
                          ([f"{k}_three({n}, {z.flat}, it % 2 ? {u} : {t});"] if self.r.random() < 0.5 else []))
        return ["{", f"  {k} *{t} = calloc({n}, {size_of(k)}), *{u} = calloc({n}, {size_of(k)});",
                f"#pragma cofuse store({t}[0:{n}], {u}[0:{n}])",
                f"  {k}_fill({n // w}, {w}, {w}, {t}, {s});" if self.r.random() < 0.3 else f"  {k}_copy({n - o}, {t} + {o}, {x.flat});",
                f"  {k}_copy({n}, {u}, {self.r.choice([x, y, z]).flat});"] + [l if l.startswith("#") else "  " + l for l in body] + [
            f"  for (int q = 0; q < {n}; q++) s1 = 0.75 * s1 + {weight}{t}[q] - {weight}{u}[q];", f"  free({t}), free({u});", "}"]

    def grains(self, k, x, y, z, n, s):
        """Two arrays of one shape that follow others, whose rows are of different lengths."""
        c = self.r.choice([4, 5, 6, 7])
        a, b = self.r.choice([(2, 3), (2, 3), (3, 4), (2, 4)])
        t, u, v, w = (f"t{self.fresh()}" for _ in range(4))
        m = min(a * c, n)
        sizes = {t: m, u: m, v: a * c, w: b * c}
        body = self.again([f"{k}_axpy({m}, it % 2 ? {t} : {u}, {z.flat}, {s});"])
        return ["{"] + [f"  {k} *{name} = calloc({size}, {size_of(k)});" for name, size in sizes.items()] + [
            "#pragma cofuse store(" + ", ".join(f"{name}[0:{size}]" for name, size in sizes.items()) + ")",
            f"  {k}_fill({c}, {a}, {a}, {v}, {s});", "#pragma cofuse flush", f"  {k}_fill({c}, {b}, {b}, {w}, {s});",
            "#pragma cofuse flush", f"  {k}_copy({m}, {t}, {v});", f"  {k}_copy({m}, {u}, {w});"] + \
            [l if l.startswith("#") else "  " + l for l in body] + [
            f"  for (int q = 0; q < {m}; q++) s1 = 0.75 * s1 + 0.01 * (double){t}[q] - 0.01 * (double){u}[q];",
            f"  free({t}), free({u}), free({v}), free({w});", "}"]

    def tall_or_wide(self, k, x, y, z, n, s):
        """A nest with one loop of one trip, now the outer and now the inner one: same addresses, other counters."""
        a, b = self.r.choice([(3, 5), (1, 7), (2, 1)])
        return self.again(["{", f"  {k} *p = {x.flat};", "#pragma cofuse forall collapse(2)",
                           f"  for (int i = 0; i < (it % 2 ? {n} : 1); i++)",
                           f"    for (int j = 0; j < (it % 2 ? 1 : {n}); j++)", f"      p[i + j] = {a} * i + {b} * j;", "}",
                           f"{k}_axpy({n}, {y.flat}, {x.flat}, {s});"])

    def borders(self, k, x, y, z, n, s):
        """Neighbours behind conditions that keep to the array, spelled in many ways."""
        w = self.r.choice([2, 3, 4, 5, 7])
        h = n // w
        if h < 2:
            return self.longer(k, x, y, z, n, s)
        c = "0.25 * " if is_float(k) else "3 ^ "
        d = self.r.choice([1, 1, 2])
        left, right = f"p[i * {w} + j - {d}]", f"p[i * {w} + j + {d}]"
        up, down = f"p[(i - {d}) * {w} + j]", f"p[(i + {d}) * {w} + j]"
        reads = [f"if ({self.r.choice([f'j >= {d}', f'j > {d - 1}', f'!(j < {d})', f'j - {d} >= 0'])}) v += {c}{left};",
                 f"if ({self.r.choice([f'j < {w - d}', f'j + {d} < {w}', f'j <= {w - 1 - d}'])}) v += {c}{right};",
                 f"v += i >= {d} ? {c}{up} : ({k})1;", f"if (i < {h - d} && j != 0) v += {c}{down};",
                 f"if (i >= {d} && i < {h - d}) v += {c}({up} + {down});", f"v += i < {d} || j < {d} ? ({k})2 : ({k})({c}p[(i - {d}) * {w} + j - {d}]);"]
        body = self.r.sample(reads, self.r.choice([1, 2, 3]))
        if self.r.random() < 0.3:
            body.insert(0, f"if (j < {d}) continue;")
        store = self.r.choice([f"q[i * {w} + j] = v;"] * 3 + [f"if (j >= {d}) q[i * {w} + j - {d}] = v;", f"if (i > 0) q[(i - 1) * {w} + j] = v;"])
        i_loop = self.r.choice([f"for (int i = 0; i < {h}; i++)"] * 3 + [f"for (int i = {h - 1}; i >= 0; i--)"])
        return ["{", f"  {k} *p = {x.flat}, *q = {z.flat};", f"  {k}_axpy({n}, {x.flat}, {y.flat}, {s});",
                "#pragma cofuse forall collapse(2)", f"  {i_loop}", f"    for (int j = 0; j < {w}; j++) {{",
                f"      {k} v = {c}p[i * {w} + j];"] + ["      " + l for l in body] + [f"      {store}", "    }", "}"]

    def edges(self, k, x, y, z, n, s):
        """All of an array, its inside, and all of it again: one nest and what sticks out of it."""
        t, lo, hi = f"t{self.fresh()}", self.r.choice([0, 1, 1, 2]), self.r.choice([0, 1, 1, 2])
        m = max(1, n - lo - hi)
        inner = [f"{k}_axpy({m}, {x.flat} + {lo}, {z.flat} + {lo}, {s});", f"{k}_copy({m}, {t} + {lo}, {x.flat} + {lo});",
                 f"{k}_axpy({m}, {x.flat} + {lo}, {t} + {lo}, {s});", f"{k}_axpy({m}, {z.flat} + {lo}, {t} + {lo}, {s});"]
        whole = [f"{k}_axpy({n}, {x.flat}, {y.flat}, {s});", f"{k}_copy({n}, {t}, {x.flat});", f"{k}_axpy({n}, {t}, {y.flat}, {s});"]
        count = [f"#pragma cofuse forall reduction(+ : su)", f"for (int i = 0; i < {n}; i++) su += (uint32_t)({self.as_int((f'{t}[i]', k))[0]});"]
        part = [f"#pragma cofuse forall reduction(+ : su)", f"for (int i = {lo}; i < {lo + m}; i++) su += (uint32_t)({self.as_int((f'{t}[i]', k))[0]});"]
        steps = [whole[:1]] if self.r.random() < 0.5 else []
        steps.append(whole[1:2])
        for _ in range(self.r.choice([2, 3, 4, 5])):
            steps.append([self.r.choice(inner + whole)])
        other = ["#pragma cofuse forall reduction(+ : su)", f"for (int i = 0; i < {n}; i++) su += (uint32_t)({self.as_int((f'{y.flat}[i]', k))[0]});"]
        if self.r.random() < 0.5:
            steps.append(self.r.choice([count, part, other, other]))
        body = self.again(sum(steps, []))
        return ["{", f"  {k} *{t} = calloc({n}, sizeof *{t});", f"#pragma cofuse store({t}[0:{n}])"] + [
            l if l.startswith("#") else "  " + l for l in body] + [f"  free({t});", "}"]

    def beside(self, k, x, y, z, n, s):
        """A sum over an array that nothing else uses, behind nests of which some have edges."""
        t, u, v, w = (f"t{self.fresh()}" for _ in range(4))
        n, lo, hi = self.r.choice([23, 40, 64]), self.r.choice([0, 1, 1, 2]), self.r.choice([1, 1, 2])
        m = n - lo - hi
        steps = [[f"{k}_ramp({n}, 1, 1, {t});"], [f"{k}_axpy({m}, {u} + {lo}, {w} + {lo}, {s});"], [f"{k}_copy({n}, {v}, {u});"],
                 ["#pragma cofuse forall reduction(+ : su)", f"for (int i = 0; i < {n}; i++) su += (uint32_t)({self.as_int((f'{w}[i]', k))[0]});"]]
        if self.r.random() < 0.3:
            steps[2:2] = [[f"{k}_axpy({n}, {t}, {v}, {s});"]]
        if self.r.random() < 0.3:
            steps.append([f"{k}_axpy({m}, {u} + {lo}, {v} + {lo}, {s});"])
        names = [t, u, v, w]
        return ["{"] + [f"  {k} *{a} = calloc({n}, sizeof *{a});" for a in names] + [
            "#pragma cofuse store(" + ", ".join(f"{a}[0:{n}]" for a in names) + ")", f"  {k}_ramp({n}, 1, 1, {w});"] + [
            l if l.startswith("#") else "  " + l for l in self.again(sum(steps, []))] + [
            f"  for (int q = 0; q < {n}; q++) s1 = 0.75 * s1 + 0.01 * (double){v}[q] - 0.01 * (double){t}[q];"] + [
            f"  free({a});" for a in names] + ["}"]

    def in_lanes(self, k, x, y, z, n, s):
        """Sums that are exact in any order, and extrema among zeros of both signs, of which the first counts; some of
        what loops of their own have made."""
        f, n = self.r.choice(["double", "float"]), self.r.choice([15, 16, 17, 40, 95, 300])
        h = self.r.choice([1, 2, 2, 3])
        t, w, m, d = (f"{c}{self.fresh()}" for c in "twmd")
        op, cmp, far = self.r.choice([("max", ">", "-"), ("min", "<", "")])
        every, first = self.r.choice([3, 7, 16, 19]), self.r.choice([0, 5, 16, 17, n // 2, 2 * n // 3])  # also behind a border of tiles
        over = [f"  for (int i = 0; i < {h}; i++)", f"    for (int j = 0; j < {n}; j++) {{"]
        made = self.r.random() < 0.5
        of = w if made else t
        extremum, total = f"      if ({of}[i * {n} + j] {cmp} {m}) {m} = {of}[i * {n} + j];", f"      {d} += (int)({of}[i * {n} + j] * 3) + (i ^ j);"
        head, steps = "#pragma cofuse forall collapse(2)", []
        if made:
            steps += [head] + over + [f"      {f} v = -({f})0.0;", f"      for (int q = 0; q < {self.r.choice([1, 3])}; q++) v += {t}[i * {n} + j] * (q + 1);",
                                      f"      {w}[i * {n} + j] = v;", "    }"]
        if self.r.random() < 0.5:
            steps += [f"{head} reduction({op} : {m}) reduction(+ : {d})"] + over + [extremum, total, "    }"]
        else:
            steps += [f"{head} reduction({op} : {m})"] + over + [extremum, "    }", f"{head} reduction(+ : {d})"] + over + [total, "    }"]
        return ["{", f"  {f} *{t} = malloc({h * n} * sizeof *{t}), *{w} = calloc({h * n}, sizeof *{w}), {m} = {far}99, {d} = 1;",
                f"  for (int q = 0; q < {h * n}; q++) {t}[q] = q < {first} || q % {every} ? ({f}){far}(1 + q % 4) : q / {every} % 2 ? ({f})0.0 : -({f})0.0;",
                f"#pragma cofuse store({t}[0:{h}][0:{n}], {w}[0:{h}][0:{n}])"] + steps + [
            f"  s1 = 0.75 * s1 + 0.01 * (double){d} + (signbit({m}) ? 1 : 2) + (double){m};",
            f"  for (int q = 0; q < {h * n}; q++) s1 = 0.75 * s1 + (double){w}[q];", f"  free({t}), free({w});", "}"]

    def from_where(self, k, x, y, z, n, s):
        """A condition that lets a loop reach what was just written, every other time."""
        n, t, u = self.r.choice([31, 50, 64]), f"t{self.fresh()}", f"t{self.fresh()}"
        h, c = self.r.randint(n // 2, n - 2), "0.25 * " if is_float(k) else "3 ^ "
        half = "0.5 * " if is_float(k) else "5 * "  # what a turn leaves must show later
        near, far = self.r.choice([(1, h + 1), (h + 1, 1)])
        # Both live alike from the start, so that what is read lies across a border.
        body = self.again([f"{k}_axpy({h}, {t}, {u}, {s});", "{", f"  {k} *p = {t}, *q = {u};", f"  int from = it % 2 ? {near} : {far};",
                           "#pragma cofuse forall", f"  for (int i = 0; i < {n - 1}; i++) {{", f"    {k} v = {c}i;",
                           f"    if (i >= from) v += {c}p[i - 1];", f"    q[i] = {half}q[i] + v;", "  }", "}"])
        return ["{", f"  {k} *{t} = calloc({n}, sizeof *{t}), *{u} = calloc({n}, sizeof *{u});", f"#pragma cofuse store({t}[0:{n}], {u}[0:{n}])",
                f"  {k}_ramp({n}, 1, 1, {t});", f"  {k}_axpy({n}, {u}, {t}, {s});"] + [l if l.startswith("#") else "  " + l for l in body] + [
            f"  for (int q2 = 0; q2 < {n}; q2++) s1 = 0.75 * s1 + 0.01 * (double){u}[q2];", f"  free({t}), free({u});", "}"]

    def given_up(self, k, x, y, z, n, s):
        """The same calls before and after the array is released, while some wait."""
        h, t, u = min(n, self.r.choice([17, 31, 64])), f"t{self.fresh()}", f"t{self.fresh()}"
        first, second = f"  {k}_ramp({h}, 1, 1, {t});", f"  {k}_axpy({h}, {t}, {x.flat}, {s});"
        pending = self.r.choice([[first], [second], [first, second]])
        return ["{", f"  {k} *{t} = calloc({h}, sizeof *{t});", f"#pragma cofuse store({t}[0:{h}])",
                f"  for (int {u} = 0; {u} < 4; {u}++) {{", first, second, first, second, "#pragma cofuse flush", "  }"] + pending + [
                f"#pragma cofuse release({t})", first, second, f"  for (int q = 0; q < {h}; q++) s1 = 0.75 * s1 + 0.01 * (double){t}[q];", f"  free({t});", "}"]

    def host_between(self, k, x, y, z, n, s):
        """Plain loops that touch the part of a row that pending tasks leave, and another array that they write."""
        h, w, c = self.r.choice([4, 9, 17]), self.r.choice([5, 8]), self.r.choice([1, 2])
        h, t, u = min(h, n), f"t{self.fresh()}", f"t{self.fresh()}"
        at = self.r.choice([0, 0, h - 1, h // 2])
        plain = self.r.choice([f"s1 = 0.75 * s1 + 0.01 * ((double){t}[{at * w}] + (double){u}[q]);", f"{t}[{at * w} + q] = q + 3, s1 = 0.75 * s1 + 0.01 * (double){u}[q];",
                               f"s1 = 0.75 * s1 + 0.01 * (double){u}[q], {t}[{at * w} + q] = q + 3;", f"{t}[{at * w} + q] += {u}[q];"])
        body = ["#pragma cofuse forall collapse(2)", f"  for (int i = 0; i < {h}; i++)", f"    for (int j = {c}; j < {w}; j++)",
                f"      {t}[i * {w} + j] = {t}[i * {w} + j] {'* 0.5 + 1' if is_float(k) else '^ 5'};",
                f"{k}_axpy({h}, {u}, {x.flat}, {s});", f"for (int q = 0; q < {c} + none; q++) {plain}"]
        return ["{", f"  {k} *{t} = calloc({h * w}, sizeof *{t}), *{u} = calloc({h}, sizeof *{u});",
                f"#pragma cofuse store({t}[0:{h}][0:{w}], {u}[0:{h}])", f"  {k}_ramp({h * w}, 3, 1, {t});", f"  {k}_ramp({h}, 5, 1, {u});",
                *(["#pragma cofuse flush"] if self.r.random() < 0.6 else []), f"  for (int it2 = 0; it2 < {self.r.choice([1, 2, 3])}; it2++) {{",
                *(l if l.startswith("#") else "    " + l for l in body), "  }",
                f"  for (int q = 0; q < {h * w}; q++) s1 = 0.75 * s1 + 0.01 * (double){t}[q];", f"  free({t}), free({u});", "}"]

    def flat_or_deep(self, k, x, y, z, n, s):
        """The same call for a vector and for a matrix with as many rows."""
        h, w, t, u = min(n, self.r.choice([17, 31, 64])), self.r.choice([2, 3]), f"t{self.fresh()}", f"t{self.fresh()}"
        body = self.again([f"{k}_axpy({h}, it % 2 ? {t} : {u}, {x.flat}, {s});", f"{k}_axpy({h}, {x.flat}, it % 2 ? {t} : {u}, {s});"])
        return ["{", f"  {k} *{t} = calloc({h}, sizeof *{t}), *{u} = calloc({h * w}, sizeof *{u});",
                f"#pragma cofuse store({t}[0:{h}], {u}[0:{h}][0:{w}])", f"  {k}_ramp({h}, 1, 1, {t});", f"  {k}_ramp({h * w}, 3, 1, {u});"] + [
            l if l.startswith("#") else "  " + l for l in body] + [
            f"  for (int q = 0; q < {h}; q++) s1 = 0.75 * s1 + 0.01 * (double){t}[q];",
            f"  for (int q = 0; q < {h * w}; q++) s1 = 0.75 * s1 + 0.01 * (double){u}[q];", f"  free({t}), free({u});", "}"]

    def wide(self, k, x, y, z, n, s):
        """Few long rows, which are cut across; conditions that keep to the array let subscripts leave a row."""
        h, w, d = self.r.choice([2, 3]), self.r.choice([23, 31, 40]), self.r.choice([1, 1, 2])
        t, u = f"t{self.fresh()}", f"t{self.fresh()}"
        c = "0.25 * " if is_float(k) else "3 ^ "
        reads = [f"if (i > 0) v += {c}p[i * {w} + j - {d}];", f"if (i < {h - 1}) v += {c}p[i * {w} + j + {d}];",
                 f"if (i > 0 && j < {w - 1}) v += {c}p[(i - 1) * {w} + j + 1];"]
        body = reads[:2] if self.r.random() < 0.6 else self.r.sample(reads, self.r.choice([1, 2]))
        return ["{", f"  {k} *{t} = calloc({h * w}, sizeof *{t}), *{u} = calloc({h * w}, sizeof *{u});",
                f"#pragma cofuse store({t}[0:{h}][0:{w}], {u}[0:{h}][0:{w}])", f"  {k}_ramp({h * w}, 3, 1, {t});",
                f"  {k} *p = {t}, *q = {u};", f"  for (int it2 = 0; it2 < {self.r.choice([1, 2, 3])}; it2++) {{", "#pragma cofuse forall collapse(2)",
                f"    for (int i = 0; i < {h}; i++)", f"      for (int j = 0; j < {w}; j++) {{", f"        {k} v = {c}p[i * {w} + j];"] + [
            "        " + l for l in body] + [f"        q[i * {w} + j] = v;", "      }", f"    {k} *o = p;", "    p = q, q = o;", "  }",
            f"  for (int q2 = 0; q2 < {h * w}; q2++) s1 = 0.75 * s1 + 0.01 * (double)p[q2];", f"  free({t}), free({u});", "}"]

    def histogram(self, k, x, y, z, n, s):
        """Reductions into sections of arrays."""
        m, lo = self.r.choice([1, 2, 3, 7, 64]), self.r.choice([0, 0, 1, 3])
        h = f"h{self.fresh()}"
        op, update = self.r.choice([("+", "{} += {};"), ("+", "{0} = {0} + {1};"), ("^", "{} ^= {};"), ("|", "{} |= {};"),
                                    ("max", "if ({1} > {0}) {0} = {1};"), ("min", "{0} = {1} < {0} ? {1} : {0};"), ("*", "{} *= {} | 1u;")])
        bins = self.r.choice([f"u * {self.r.choice([1, 3, 5])} % {m}", f"u % {m}", f"u / {max(1, n // m + 1)}", f"(u & 1) * {m - 1}"])
        many = self.r.choice([0, 0, 20000])  # enough for several private copies
        value = f"(uint32_t)({self.as_int(('p[u]', k))[0]})"
        second = self.r.random() < 0.4
        make, end = [(f"  uint32_t {h}[{lo + m}];", []), (f"  uint32_t *{h} = malloc({lo + m} * sizeof *{h});", [f"  free({h});"])][self.r.randrange(2)]
        store = [f"#pragma cofuse store({h}[0:{lo + m}])"] if end and self.r.random() < 0.5 else []
        return ["{", f"  {k} *p = {x.flat};", make] + store + [f"  for (int q = 0; q < {lo + m}; q++) {h}[q] = q * 11u + 1u;",
                f"  {k}_axpy({n}, {x.flat}, {y.flat}, {s});", f"  uint32_t other{h}[5] = {{1, 2, 3, 4, 5}};",
                f"#pragma cofuse forall reduction({op} : {h}[{lo}:{m}])" + (f" reduction(+ : other{h}[1:3])" if second else ""),
                f"  for (int i = 0; i < {many or n}; i++) {{", f"    int u = {f'i % {n}' if many else 'i'};", f"    uint32_t v = {value};",
                "    " + update.format(f"{h}[{lo} + {bins}]", "v")] + ([f"    other{h}[1 + i % 3] += v ^ i;"] if second else []) + ["  }",
                f"  for (int q = 0; q < 5; q++) su = su * 31u + other{h}[q];",
                f"  for (int q = 0; q < {lo + m}; q++) su = su * 31u + {h}[q];"] + end + ["}"]
