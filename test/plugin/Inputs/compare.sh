#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# compare.sh CLANG PLUGIN RUNTIME SOURCE TEMP FLAGS...: the program prints the same with and without cofuse.
set -e
clang=$1 plugin=$2 runtime=$3 source=$4 temp=$5
shift 5
$clang -w "$@" "$source" -o "$temp.plain" -lm
$clang -w -fplugin="$plugin" "$@" "$source" -o "$temp.cofuse" -L"$runtime" -lcofuse -Wl,-rpath,"$runtime" -lm
"$temp.plain" >"$temp.want"
"$temp.cofuse" >"$temp.got"
diff "$temp.want" "$temp.got"
