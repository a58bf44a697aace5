# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays, loop counters and subscripts of random programs (generate.py)."""

INTS = {"int8_t": (1, True), "uint8_t": (1, False), "int16_t": (2, True), "uint16_t": (2, False),
        "int32_t": (4, True), "uint32_t": (4, False), "int64_t": (8, True), "uint64_t": (8, False),
        "_Bool": (1, False)}
FLOATS = {"float": 4, "double": 8}
CELL = {"x": "double", "y": "float", "k": "int32_t", "t": "uint8_t"}


def is_float(kind):
    return kind in FLOATS


def size_of(kind):
    return 24 if kind == "struct cell" else FLOATS.get(kind) or INTS[kind][0]


class Array:
    """A C array. form: flat (p[i * m + j]), rows (p[i][j]); field: member of an array of structs; shift:
    the name is a pointer so many elements further in."""

    def __init__(self, name, kind, extents, form="flat", role="store", field=None, shift=0):
        self.name, self.kind, self.extents, self.form = name, kind, list(extents), form
        self.role, self.field, self.shift = role, field, shift
        self.own = name  # what this is a view of

    @property
    def size(self):
        n = 1
        for e in self.extents:
            n *= e
        return n

    @property
    def flat(self):
        """A pointer to the first element, as C."""
        if self.form == "flat":
            return self.name
        return "(&" + self.name + "[0]" * len(self.extents) + ")" if self.size else f"(({self.kind} *){self.name})"

    def sections(self):
        if self.form == "auto":
            return self.name
        return self.name + "".join(f"[0:{e}]" for e in self.extents)

    def at(self, subscripts):
        """subscripts: C texts of int value, one per extent."""
        if self.form != "flat":
            return self.name + "".join(f"[{s}]" for s in subscripts)
        text = subscripts[0]
        for s, e in zip(subscripts[1:], self.extents[1:]):
            text = f"({text}) * {e} + {s}" if not text.isalnum() else f"{text} * {e} + {s}"
        if self.shift:
            text = f"{text} - {self.shift}"
        return f"{self.name}[{text}]" + (f".{self.field}" if self.field else "")

    def view(self, extents=None, name=None, shift=0):
        v = Array(name or self.name, self.kind, extents or self.extents, self.form, self.role, self.field, shift)
        v.own = self.own
        return v

    def key(self):
        """Two accesses with different keys never touch the same bytes."""
        return (self.own, self.field)


class Loop:
    """A counter and the values [lo, hi) for which all subscripts so far stay inside. frozen: the range is
    given, and subscripts that do not fit are refused."""

    def __init__(self, name, lo, hi, ctype="int"):
        self.name, self.lo, self.hi, self.ctype = name, lo, hi, ctype
        self.frozen = False
        self.step = 1
        self.bound = None  # C text that stands for the bound

    def fits(self, c, off, extent):
        if self.lo >= self.hi:
            return True
        ends = (c * self.lo + off, c * (self.hi - 1) + off)
        return 0 <= min(ends) and max(ends) < extent

    def admit(self, c, off, extent):
        """Narrows to values i with 0 <= c * i + off < extent; False if frozen and not all are."""
        if self.frozen:
            return self.fits(c, off, extent)
        if c > 0:
            self.lo = max(self.lo, -(off // c))
            self.hi = min(self.hi, (extent - 1 - off) // c + 1)
        elif c < 0:
            self.lo = max(self.lo, -((extent - 1 - off) // -c))
            self.hi = min(self.hi, off // -c + 1)
        return True

    @property
    def trips(self):
        return max(0, self.hi - self.lo)


def affine(c, name, off):
    """No intermediate value is negative where the result is not: counters may be unsigned of any width."""
    if c == -1:
        return f"{off} - {name}"
    text = {1: name, -1: f"-{name}"}.get(c, f"{c} * {name}")
    return f"{text} + {off}" if off > 0 else f"{text} - {-off}" if off < 0 else text
