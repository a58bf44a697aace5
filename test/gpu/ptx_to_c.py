#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ptx_to_c.py IN.ptx OUT.c: a C program with the same functions, for the driver of the tests (test/device/fake_cuda.c).
OUT.so: that, compiled by CC, clang-19 or cc.

It knows the instructions of "PTX ISA", version 7.8, that LLVM and libdevice use for kernels without barriers, shared memory and
atomics; at any other it stops. A register is an unsigned integer of its width. Approximations (rcp.approx and the like) are
taken to be exact, cut to the bits that the manual promises."""

import os
import re
import shutil
import subprocess
import sys

PRELUDE = r"""
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#pragma STDC FP_CONTRACT OFF
typedef __int128 i128; typedef unsigned __int128 u128;
extern void *(*fake_cuda_memory)(uint64_t at, uint64_t bytes);
void *(*fake_cuda_memory)(uint64_t at, uint64_t bytes);
static inline double f64_of(uint64_t x) { double y; memcpy(&y, &x, 8); return y; }
static inline float f32_of(uint32_t x) { float y; memcpy(&y, &x, 4); return y; }
static inline uint64_t of_f64(double x) { uint64_t y; memcpy(&y, &x, 8); return y; }
static inline uint32_t of_f32(float x) { uint32_t y; memcpy(&y, &x, 4); return y; }
/* The one of two numbers that is no NaN; -0 is less than +0. */
static inline double max_f64(double a, double b) { return isnan(a) ? b : isnan(b) ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b; }
static inline double min_f64(double a, double b) { return isnan(a) ? b : isnan(b) ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b; }
static inline float max_f32(float a, float b) { return (float)max_f64(a, b); }
static inline float min_f32(float a, float b) { return (float)min_f64(a, b); }
static inline float flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
static inline double coarse(double x) { return f64_of(of_f64(fabs(x) < 0x1p-1022 ? copysign(0, x) : x) & ~(uint64_t)0xffffffff); }
static inline double flush_f64(double x) { return fabs(x) < 0x1p-1022 ? copysign(0, x) : x; }
#define TO_INT(name, type, least, beyond) \
  static inline type name(double x) { return isnan(x) ? 0 : x <= (double)(least) ? (least) : x >= (double)(beyond) ? (type)~(least) : (type)x; }
