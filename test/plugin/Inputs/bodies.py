# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bodies.py FILE: expands the bodies in rewritten source into modules that mlir-opt can parse.

Only types matter here: every pseudo operation becomes an operation with the same operands and result.
"""
import re
import sys

STRING = r'"((?:[^"\\]|\\.)*)"'
DESC = re.compile(r"cofuse_d = \{ (?:[^\"{}]*)" + STRING + ", " + STRING + ", " + STRING + r", [^\"]*" + STRING +
                  ", " + STRING)


def unescape(text):
    return re.sub(r"\\(n|[0-7]{3}|.)", lambda m: "\n" if m[1] == "n" else chr(int(m[1], 8)) if m[1].isdigit() else m[1],
                  text)


def expand(line):
    m = re.match(r"(\s*)(%\w+) = cf\.(load|scalar|iv|red) [^:]*: (\S+)$", line)
    if m:
        used = re.findall(r"%\w+", line.split("cf.", 1)[1])
        checks = "".join(f"{m[1]}arith.addi {u}, {u} : i64\n" for u in used)
        return f"{checks}{m[1]}{m[2]} = llvm.mlir.undef : {m[4]}"
    m = re.match(r"(\s*)cf\.(?:store|setred) (%\w+(?:#\d+)?), [^:]*: (\S+)$", line)
    if m:
        return f"{m[1]}llvm.store {m[2]}, %sink : {m[3]}, !llvm.ptr"
    m = re.match(r"(\s*)(%\w+) = cf\.local (\S+)(?: x (\d+))?$", line)
    if m:
        return f"{m[1]}{m[2]} = llvm.alloca %one x !llvm.array<{m[4] or 1} x {m[3]}> : (i64) -> !llvm.ptr"
    assert not re.search(r"\bcf\.", line.replace("scf.", "")), line
    return line


text = open(sys.argv[1]).read()
decls = set()
for n, m in enumerate(DESC.finditer(text)):
    name, body = unescape(m[3]), unescape(m[4])
    decls |= set(unescape(m[5]).split("\n")) - {""}
    print(f"// {name}\nfunc.func @body{n}(%sink: !llvm.ptr, %one: i64) {{")
    for line in body.split("\n"):
        if line:
            print(expand(line))
    print("  return\n}")
for d in sorted(decls):
    print(d)
