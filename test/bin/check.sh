#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh BUILD SOURCE WORK [FLAG]: the commands cofuse-cc and cofuse-env, and <cofuse/cofuse.h> without the plugin.
set -u
build=$1 source=$2 work=$3 build_flag=${4:--O1} # the last is what a library built with sanitizers needs
cc=$build/bin/cofuse-cc
failed=0
rm -rf "$work" && mkdir -p "$work/a folder" && cd "$work/a folder" || exit 1
unset CC COFUSE_PLUGIN

# expect WHAT WANTED GOT
expect() {
  [ "$2" = "$3" ] && return
  echo "FAIL $1"
  echo "  wanted: $2"
  echo "  got:    $3"
  failed=1
}
# has WHAT TEXT PATTERN / lacks ...
has() { case $2 in *"$3"*) ;; *) expect "$1" "...$3..." "$2" ;; esac; }
lacks() { case $2 in *"$3"*) expect "$1" "nothing with $3" "$2" ;; esac; }

link="-lcofuse -Wl,-rpath,$build/lib"
has link "$("$cc" -show a.c -o a)" "-fplugin=$build/lib/cofuse-plugin.so -D__COFUSE__=1 -I"
has link "$("$cc" -show a.c -o a)" "a.c -o a -L$build/lib $link"
has objects "$("$cc" -show a.o b.o)" "$link"
for flag in -c -S -E -M -MM -fsyntax-only; do
  lacks "$flag" "$("$cc" -show $flag a.c)" lcofuse
done
has depfile "$("$cc" -show -MD -MF a.d a.c)" "$link"
lacks version "$("$cc" -show --version)" lcofuse
lacks "value of -o" "$("$cc" -show -o a)" lcofuse
lacks plain "$("$cc" -show -plain a.c)" cofuse-plugin
lacks plain "$(COFUSE_PLUGIN=off "$cc" -show a.c)" lcofuse
# shellcheck disable=SC2016
has quoting "$("$cc" -show -c 'a b.c' '-DX="it'\''s $1"' '')" "-c 'a b.c' '-DX=\"it'\\''s \$1\"' ''"

cat >'a b.c' <<'EOF'
#include <stdio.h>
int main(void) { printf("%s\n", X); return 0; }
EOF
# shellcheck disable=SC2016
"$cc" -plain -O1 'a b.c' '-DX="it'\''s  $1"' -o 'a b' || failed=1
# shellcheck disable=SC2016
expect quoting "it's  \$1" "$(./a\ b)"
"$cc" "$build_flag" -c 'a b.c' '-DX="linked"' && "$cc" "$build_flag" 'a b.o' -o linked || failed=1
expect linked linked "$(./linked)"
ln -s "$cc" ./by-link
has "symbolic link" "$(./by-link -show a.c)" "-fplugin=$build/lib/cofuse-plugin.so"

cat >not-clang <<'EOF'
#!/bin/sh
echo "cc (Some) 12.2"
EOF
chmod +x not-clang
message=$(CC=./not-clang "$cc" -c 'a b.c' 2>&1) && expect "CC" failure success
has CC "$message" "not clang of version 19"
message=$(CC=./no-such-file "$cc" -c 'a b.c' 2>&1) && expect "CC" failure success
has CC "$message" "cannot be run"

has cofuse-env "$("$build/bin/cofuse-env")" COFUSE_WINDOW
message=$(COFUSE_WINDOW=many "$build/bin/cofuse-env" 2>&1) && expect cofuse-env failure success
has cofuse-env "$message" COFUSE_WINDOW

# The header's inline versions, and the runtime's file headers against NumPy where there is one.
for std in c11 c17; do
  "$cc" -plain -std=$std -Wall -Wextra -Wpedantic -Werror "$source/header.c" -o header || failed=1
  ./header || failed=1
done
if python3 -c 'import numpy' 2>/dev/null; then
  python3 -c "import numpy as n; a = n.load('header.npy'); assert a.shape == (2, 3) and a.dtype == 'f8' and a[1, 2] == 5
n.save('numpy.npy', n.arange(4, dtype='i4'))" || failed=1
  ./header numpy.npy || failed=1
fi

# Installed, the script finds everything from its own place.
if [ -f "$build/cmake_install.cmake" ]; then
  mkdir -p stage/bin
  cp "$build/bin/install/cofuse-cc" stage/bin/ && chmod +x stage/bin/cofuse-cc
  has installed "$(stage/bin/cofuse-cc -show a.c)" "-fplugin=$work/a folder/stage/lib/cofuse-plugin.so"
  has installed "$(stage/bin/cofuse-cc -show a.c)" "-I$work/a folder/stage/include"
fi
exit $failed
