#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# format.sh CHECKER ARGUMENT...: runs clang-format over the sources of the tree it is called in. Inputs of
# the plugin's tests are left as they are: their layout is part of the test.
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  list='git ls-files --cached --others --exclude-standard'
else
  list='find runtime plugin include bin bench lib examples test -type f'
fi
files=$($list | grep -E '^(runtime|plugin|include|bin|bench|lib|examples|test)/.*\.(c|h|cpp|hpp|def)$' | grep -v '^test/plugin/')
for f in $files; do # a file may be deleted but still in the index
  [ -e "$f" ] && printf '%s\n' "$f"
done | xargs "$@"
