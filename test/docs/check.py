#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the documentation to what the built cofuse does.

check.py language     every program of docs/language.md gives the plain compiler's answer on 1 and 3 ranks,
                      runs its loops as tasks, and together they show every directive and clause
check.py diagnostics  docs/diagnostics.md has an entry for each code of plugin/Diag.def and no other, quotes its
                      text, its example gives that code, its cure compiles in silence; likewise at run time
check.py environment  docs/environment.md lists the variables that cofuse-env lists, with the same defaults
check.py self-test    the checks find planted faults
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
# What the examples of docs/language.md must show, as text behind "#pragma cofuse".
SHOWN = ["store(", "release(", "forall", "task", "update(", "host", "flush", "undefined", "collapse(", "reduction(",
         "private(", "firstprivate(", "if (", "name(", "nowait", "reads(", "writes("]


def blocks(text):
    """(info string, body, line) of each fenced block."""
    return [(m.group(1).strip(), m.group(2), text.count("\n", 0, m.start()) + 1) for m in FENCE.finditer(text)]


def execute(command, env=None, cwd=None, timeout=60):
    """Status (None after a time-out), stdout and stderr. A launcher's ranks die with their session."""
    child = subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    try:
        out, err = child.communicate(timeout=timeout)
        return child.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        return None, out, err


