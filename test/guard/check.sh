#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compares the guard tests, poisoned (oracle.c), with the plain build of the same flags.
#
#   check.sh compare CLANG PLUGIN INCLUDE SOURCE WORK [flag...]   one set of flags
#   check.sh mutate  CLANG PLUGIN INCLUDE SOURCE WORK LEAST [flag...]
#       ignores one guard site after another and counts how many the tests notice; fails below LEAST per cent
#   check.sh remarks CLANG PLUGIN INCLUDE SOURCE WORK
set -u
mode=$1 clang=$2 plugin=$3 include=$4 source=$5 work=$6
shift 6
programs="access loops calls launch"
failed=0

mkdir -p "$work" && cd "$work" || exit 1

# build NAME FLAG...: plain-NAME and guarded-NAME, each with oracle.o, which is never guarded
build() {
  name=$1
  shift
  "$clang" -w -std=gnu17 -I"$include" "$@" "$source/$name.c" "$source/other.c" oracle.o -lm -latomic -lpthread \
    -o "plain-$name" || return 1
  "$clang" -w -std=gnu17 -I"$include" -fplugin="$plugin" "$@" "$source/$name.c" "$source/other.c" oracle.o -lm \
    -latomic -lpthread -o "guarded-$name"
}

# differs NAME: true unless the guarded program ends well with the output of the plain one
differs() {
  timeout 10 "./guarded-$1" >"out-$1" 2>"err-$1" || return 0
  ! cmp -s "out-$1" "ref-$1"
}

report() {
  echo "FAIL $1"
  diff "ref-$1" "out-$1" | head -20
  head -5 "err-$1"
  failed=1
}

"$clang" -std=gnu17 -O1 -I"$include" -c "$source/oracle.c" -o oracle.o || exit 1

case $mode in
compare)
  for p in $programs; do
    build "$p" "$@" || { failed=1; continue; }
    ORACLE=off "./plain-$p" >"ref-$p" || failed=1
    if differs "$p"; then report "$p"; fi
    # a launched loop must not run guards; the plain program's answer is of no use then
    if [ "$p" = launch ]; then
      if ORACLE_LAUNCH=1 "./guarded-$p" | grep -q -e guards -e fetched; then
        ORACLE_LAUNCH=1 "./guarded-$p"
        failed=1
      fi
    fi
    # the guards must be there at all: a run without the plugin has none to ignore
    ORACLE_SITES=sites-$p "./guarded-$p" >/dev/null 2>&1
    [ -s "sites-$p" ] || { echo "FAIL $p: no guard had an effect"; failed=1; }
  done
  ;;
mutate)
  least=$1
  shift
  effective=0 noticed=0
  for p in $programs; do
    [ "$p" = launch ] && continue # counts guards, computes little
    build "$p" "$@" || exit 1
    ORACLE=off "./plain-$p" >"ref-$p" || exit 1
    if differs "$p"; then report "$p"; fi
    ORACLE_SITES=sites "./guarded-$p" >/dev/null
    while read -r k where; do
      effective=$((effective + 1))
      if ORACLE_DROP=$k timeout 2 "./guarded-$p" >out 2>/dev/null && cmp -s out "ref-$p"; then
        echo "not noticed: site $k, ${where##*/}"
      else
        noticed=$((noticed + 1))
      fi
    done <sites
  done
  echo "noticed $noticed of $effective dropped guards"
  [ $((100 * noticed)) -ge $((least * effective)) ] || failed=1
  [ "$effective" -ge 100 ] || failed=1
  ;;
remarks)
  "$clang" -w -O2 -I"$include" -fplugin="$plugin" -Rpass-analysis=cofuse -c "$source/loops.c" -o /dev/null 2>remarks
  for want in 'host loop reads x: moves up to 800 bytes' 'host loop writes z: takes over' 'host loop updates .*its whole range'; do
    grep -q "loops.c:[0-9]*:[0-9]*: remark: $want" remarks || { echo "FAIL no remark: $want"; head -5 remarks; failed=1; }
  done
  ;;
*)
  echo "check.sh: unknown mode $mode" >&2
  exit 2
  ;;
esac
exit $failed
