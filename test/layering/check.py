#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the include directions of the house (docs/hacking.md) and the length of files.

check.py ROOT        checks the tree at ROOT
check.py --self-test plants one fault of each kind in a small tree and checks that it is found
"""

import pathlib
import re
import sys
import tempfile

# What the files of a layer may include of runtime/, by folder.
LAYERS = {
    "base": {"base"},
    "ir": {"base", "ir"},
    "analysis": {"base", "ir", "analysis"},
    "codegen": {"base", "ir", "analysis", "codegen"},
    "device": {"base", "device"},
    "comm": {"base", "comm"},
    "exec": {"base", "ir", "analysis", "codegen", "device", "comm", "exec"},
    "api": {"base", "ir", "analysis", "codegen", "device", "comm", "exec", "api"},
}

# Headers of other projects and the files that may include them.
FOREIGN = [
    (re.compile(r"mpi\.h$"), re.compile(r"(runtime/comm/mpi[^/]*|examples/.*|test/.*)$")),
    (re.compile(r"(mlir|llvm)-c/"), re.compile(r"(runtime/codegen/jit[^/]*|test/.*)$")),
    (re.compile(r"(mlir|llvm|clang)/"), re.compile(r"(plugin|test)/.*$")),
    (re.compile(r"cuda[^/]*\.h$|nvrtc\.h$"), re.compile(r"runtime/device/cuda[^/]*$")),
]

SOURCES = {".c", ".h", ".cpp", ".hpp", ".def"}
TOP = ["runtime", "plugin", "include", "bin", "bench", "lib", "examples", "test", "tools"]
MAX_LINES = 600
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def layer_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "runtime" and len(parts) > 2 else None


def fault(path, system, header, root):
    """Says what is wrong with one include of `path`, or None."""
    for pattern, allowed in FOREIGN:
        if pattern.match(header) and not allowed.match(path):
            return f"{header} may not be included here"
    part = path.split("/")[0]
    # A header next to the file wins, as for the compiler; "../" is followed.
    target = None
    if not system:
        near = (root / path).parent / header
        if near.exists():
            target = near.resolve().relative_to(root.resolve()).as_posix()
    if target is None:
        first = header.split("/")[0]
        if first in LAYERS:
            target = f"runtime/{header}"
        elif first == "cofuse":
            target = f"include/{header}"
        else:
            return None
    layer = layer_of(target)
    if part == "runtime":
        if layer and layer not in LAYERS.get(layer_of(path), set()):
            return f"layer {layer_of(path)} may not see {layer}"
        if target.startswith("plugin/"):
            return "the runtime may not see the plugin"
        if target in ("include/cofuse/cofuse.h", "include/cofuse/ir.h") and layer_of(path) != "api":
            return "only runtime/api sees the public headers"
    elif part == "plugin":
        if layer:
            return "the plugin sees nothing of runtime/"
        if target.startswith("include/") and not target.startswith("include/cofuse/descriptor."):
            return "the plugin sees only cofuse/descriptor.h"
    elif part in ("include", "examples") and (layer or target.startswith("plugin/")):
        return f"{part}/ may not see {target}"
    return None


def check(root):
    faults = []
    for top in TOP:
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SOURCES | {".py", ".sh"} or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            text = file.read_text(errors="replace")
            lines = text.count("\n")
            if lines > MAX_LINES:
                faults.append(f"{path}: {lines} lines, more than {MAX_LINES}: find a seam and split it")
            if file.suffix not in SOURCES:
                continue
            layer = layer_of(path)
            if path.startswith("runtime/") and layer not in LAYERS:
                faults.append(f"{path}: not in a layer of the runtime")
                continue
            for m in INCLUDE.finditer(text):
                wrong = fault(path, m.group(1) == "<", m.group(2), root)
                if wrong:
                    faults.append(f"{path}:{text.count(chr(10), 0, m.start(2)) + 1}: {wrong}")
    return faults


GOOD = {
    "runtime/base/base.h": "#include <stdint.h>\n",
    "runtime/ir/ir.h": '#include "base/base.h"\n#include "cofuse/descriptor.h"\n',
    "runtime/codegen/jit.c": "#include <mlir-c/IR.h>\n",
    "runtime/comm/mpi.c": '#include "comm/comm.h"\n#include <mpi.h>\n',
    "runtime/exec/run.c": '#include "comm/comm.h"\n#include "device/device.h"\n',
    "runtime/api/api.c": '#include "exec/exec.h"\n#include <cofuse/cofuse.h>\n',
    "plugin/Emit.cpp": '#include "cofuse/descriptor.h"\n#include "clang/AST/AST.h"\n#include "Emit.h"\n',
    "plugin/Emit.h": "",
    "test/comm/t.c": '#include "comm/comm.h"\n#include <mpi.h>\n',
    "include/cofuse/cofuse.h": "#include <stddef.h>\n",
}
BAD = {
    "runtime/base/x.c": '#include "ir/ir.h"\n',
    "runtime/ir/x.c": '#include "analysis/analysis.h"\n',
    "runtime/ir/up.c": '#include "../exec/run.h"\n',
    "runtime/analysis/x.c": "#  include <codegen/codegen.h>\n",
    "runtime/device/x.c": '#include "comm/comm.h"\n',
    "runtime/comm/x.c": '#include "device/device.h"\n',
    "runtime/comm/self.c": "#include <mpi.h>\n",
    "runtime/exec/x.c": '#include "api/api.h"\n',
    "runtime/codegen/assemble.c": '#include "llvm-c/Core.h"\n',
    "runtime/device/pool.c": "#include <cuda.h>\n",
    "runtime/exec/public.c": "#include <cofuse/cofuse.h>\n",
    "runtime/odd/x.c": "",
    "plugin/X.cpp": '#include "base/base.h"\n',
    "plugin/Y.cpp": '#include "cofuse/cofuse.h"\n',
    "runtime/api/clang.c": '#include "clang/AST/AST.h"\n',
    "examples/x.c": '#include "base/base.h"\n',
    "include/cofuse/x.h": '#include "base/base.h"\n',
    "plugin/Long.cpp": "\n" * (MAX_LINES + 1),
}


def self_test():
    with tempfile.TemporaryDirectory() as tmp:
        root = pathlib.Path(tmp)
        files = dict(GOOD, **{"runtime/exec/run.h": ""})
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        faults = check(root)
        if faults:
            print("reported in a tree without fault:", *faults, sep="\n  ")
            return 1
        for path, text in BAD.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            faults = check(root)
            if len(faults) != 1 or not faults[0].startswith(path + ":"):
                print(f"planted in {path}: {text.strip()!r}; reported: {faults}")
                return 1
            file.unlink()
    print(f"{len(BAD)} planted faults found")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    faults = check(pathlib.Path(sys.argv[1]))
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
