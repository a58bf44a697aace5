# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The picture of ./dev bench: grouped bars as SVG, without any library."""

import html

COLOURS = ["#8ecae6", "#219ebc", "#ffb703", "#fb8500"]
INK, PALE, RED = "#1d3557", "#d9dee5", "#c1121f"
HALO = "stroke='white' stroke-width='3' stroke-linejoin='round'"
FONT = "font-family='Helvetica, Arial, sans-serif'"
WIDTH, LEFT, RIGHT, PLOT = 1180, 60, 20, 210


def text(x, y, words, size=12, anchor="middle", colour=INK, more=""):
    return (f"<text x='{x:.1f}' y='{y:.1f}' {FONT} font-size='{size}' text-anchor='{anchor}' fill='{colour}' {more}>"
            f"{html.escape(words)}</text>")


def step_of(top):
    return next(s for s in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if top / s <= 8)


def panel(y, title, groups, legend, cap):
    """Bars of `groups`: (name, values, aim). Bars above `cap` are cut and say how high they are."""
    values = [v for _, vs, _ in groups for v in vs if v is not None] + [a for _, _, a in groups if a] + [1.2]
    top = min(cap, max(values) * 1.1)
    bottom, out = y + 46 + PLOT, [text(LEFT, y + 16, title, 16, "start", more="font-weight='bold'")]

    def at(v):
        return bottom - PLOT * min(v, top) / top
    x = LEFT
    for k, name in enumerate(legend):
        out.append(f"<rect x='{x}' y='{y + 26}' width='12' height='12' rx='2' fill='{COLOURS[k]}'/>")
        out.append(text(x + 17, y + 36, name, 12, "start"))
        x += 34 + 7 * len(name)
    step, v = step_of(top), 0.0
    while v <= top:
        out.append(f"<line x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{at(v):.1f}' y2='{at(v):.1f}' stroke='{PALE}'/>")
        out.append(text(LEFT - 8, at(v) + 4, f"{v:g}", 11, "end"))
        v += step
    labels = []  # above all lines
    room = (WIDTH - LEFT - RIGHT) / max(len(groups), 1)
    for g, (name, vs, aim) in enumerate(groups):
        x0, width = LEFT + g * room + room * 0.1, room * 0.8 / max(len(legend), 1)
        for k, v in enumerate(vs):
            if v is None:
                continue
            x = x0 + k * width
            out.append(f"<rect x='{x + 1:.1f}' y='{at(v):.1f}' width='{width - 2:.1f}' "
                       f"height='{bottom - at(v):.1f}' rx='2' fill='{COLOURS[k]}'>"
                       f"<title>{html.escape(f'{name}, {legend[k]}: {v:.2f}')}</title></rect>")
            label, cut = f"{v:.2f}" if v < 10 else f"{v:.0f}", v > top
            for colour, more in (("white", HALO), (RED if cut else INK, "")):
                labels.append(text(x + width / 2, at(v) + 12 if cut else at(v) - 4, label, 9, colour=colour, more=more))
        if aim:
            out.append(f"<line x1='{x0 - 3:.1f}' x2='{x0 + room * 0.8 + 3:.1f}' y1='{at(aim):.1f}' y2='{at(aim):.1f}' "
                       f"stroke='{RED}' stroke-width='1.5' stroke-dasharray='5 3'/>")
        out.append(text(x0 + room * 0.4, bottom + 16, name.replace("_", " "), 12))
    out.append(f"<line x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{at(1):.1f}' y2='{at(1):.1f}' stroke='{INK}' "
               "stroke-width='1.5'/>")
    return "\n".join(out + labels), bottom + 40


def draw(results, machine):
    """An SVG of the ratios in `results`, as bench.py has them."""
    import cases
    by = {(r["name"], r["size"], r["threads"]): r["ratios"] for r in results}
    combos = sorted({(r["size"], r["threads"]) for r in results})
    words = {"cache": "in cache", "memory": "arrays of 128 MB", "quick": "tiny"}
    legend = [f"{words[s]}, {t} thread{'s' if t > 1 else ''}" for s, t in combos][:len(COLOURS)]
    known = {c.name: c for c in cases.APPLICATIONS + cases.MICRO + [cases.FAST]}

    def groups(kind, ratio, aim):
        names = list(dict.fromkeys(r["name"] for r in results if r["kind"] in kind))
        return [(n, [by.get((n, s, t), {}).get(ratio) for s, t in combos[:len(COLOURS)]], aim(known[n])) for n in names]
    panels = [
        ("Time of the fused application / time of the program fused by hand (lower is better)",
         groups(("application",), "fused/hand", lambda c: max(c.hand_limit.values(), default=None)), 4),
        ("Time of the micro-kernel / time of the hand-written one (lower is better)",
         groups(("micro-kernel",), "fused/hand", lambda c: max(c.hand_limit.values(), default=None)), 4),
        ("Time without fusion / time with fusion (higher is better)",
         groups(("application", "fast math"), "unfused/fused",
                lambda c: c.speedup if (c.name, "memory", 1) in by else None), 12),
    ]
    body, y = [text(LEFT, 34, "cofuse against programs fused by hand", 22, "start", more="font-weight='bold'"),
               text(LEFT, 54, f"{machine['model']}, {machine['cpus']} CPUs. Medians of interleaved rounds. "
                    "Solid line: equal; dashed: the aim.", 12, "start")], 76
    for title, bars, cap in panels:
        if bars:
            drawn, y = panel(y, title, bars, legend, cap)
            body.append(drawn)
    return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {y}' width='{WIDTH}' height='{y}'>\n"
            f"<rect width='100%' height='100%' fill='white'/>\n" + "\n".join(body) + "\n</svg>\n")