TO_INT(to_s64, int64_t, INT64_MIN, 0x1p63) TO_INT(to_s32, int32_t, INT32_MIN, 0x1p31)
TO_INT(to_s16, int16_t, INT16_MIN, 0x1p15) TO_INT(to_s8, int8_t, INT8_MIN, 0x1p7)
TO_INT(to_u64, uint64_t, (uint64_t)0, 0x1p64) TO_INT(to_u32, uint32_t, (uint32_t)0, 0x1p32)
TO_INT(to_u16, uint16_t, (uint16_t)0, 0x1p16) TO_INT(to_u8, uint8_t, (uint8_t)0, 0x1p8)
static inline double half_even(double x) { return nearbyint(x); } /* the host rounds to nearest */
static inline uint64_t field(uint64_t a, uint32_t at, uint32_t n, int bits, int sign) {
  at &= 255, n &= 255;
  uint64_t all = bits == 64 ? ~(uint64_t)0 : 0xffffffff, mask = n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
  uint64_t v = at >= (uint32_t)bits ? 0 : (a & all) >> at;
  uint64_t top = n == 0 ? 0 : a >> (at + n - 1 < (uint32_t)bits ? at + n - 1 : (uint32_t)bits - 1) & 1;
  return ((v & mask) | (sign && top ? ~(mask & (at >= (uint32_t)bits ? 0 : all >> at)) : 0)) & all;
}
static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t at, uint32_t n, int bits) {
  at &= 255, n &= 255;
  uint64_t all = bits == 64 ? ~(uint64_t)0 : 0xffffffff, mask = n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
  mask = at >= (uint32_t)bits ? 0 : mask << at & all;
  return (b & ~mask) | ((at >= (uint32_t)bits ? 0 : a << at) & mask);
}
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t how) {
  uint64_t all = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (int k = 0; k < 4; k++) {
    uint32_t s = how >> 4 * k, byte = all >> 8 * (s & 7) & 255;
    r |= (s & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * k;
  }
  return r;
}
#define MEM(type, at) (*(type *)fake_cuda_memory((at), sizeof(type)))
static inline uint64_t aligned(uint64_t at, uint64_t n) { if (at % n) abort(); return at; }
#define OWN(type, at) (*(type *)(uintptr_t)aligned(at, sizeof(type)))
"""

WIDTH = {"pred": 1, "s8": 8, "u8": 8, "b8": 8, "s16": 16, "u16": 16, "b16": 16, "s32": 32, "u32": 32, "b32": 32, "f32": 32,
         "s64": 64, "u64": 64, "b64": 64, "f64": 64}
SPECIAL = {f"%{name}.{axis}": f"ids[{3 * k + a}]" for k, name in enumerate(("tid", "ntid", "ctaid", "nctaid"))
           for a, axis in enumerate("xyz")}
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
OPERAND = r"(?:\{[^{}]*\}|\[[^\[\]]*\]|[-%$\w.]+)"


class Unknown(Exception):
    pass


def ctype(t):
    w = max(WIDTH[t], 8)
    return {"f": "float" if w == 32 else "double", "s": f"int{w}_t"}.get(t[0] if t != "pred" else "u", f"uint{w}_t")


def unsigned(t):
    return f"uint{max(WIDTH[t], 8)}_t"


def name_of(token):
    return re.sub(r"\W", "_", token.strip())


class Function:
    def __init__(self, text, known):
        self.text, self.known, self.out = text, known, []

    def value(self, token, t):
        """An operand, as a C expression of its type."""
        token = token.strip()
        m = re.fullmatch(r"0[df]([0-9A-Fa-f]+)", token)
        if m:
            bits = f"0x{m[1]}u" + ("ll" if len(m[1]) > 8 else "")
        elif re.fullmatch(r"-?\d+", token):
            bits = f"{token}" + ("ull" if not token.startswith("-") else "ll")
            if token == "-9223372036854775808":
                bits = "INT64_MIN"
        elif re.fullmatch(r"-?0x[0-9A-Fa-f]+", token):
            bits = token + "ull"
        elif token in SPECIAL:
            bits = SPECIAL[token]
        elif token in self.known:
            bits = f"(uint64_t)(uintptr_t){name_of(token)}"
        else:
            bits = name_of(token)
        if t in ("f64", "f32"):
            return f"{t}_of({bits})"
        return f"(({ctype(t)})({bits}))"

    def store(self, d, expression, t):
        v = f"of_{t}({expression})" if t[0] == "f" else f"({ctype(t)})({expression})"
        if d.strip() == "_":
            return ""
        return f"{name_of(d)} = {v};"

    def place(self, token):
        m = re.fullmatch(r"\[([^\]+]+?)(?:\+(-?\d+))?\]", token.strip())
        return m[1].strip(), int(m[2] or 0)

    def memory(self, op, parts, a):
        """ld and st, of vectors too."""
        space = next((s for s in ("param", "global", "local", "const", "shared") if s in parts), "generic")
        t = parts[-1]
        at, value = (a[1], a[0]) if op == "ld" else (a[0], a[1])
        base, offset = self.place(at)
        names = value.strip().strip("{}").split(",")
        lines = []
        if len(names) > 1 and space in ("global", "local"):  # one access, aligned as a whole
            whole = f"{self.value(base, 'u64')} + (int64_t){offset}, {len(names) * WIDTH[t] // 8}"
            lines.append(f"(void){'fake_cuda_memory' if space == 'global' else 'aligned'}({whole});")
        for k, n in enumerate(names):
            off = offset + k * WIDTH[t] // 8
            if space == "param":
                here = f"*({unsigned(t)} *)({name_of(base)} + {off})"
            elif space in ("global", "local"):
                address = self.value(base, "u64")
                here = f"{'MEM' if space == 'global' else 'OWN'}({unsigned(t)}, {address} + (int64_t){off})"
            elif space == "generic":
                here = f"OWN({unsigned(t)}, local_or_global({self.value(base, 'u64')} + (int64_t){off}, {WIDTH[t] // 8}))"
            else:
                raise Unknown(f"memory .{space}")
            if op == "ld":
                lines.append(f"{name_of(n)} = ({ctype(t) if t[0] == 's' else unsigned(t)}){here};")
            else:
                lines.append(f"{here} = ({unsigned(t)})({self.value(n, 'b' + t[1:])});")
        return " ".join(lines)

    def convert(self, parts, a):
        to, source = parts[-2], parts[-1]
        mode = [p for p in parts[1:-2]]
        v = self.value(a[1], source)
        if to[0] == "f" and source[0] == "f":
            rounding = next((m for m in mode if m in ("rni", "rmi", "rpi", "rzi")), None)
            v = f"({ctype(to)}){v}"
            if rounding:
                v = f"({ctype(to)}){dict(rni='half_even', rmi='floor', rpi='ceil', rzi='trunc')[rounding]}({v})"
            if "sat" in mode:
                v = f"({ctype(to)})fmin(fmax({v}, 0), 1)"
            mode = [m for m in mode if m not in ("rni", "rmi", "rpi", "rzi", "rn", "sat")]
        elif source[0] == "f":
            rounding = next(m for m in mode if m in ("rni", "rmi", "rpi", "rzi"))
            whole = f"to_{to}({dict(rni='half_even', rmi='floor', rpi='ceil', rzi='trunc')[rounding]}({v}))"
            least = f"({ctype(to)})(({unsigned(to)})1 << {WIDTH[to] - 1})"  # of no number, if one side has 64 bits
            v = f"(isnan({v}) ? {least} : {whole})" if "64" in to + source else whole
            mode.remove(rounding)
        elif to[0] == "f":
            v = f"({ctype(to)}){v}"
            mode = [m for m in mode if m != "rn"]
        if mode:
            raise Unknown(".".join(parts))
        return self.store(a[0], v, to)

    def instruction(self, op, a):
        parts = op.split(".")
        name, t = parts[0], parts[-1]
        val = lambda k, ty=None: self.value(a[k], ty or t)
        if name in ("ld", "st"):
            return self.memory(name, parts, a)
        if name == "mov":
            if a[0].strip().startswith("{"):
                d = a[0].strip().strip("{}").split(",")
                w = WIDTH[t] // len(d)
                return f"{{ {unsigned(t)} whole = {self.value(a[1], 'b' + t[1:])}; " + " ".join(
                    f"{name_of(n)} = (uint{w}_t)(whole >> {k * w});" for k, n in enumerate(d) if n.strip() != "_") + " }"
            if a[1].strip().startswith("{"):
                s = a[1].strip().strip("{}").split(",")
                w = WIDTH[t] // len(s)
                return f"{name_of(a[0])} = " + " | ".join(f"({unsigned(t)})(uint{w}_t){name_of(n)} << {k * w}" for k, n in enumerate(s)) + ";"
            return f"{name_of(a[0])} = {self.value(a[1], t if t == 'pred' else 'b' + t[1:])};"
        if name == "cvta":
            return f"{name_of(a[0])} = {val(1)};"
        if name == "cvt":
            return self.convert(parts, a)
        if name in ("setp", "set"):
            c = parts[1]
            if len(parts) > 3 or name == "set":
                raise Unknown(op)
            x, y = val(1), val(2)
            if c in ("num", "nan"):
                e = f"{'' if c == 'nan' else '!'}(isnan({x}) || isnan({y}))"
            elif t[0] == "f" and c.endswith("u") and c[:-1] in COMPARE:
                e = f"(isnan({x}) || isnan({y}) || {x} {COMPARE[c[:-1]]} {y})"
            elif t[0] == "f" and c == "ne":
                e = f"(!isnan({x}) && !isnan({y}) && {x} != {y})"
            else:
                e = f"{x} {COMPARE[c]} {y}"
            return f"{name_of(a[0])} = {e};"
        if name == "selp":
            return f"{name_of(a[0])} = {name_of(a[3])} ? {self.value(a[1], 'b' + t[1:])} : {self.value(a[2], 'b' + t[1:])};"
        if t == "pred":
            e = {"not": lambda: f"!{val(1)}"}.get(name, lambda: f"{val(1)} {ARITHMETIC[name]} {val(2)}")()
            return f"{name_of(a[0])} = {e};"
        if t[0] == "f":
            return self.store(a[0], self.floating(name, parts, val), t)
        return self.whole(name, parts, t, a, val)

    def floating(self, name, parts, val):
        t, mode = parts[-1], set(parts[1:-1])
        f = "f" if t == "f32" else ""
        if mode == {"rn"} or not mode:
            if name in ("add", "sub", "mul", "fma", "div", "sqrt", "rcp") and not mode:
                raise Unknown(".".join(parts) + ": without .rn it may become part of something else")
            if name in ("add", "sub", "mul"):
                return f"{val(1)} {ARITHMETIC[name]} {val(2)}"
            simple = {"div": lambda: f"{val(1)} / {val(2)}", "sqrt": lambda: f"sqrt{f}({val(1)})", "rcp": lambda: f"1 / {val(1)}",
                      "fma": lambda: f"fma{f}({val(1)}, {val(2)}, {val(3)})", "neg": lambda: f"-{val(1)}",
                      "abs": lambda: f"fabs{f}({val(1)})", "max": lambda: f"max_{t}({val(1)}, {val(2)})",
                      "min": lambda: f"min_{t}({val(1)}, {val(2)})", "copysign": lambda: f"copysign{f}({val(2)}, {val(1)})"}
            if name in simple:
                return simple[name]()
        # Of libdevice: starting values and single precision by table.
        if "approx" in mode:
            x = f"flush({val(1)})" if "ftz" in mode and f else f"flush_f64({val(1)})" if "ftz" in mode else val(1)
            e = {"rcp": f"1 / {x}", "rsqrt": f"1 / sqrt{f}({x})", "sqrt": f"sqrt{f}({x})", "ex2": f"exp2{f}({x})",
                 "lg2": f"log2{f}({x})", "sin": f"sin{f}({x})", "cos": f"cos{f}({x})"}.get(name)
            if e:
                return f"coarse({e})" if t == "f64" else f"flush({e})" if "ftz" in mode else e
        if name in ("add", "fma") and mode in ({"rz"}, {"rm"}, {"rp"}):
            x = f"(long double){val(1)} + {val(2)}" if name == "add" else f"(long double){val(1)} * {val(2)} + {val(3)}"
            return f"cut_{t}_{min(mode)}({x})"
        raise Unknown(".".join(parts))

    def whole(self, name, parts, t, a, val):
        w, mode = WIDTH[t], parts[1:-1]
        u = "u" + str(w)
        wide = "i128" if t[0] == "s" else "u128"
        if name in ("add", "sub", "addc", "subc", "madc", "mad") and ("cc" in mode or name.endswith("c")):
            carry = "cc" if name.endswith("c") else "0"
            if name.startswith("mad"):
                product = f"((u128){self.value(a[1], u)} * {self.value(a[2], u)})"
                product = f"({product} >> {w})" if "hi" in mode else f"({unsigned(u)}){product}"
                e = f"(u128){product} + {self.value(a[3], u)} + {carry}"
            elif name.startswith("add"):
                e = f"(u128){self.value(a[1], u)} + {self.value(a[2], u)} + {carry}"
            else:
                e = f"(u128){self.value(a[1], u)} - {self.value(a[2], u)} - {carry}"
            keep = f" cc = sum >> {w} & 1;" if "cc" in mode else ""
            return f"{{ u128 sum = {e}; {name_of(a[0])} = ({unsigned(u)})sum;{keep} }}"
        if name in ("and", "or", "xor") or (name in ("add", "sub") and not mode):
            return self.store(a[0], f"{self.value(a[1], u)} {ARITHMETIC[name]} {self.value(a[2], u)}", u)
        if name in ("mul", "mad"):
            how = mode[0]
            product = f"({wide}){val(1)} * {val(2)}"
            e = {"lo": product, "wide": product, "hi": f"({product}) >> {w}"}[how]
            to = {"wide": t[0] + str(2 * w)}.get(how, t)
            if name == "mad":
                e = f"({e}) + {self.value(a[3], to)}"
            return self.store(a[0], e, to)
        if name in ("div", "rem"):
            sign = "/" if name == "div" else "%"
            none = "-1" if name == "div" else val(1)
            return self.store(a[0], f"{val(2)} == 0 ? ({wide}){none} : ({wide}){val(1)} {sign} {val(2)}", t)
        if name in ("min", "max"):
            return self.store(a[0], f"{val(1)} {'<' if name == 'min' else '>'} {val(2)} ? {val(1)} : {val(2)}", t)
        if name in ("shl", "shr"):
            by = self.value(a[2], "u32")
            if name == "shl":
                return self.store(a[0], f"{by} >= {w} ? 0 : (uint64_t){self.value(a[1], u)} << {by}", u)
            kind = t if t[0] == "s" else u
            beyond = f"({val(1)} < 0 ? -1 : 0)" if t[0] == "s" else "0"
            return self.store(a[0], f"{by} >= {w} ? {beyond} : {self.value(a[1], kind)} >> {by}", kind)
        if name == "shf" and "wrap" in mode:
            both = f"((uint64_t){self.value(a[2], 'u32')} << 32 | {self.value(a[1], 'u32')})"
            by = f"({self.value(a[3], 'u32')} & 31)"
            return self.store(a[0], f"{both} >> {by}" if "r" in mode else f"({both} << {by}) >> 32", "u32")
        simple = {"not": lambda: f"~{self.value(a[1], u)}", "neg": lambda: f"-({unsigned(u)}){self.value(a[1], u)}",
                  "abs": lambda: f"{val(1)} < 0 ? -({unsigned(u)}){val(1)} : ({unsigned(u)}){val(1)}",
                  "bfe": lambda: f"field({self.value(a[1], u)}, {self.value(a[2], 'u32')}, {self.value(a[3], 'u32')}, {w}, {int(t[0] == 's')})",
                  "bfi": lambda: f"insert({self.value(a[1], u)}, {self.value(a[2], u)}, {self.value(a[3], 'u32')}, {self.value(a[4], 'u32')}, {w})",
                  "prmt": lambda: f"permute({self.value(a[1], 'u32')}, {self.value(a[2], 'u32')}, {self.value(a[3], 'u32')})"}
        if name in simple and not mode:
            return self.store(a[0], simple[name](), u)
        if name in ("clz", "popc") and not mode:
            v = self.value(a[1], "u" + str(w))
            e = f"__builtin_popcountll({v})" if name == "popc" else f"{v} == 0 ? {w} : __builtin_clzll({v}) - {64 - w}"
            return self.store(a[0], e, "u32")
        raise Unknown(".".join(parts))

    def declare(self, text):
        """.reg, .local and .param within a body."""
        m = re.fullmatch(r"\.reg\s+\.(\w+)\s+(.*)", text, re.S)
        if m:
            t = unsigned("u" + str(max(WIDTH[m[1]], 8)))
            names = []
            for n in m[2].split(","):
                many = re.fullmatch(r"\s*(%?\w+)<(\d+)>\s*", n)
                names += [f"{name_of(many[1])}{k}" for k in range(int(many[2]))] if many else [name_of(n)]
            rubbish = "1" if m[1] == "pred" else f"({t})0xa5b6c7d8e9fa0b1cull"
            return "".join(f"{t} {n} = {rubbish}; (void){n}; " for n in names)
        m = re.fullmatch(r"\.(?:local|param)\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(\w+)(?:\[(\d+)\])?", text)
        if m:
            self.known.add(m[2]) if text.startswith(".local") else None
            return f"_Alignas(16) char {m[2]}[{WIDTH[m[1]] // 8 * int(m[3] or 1)}]; "
        raise Unknown(text)

    def call(self, text):
        m = re.fullmatch(r"call(?:\.uni)?\s*(?:\((\w+)\)\s*,)?\s*(\w+)\s*(?:,\s*\(([^)]*)\))?", text, re.S)
        if not m:
            raise Unknown(text)
        return f"f_{m[2]}(ids, {m[1] or 'NULL'}, (char *[]){{{m[3] or 'NULL'}}});"

    def body(self):
        lines, at = [], 0
        while (m := re.compile(r"\s*(?:(\$\w+):|([{}])|([^;]+);)", re.S).match(self.text, at)):
            at = m.end()
            s = (m[3] or "").strip()
            if m[1]:
                lines.append(f"L{name_of(m[1])}:;")
            elif m[2]:
                lines.append(m[2])
            elif s.startswith("."):
                lines.append("" if s.startswith(".pragma") else self.declare(s))
            elif s:
                lines.append(self.statement(s))
        if self.text[at:].strip():
            raise Unknown(self.text[at:][:80])
        return "\n".join(lines)

    def statement(self, s):
        guard = ""
        m = re.match(r"@(!?)(%\w+)\s+(.*)", s, re.S)
        if m:
            guard, s = f"if ({m[1]}{name_of(m[2])}) ", m[3]
        if s.startswith("call"):
            return guard + self.call(s)
        op, _, rest = s.partition(" ") if " " in s.split("\t")[0] else s.partition("\t")
        op, rest = op.strip(), rest.strip()
        if op in ("bra", "bra.uni"):
            return f"{guard}goto L{name_of(rest)};"
        if op in ("ret", "ret.uni", "exit"):
            return f"{guard}return;"
        if not re.fullmatch(f"(?:{OPERAND}\\s*(?:,\\s*|$))*", rest):
            raise Unknown(s)
        done = self.instruction(op, re.findall(OPERAND, rest))
        return f"{guard}{{ {done} }}" if guard else done


def cut(t, mode):
    """A sum that is exact in extended precision, or nearly, rounded towards zero, down or up."""
    c, next_ = ctype(t), "nextafterf" if t == "f32" else "nextafter"
    away = {"rz": "(x > 0 ? y > x : y < x)", "rm": "y > x", "rp": "y < x"}[mode]
    to = {"rz": "0", "rm": "-INFINITY", "rp": "INFINITY"}[mode]
    return f"static inline {c} cut_{t}_{mode}(long double x) {{ {c} y = ({c})x; return {away} ? {next_}(y, {to}) : y; }}\n"


def translate(text):
    text = re.sub(r"//[^\n]*", "", text)
    out, table, known = [PRELUDE], [], set()
    for t in ("f32", "f64"):
        out += [cut(t, m) for m in ("rz", "rm", "rp")]
    out.append("static uint64_t local_or_global(uint64_t at, uint64_t n) { volatile char here; uint64_t stack = (uint64_t)(uintptr_t)&here;\n"
               "  return at > stack && at - stack < 1 << 20 ? at : (uint64_t)(uintptr_t)fake_cuda_memory(at, n); }\n")
    for m in re.finditer(r"\.(?:global|const)\s+(?:\.align\s+\d+\s+)?\.b8\s+(\w+)\[(\d+)\]\s*=\s*\{([^}]*)\}\s*;", text):
        known.add(m[1])
        out.append(f"_Alignas(16) unsigned char {m[1]}[{m[2]}] = {{{m[3]}}};\n")
    out.append("const struct { const unsigned char *at; size_t bytes; } fake_cuda_data[] = {" +
               "".join(f"{{{n}, sizeof {n}}}, " for n in sorted(known)) + "{0, 0}};\n")
    heads, bodies = [], []
    pattern = r"(?:\.visible\s+|\.weak\s+)*\.(entry|func)\s*(?:\(\s*\.param\s+(?:\.align\s+\d+\s+)?\.\w+\s+(\w+)(?:\[\d+\])?\s*\)\s*)?(\w+)\s*\(([^)]*)\)\s*(?:\.maxntid[^{]*)?(;|\{)"
    for m in re.finditer(pattern, text):
        kind, result, name, parameters, end = m.groups()
        names, sizes = [], []
        for p in filter(str.strip, parameters.split(",")):
            q = re.fullmatch(r"\s*\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(\w+)(?:\[(\d+)\])?\s*", p)
            names.append(q[2])
            sizes.append(WIDTH[q[1]] // 8 * int(q[3] or 1))
        head = f"static void f_{name}(const uint32_t *ids, char *result, char *const *params)"
        if end == ";":
            heads.append(head + ";\n")
            continue
        depth, at = 1, m.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        own = "".join(f"char *const {n} = params[{k}]; (void){n};\n" for k, n in enumerate(names))
        if result:
            own += f"char *const {result} = result;\n"
        heads.append(head + ";\n")
        bodies.append(f"{head} {{\nuint32_t cc = 0; (void)cc, (void)ids, (void)result, (void)params;\n{own}"
                      f"{Function(text[m.end():at - 1], set(known)).body()}\n}}\n")
        if kind == "entry":
            table.append(f'{{"{name}", f_{name}, {len(names)}, {{{", ".join(map(str, sizes))}}}}}')
    if len(heads) != len(re.findall(r"^\s*(?:\.visible\s+|\.weak\s+|\.extern\s+)*\.(?:entry|func)\b", text, re.M)):
        raise Unknown("a function")
    out += heads + bodies
    out.append("const struct { const char *name; void (*fn)(const uint32_t *, char *, char *const *); int n; int bytes[4]; } "
               "fake_cuda_kernels[] = {\n" + ",\n".join(table) + ",\n{0}};\n")
    return "".join(out)


def main():
    with open(sys.argv[1]) as f:
        text = f.read()
    try:
        made = translate(text)
    except Unknown as e:
        sys.exit(f"ptx_to_c: {sys.argv[1]}: unknown: {e}")
    out = sys.argv[2]
    c = out.removesuffix(".so") + ".c" if out.endswith(".so") else out
    with open(c, "w") as f:
        f.write(made)
    if c != out:
        cc = os.environ.get("CC") or shutil.which("clang-19") or "cc"
        sys.exit(subprocess.run([cc, "-w", "-O1", "-shared", "-fPIC", "-ffp-contract=off", "-fno-strict-aliasing", c, "-o", out, "-lm"]).returncode)


if __name__ == "__main__":
    main()
