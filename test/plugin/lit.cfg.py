# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import lit.formats

config.name = "cofuse-plugin"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c"]
config.excludes = ["Inputs"]
config.test_source_root = config.src
config.test_exec_root = config.obj
config.environment["PATH"] = os.path.join(config.llvm_root, "bin") + os.pathsep + config.environment["PATH"]
# A cache of its own: tests must not see kernels of an older build.
config.environment["COFUSE_CACHE_DIR"] = os.path.join(config.obj, "cache")
clang = os.path.join(config.llvm_root, "bin", "clang")
cofuse = f"{clang} -fplugin={config.plugin}"
config.substitutions += [
    ("%clang_cofuse", cofuse),
    ("%clang_plain", clang),
    ("%include", os.path.join(config.src, "..", "..", "include")),
    ("%link", f"-L{config.runtime} -lcofuse -Wl,-rpath,{config.runtime} -lm"),
    ("%bodies", f"python3 {config.src}/Inputs/bodies.py"),
    # The plain build of the same source with the same flags is the oracle.
    ("%compare", f"bash {config.src}/Inputs/compare.sh '{clang}' '{config.plugin}' '{config.runtime}' %s %t"),
]
if config.runtime and os.path.exists(os.path.join(config.runtime, "libcofuse.so")):
    config.available_features.add("runtime")