class Checker:
    def __init__(self, options):
        self.o = options
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="cofuse-docs-"))
        self.cc = str(pathlib.Path(options.build).resolve() / "bin/cofuse-cc")
        self.flags = shlex.split(options.cflags)
        self.faults = []
        self.count = 0
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("COFUSE_") and k != "CC"}
        self.env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", COFUSE_TIMEOUT="30",
                        COFUSE_CACHE_DIR=str(self.tmp / "cache"), CC=options.clang)
        self.launch = []
        if options.mpiexec:
            version = execute([options.mpiexec, "--version"])[1]
            open_mpi = "Open MPI" in version or "OpenRTE" in version
            self.launch = [options.mpiexec] + (["--oversubscribe", "--bind-to", "none"] if open_mpi else [])

    def check(self, what, ok, detail=""):
        self.count += 1
        if not ok:
            self.faults.append(f"{what}\n    " + "\n    ".join(line[:300] for line in detail.strip().splitlines()[:15]))
        return ok

    def each(self, function, items):
        """All items, two at a time: most of the time is spent waiting for processes to start."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda item: function(*item), items))

    def build(self, where, compiler, flags, sources, out):
        code, _, err = execute([*compiler, *self.flags, *flags, *map(str, sources), "-o", str(out),
                                *([] if "-c" in flags else ["-lm"])], self.env, self.tmp)
        return self.check(f"{where}: compiles with {' '.join(map(os.path.basename, compiler))} {' '.join(flags)}",
                          code == 0 and not err, err)

    # ---- docs/language.md

    def program(self, name, source, extra):
        where = f"language.md, {name}"
        file = self.tmp / f"{name}.c"
        file.write_text(source)
        objects = []
        for n, (other, text) in enumerate(extra):
            part = self.tmp / f"{name}-{other}"
            part.write_text(text)
            objects.append(part.with_suffix(f".{n}.o"))
            if not self.build(f"{where}, {other}", [self.o.clang], ["-Wall", "-Werror", "-c"], [part], objects[-1]):
                return
        plain, cofuse = self.tmp / f"{name}-plain", self.tmp / f"{name}-cofuse"
        quiet = ["-Wall", "-Wextra", "-Werror"]
        if not self.build(where, [self.cc, "-plain"], [*quiet, "-Wno-unknown-pragmas"], [file, *objects], plain):
            return
        if not self.build(where, [self.cc], quiet, [file, *objects], cofuse):
            return
        code, want, err = execute([str(plain)], self.env, self.tmp)
        if not self.check(f"{where}: plain run", code == 0 and want.strip(), f"status {code}\n{want}{err}"):
            return
        for ranks in (1, 3) if self.launch else (1,):
            stats = self.tmp / f"{name}-{ranks}.json"
            command = [str(cofuse)] if ranks == 1 else [*self.launch, "-n", str(ranks), str(cofuse)]
            code, got, err = execute(command, {**self.env, "COFUSE_STATS": str(stats)}, self.tmp)
            self.check(f"{where}: {ranks} ranks", code == 0 and got == want,
                       f"status {code}, wanted {want!r}, got {got!r}\n{err}")
            counters = json.loads(stats.read_text()) if stats.exists() else {}
            self.check(f"{where}: {ranks} ranks: its loops are tasks",
                       counters.get("tasks", 0) >= 1 and counters.get("serial_loops") == 0, str(counters))

    def language(self):
        text = (self.o.docs / "language.md").read_text()
        programs, extra = [], []
        for info, body, line in blocks(text):
            words = info.split()
            if words[:1] != ["c"]:
                continue
            if len(words) > 1: # a file that belongs to the next program
                extra.append((words[1], body))
                continue
            programs.append((f"line-{line}", body, extra))
            extra = []
        pragmas = "\n".join(re.findall(r"#pragma cofuse (.*)", "\n".join(p[1] for p in programs)))
        for word in SHOWN:
            self.check(f"language.md: an example shows '{word}'", re.search(r"(?<!\w)" + re.escape(word), pragmas))
        self.each(self.program, programs)

    # ---- docs/diagnostics.md

    def snippet(self, code, name, body, flags, cure, is_error):
        where = f"diagnostics.md, {code}, {name}"
        file = self.tmp / f"{code}-{name}.c"
        file.write_text(body)
        command = ["-std=gnu17", "-fsyntax-only", "-Wall", *flags, str(file)]
        plain, _, err = execute([self.o.clang, "-w", *command], self.env, self.tmp)
        self.check(f"{where}: is C without the plugin", plain == 0, err)
        status, _, err = execute([self.cc, *(["-Werror"] if cure else []), *command], self.env, self.tmp)
        said = set(re.findall(r"\[(cofuse-\d+)\]", err))
        if cure:
            self.check(f"{where}: is silent", status == 0 and not err, err)
        else:
            self.check(f"{where}: says its code and no other", said == {code}, f"said {sorted(said)}\n{err}")
            self.check(f"{where}: {'fails' if is_error else 'is only a warning'}", (status != 0) == is_error, err)

    def run_time(self, name, body, pattern, fails):
        where = f"diagnostics.md, {name}"
        file, program = self.tmp / f"{name}.c", self.tmp / name
        file.write_text(body)
        if not self.build(where, [self.cc], ["-Wall", "-Werror"], [file], program):
            return
        code, out, err = execute([str(program)], self.env, self.tmp)
        self.check(f"{where}: its message", re.search(pattern, err), f"wanted {pattern}\n{err}")
        self.check(f"{where}: its status", code == 1 if fails else code == 0, f"status {code}\n{out}{err}")

    def setting(self, assignment, pattern):
        key, _, value = assignment.partition("=")
        _, out, err = execute([str(pathlib.Path(self.o.build) / "bin/cofuse-env")], {**self.env, key: value}, self.tmp)
        self.check(f"diagnostics.md, {assignment}", re.search(pattern, err), f"wanted {pattern}\n{out}{err}")

    def diagnostics(self):
        text = (self.o.docs / "diagnostics.md").read_text()
        table = (self.o.source / "plugin/Diag.def").read_text()
        used = "".join(p.read_text() for p in (self.o.source / "plugin").glob("*.cpp"))
        codes = {}
        for m in re.finditer(r'^CF_(ERROR|REFUSE|WARN)\((\d+), (\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', table, re.M):
            message = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', m.group(4)))
            codes[f"cofuse-{int(m.group(2)):03d}"] = (m.group(1) == "ERROR", m.group(3), re.sub(r"%[01]", "…", message))
        self.check("Diag.def can be read", len(codes) == len(re.findall(r"^CF_[A-Z]+\(\d", table, re.M)) > 40)

        parts = re.split(r"^###? (.*)$", text, flags=re.M)
        entries = {}
        for title, body in zip(parts[1::2], parts[2::2]):
            if title.startswith("cofuse-"):
                self.check(f"diagnostics.md: one entry for {title}", title not in entries)
                entries[title] = body
        for code in sorted(set(codes) | set(entries)):
            self.check(f"diagnostics.md has an entry for {code}", code in entries)
            self.check(f"plugin/Diag.def has {code}", code in codes)
        jobs = []
        for code in sorted(set(codes) & set(entries)):
            is_error, name, message = codes[code]
            body = entries[code]
            quote = " ".join(re.findall(r"^> (.*)$", body, re.M))
            self.check(f"{code}: the entry quotes its message", quote == message, f"{quote}\n{message}")
            self.check(f"{code}: the entry has a cure", re.search(r"^Cure: \S", body, re.M))
            examples = 0
            for info, source, line in blocks(body):
                words = info.split()
                flags = [w[len("flags="):] for w in words if w.startswith("flags=")]
                cure = "cure" in words
                examples += not cure
                jobs.append((code, f"{'cure' if cure else 'example'}-{line}", source, flags, cure, is_error))
            raised = re.search(rf"DiagId::{name}\b", used)
            self.check(f"{code}: the entry has an example", examples or not raised)
        self.each(self.snippet, jobs)

        runs, program = [], None
        for info, body, line in blocks(text):
            words = info.split()
            if info == "c run":
                program = body
            elif words[:1] == ["text"]:
                runs.append((f"run-{line}", program, body.strip(), "fails" in words))
        self.check("diagnostics.md: programs that show messages", len(runs) >= 3)
        self.each(self.run_time, runs)
        settings = [(info.split()[1], body.strip()) for info, body, _ in blocks(text) if info.startswith("sh ")]
        self.check("diagnostics.md: settings that show messages", len(settings) >= 3)
        self.each(self.setting, settings)

    # ---- docs/environment.md

    def environment(self):
        text = (self.o.docs / "environment.md").read_text()
        # COFUSE_CACHE_DIR is shown as it is by default.
        env = {k: v for k, v in self.env.items() if not k.startswith("COFUSE_")}
        code, out, err = execute([str(pathlib.Path(self.o.build) / "bin/cofuse-env")], env, self.tmp)
        self.check("cofuse-env runs", code == 0, err)
        head, *rows = out.splitlines() or [""]
        self.compare_variables(text, head, rows)

    def compare_variables(self, text, head, rows):
        start, end = head.find("default"), head.find("meaning")
        known = {}
        for row in rows:
            m = re.match(r"(COFUSE_\w+)\s", row)
            # Columns widen where a value is long; the default is the last text before the meaning.
            known[m.group(1)] = row[start:end].strip() if m else ""
        listed = dict(re.findall(r"^\| `(COFUSE_\w+)` \| [^|]* \| `([^`]*)` \|", text, re.M))
        self.check("cofuse-env lists variables", len(known) > 10)
        for name in sorted(set(known) | set(listed)):
            self.check(f"environment.md lists {name}", name in listed)
            if self.check(f"cofuse-env lists {name}", name in known) and name in listed:
                self.check(f"environment.md: default of {name}", listed[name] in known[name],
                           f"{listed[name]!r} against {known[name]!r}")

    # ---- planted faults

    def self_test(self):
        def found(what, run):
            before, self.faults = self.faults, []
            run()
            planted, self.faults = self.faults, before
            self.check(f"finds {what}", planted)
            return planted

        head = f"{'variable':24} {'value':20} {'default':24} meaning"
        row = f"{'COFUSE_A':24} {'1':20} {'1':24} some"
        found("a variable that is not documented", lambda: self.compare_variables("", head, [row] * 12))
        found("a wrong default", lambda: self.compare_variables("| `COFUSE_A` | 0 | `7` | x |", head, [row] * 12))
        tree = self.tmp / "tree"
        (tree / "plugin").mkdir(parents=True)
        (tree / "plugin/X.cpp").write_text("DiagId::UnknownClause")
        (tree / "plugin/Diag.def").write_text('CF_ERROR(2, UnknownClause, "unknown clause \'%0\' on \'#pragma cofuse %1\'")\n')
        self.o.source = self.o.docs = tree
        entry = ("### cofuse-002\n> unknown clause '…' on '#pragma cofuse …'\n\nCure: none\n\n```c\nvoid f(void) {\n"
                 "#pragma cofuse flush\n}\n```\n### cofuse-003\n")
        (tree / "diagnostics.md").write_text(entry)
        planted = "\n".join(found("faults in diagnostics.md", self.diagnostics))
        for sign in ("Diag.def has cofuse-003", "says its code and no other", "cofuse-002, example-6: fails"):
            self.check(f"finds in diagnostics.md: {sign}", sign in planted, planted)
        (tree / "language.md").write_text("```c\n#include <stdio.h>\nint main(void) {\n#ifdef __COFUSE__\n  puts(\"a\");\n"
                                          "#else\n  puts(\"b\");\n#endif\n  return 0;\n}\n```\n")
        planted = "\n".join(found("faults in language.md", self.language))
        for sign in ("an example shows 'store('", "1 ranks\n", "its loops are tasks"):
            self.check(f"finds in language.md: {sign.strip()}", sign in planted, planted)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("part", choices=["language", "diagnostics", "environment", "self-test"])
    p.add_argument("--build", required=True, help="build folder with bin/cofuse-cc")
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--mpiexec", default="", help="launcher; none: one rank only")
    p.add_argument("--cflags", default="-O2", help="flags of programs that are run")
    p.add_argument("--source", type=pathlib.Path, default=ROOT)
    o = p.parse_args()
    o.docs = o.source / "docs"
    c = Checker(o)
    try:
        getattr(c, o.part.replace("-", "_"))()
    finally:
        if c.faults and os.environ.get("COFUSE_KEEP"):
            print(f"kept: {c.tmp}")
        else:
            shutil.rmtree(c.tmp, ignore_errors=True)
    for fault in c.faults:
        print(f"FAILED: {fault}")
    print(f"{c.count} checks, {len(c.faults)} failed")
    return bool(c.faults)


if __name__ == "__main__":
    sys.exit(main())
