#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py --tool cofuse-ir [--update] FOLDER: windows in, what the analysis says out.

Every NAME.ir says in its comments what to do with it:
  # run: COMMAND ARGUMENTS    the output of cofuse-ir for this window; all of them together are NAME.out
  # differs: OLD => NEW       the window with OLD replaced by NEW has another memo key
  # same: OLD => NEW          ... has the same memo key (all occurrences are replaced)
  # repeat: N                 the last task of the window stands there N times
  # turns: N                  all of its tasks do, one after another
errors.txt: texts that the parser refuses, each behind "==", each followed by the message.
--docs: a text whose examples are checked, too.
--update writes NAME.out anew: read the difference before you commit it."""

import argparse
import pathlib
import re
import subprocess
import sys


def tool(path, arguments, text):
    r = subprocess.run([path, *arguments, "-"], input=text, capture_output=True, text=True, timeout=60)
    if r.returncode < 0:
        return f"signal {-r.returncode}\n"
    return r.stdout + r.stderr


def notes(text, word):
    return re.findall(rf"^# {word}: (.*)$", text, re.M)


def expand(text):
    for n in notes(text, "turns"):
        at = min(k for k in (text.find("\nforall "), text.find("\ntask ")) if k >= 0)
        text += text[at:] * (int(n) - 1)
    for n in notes(text, "repeat"):
        at = max(text.rfind("\nforall "), text.rfind("\ntask "))
        text += text[at:] * (int(n) - 1)
    return text


def keys(path, text):
    """Faults of the memo key."""
    faults, own = [], tool(path, ["key"], text)
    for word in ("differs", "same"):
        for note in notes(text, word):
            old, _, new = note.partition(" => ")
            body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
            find = (r"\b" if old[0].isalnum() else "") + re.escape(old) + (r"\b" if old[-1].isalnum() else "")
            if not re.search(find, body):
                faults.append(f"'{old}' is not in the window")
                continue
            other = tool(path, ["key"], re.sub(find, lambda m: new, body) + "\n")
            if "error" in other:
                faults.append(f"{note}: {other}")
            elif (other == own) != (word == "same"):
                faults.append(f"the key should be {'the same' if word == 'same' else 'another one'}: {note}")
    return faults


def run(path, file, update):
    text = expand(file.read_text())
    out = "".join(f"$ cofuse-ir {c}\n{tool(path, c.split(), text)}\n" for c in notes(text, "run"))
    want = file.with_suffix(".out")
    faults = keys(path, text)
    if update:
        want.write_text(out)
    elif not want.exists():
        faults.append(f"there is no {want.name}")
    elif want.read_text() != out:
        shown = subprocess.run(["diff", "-u", str(want), "-"], input=out, capture_output=True, text=True).stdout
        faults.append("the output differs:\n" + shown)
    if "error" not in out:
        faults += [e for e in [tool(path, ["check"], text)] if e]
    return faults


def errors(path, file, update):
    """Texts without their first line, and what is said about them."""
    faults, out = [], ""
    for block in file.read_text().split("== ")[1:]:
        body, _, want = block.partition("\n-- ")
        got = tool(path, ["text"], "cofuse-ir 1\n" + body + "\n").strip()
        out += f"== {body}\n-- {got}\n"
        if got != want.strip():
            faults.append(f"of the text\n{body}\nthe tool says\n{got}\ninstead of\n{want}")
    if update:
        file.write_text(out)
        return []
    return faults


def documented(path, file):
    """The examples of the documentation are right, and so is what it says they print."""
    text = file.read_text()
    faults = []
    for window, shown in re.findall(r"```cofuse-ir\n(.*?)```.*?```\n(.*?)```", text, re.S):
        out = tool(path, ["all"], window)
        parts = [part for part in shown.split("\n\n") if part not in out]
        if parts:
            faults.append("\n\n".join(["what the example does not print:", *parts, "what it prints:", out]))
    return faults if "```cofuse-ir" in text else ["no example"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tool", required=True)
    p.add_argument("--update", action="store_true")
    p.add_argument("--docs", type=pathlib.Path)
    p.add_argument("folder", type=pathlib.Path)
    o = p.parse_args()
    bad = 0
    files = sorted(o.folder.glob("*.ir"))
    for file in files:
        for fault in run(o.tool, file, o.update):
            bad += 1
            print(f"{file.name}: {fault}")
    for fault in errors(o.tool, o.folder / "errors.txt", o.update):
        bad += 1
        print(f"errors.txt: {fault}")
    for fault in documented(o.tool, o.docs) if o.docs else []:
        bad += 1
        print(f"{o.docs.name}: {fault}")
    print(f"{len(files)} windows, {bad} faults")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
