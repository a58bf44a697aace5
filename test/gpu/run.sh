#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh [BUNDLE]: on a machine with a GPU, with a folder made by ./dev gpu-bundle: are the results of the examples
# those of the CPU, and which share of the bandwidth of a copy within the device do they reach? One table, in
# under four minutes. Needs a shell, awk and the driver. COFUSE_DEVICE=emu tries the script itself (with QUICK=1).
set -u
bundle=$(cd "${1:-$(dirname "$0")}" && pwd) || exit 2
[ -f "$bundle/cases" ] || {
  echo "run.sh: $bundle is no folder made by ./dev gpu-bundle" >&2
  exit 2
}
export COFUSE_DEVICE="${COFUSE_DEVICE:-cuda}" COFUSE_CACHE_DIR="$bundle/cache" LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-$bundle/lib}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
megabytes=2048
[ -z "${QUICK:-}" ] || megabytes=4
probe=$("$bundle/bin/probe" "$megabytes") || exit 1
echo "$probe"
copy=$(echo "$probe" | awk '/^copy / { print $2 }')

# seconds and bytes of one run: measure NAME ARGUMENTS...
measure() {
  name=$1
  shift
  COFUSE_STATS="$tmp/stats" "$bundle/bin/$name" "$@" >"$tmp/out" 2>"$tmp/err" || return 1
  awk '/^time / { print $2 }' "$tmp/out" >"$tmp/time"
  awk -F'[:,]' '/"bytes_moved"/ { print $2 + 0 }' "$tmp/stats" >"$tmp/bytes"
}

bad=0
printf '%-16s %-8s %10s %8s\n' program result GB/s 'of copy'
while IFS='|' read -r name check large turns tolerance; do
  result=ok
  # shellcheck disable=SC2086 # words are arguments
  if ! "$bundle/bin/$name" $check >"$tmp/out" 2>"$tmp/err"; then
    result=FAILED
  elif ! "$bundle/bin/compare" "$bundle/want/$name" "$tmp/out" "$tolerance" >"$tmp/err" 2>&1; then
    result=WRONG
  fi
  speed=- share=-
  if [ "$result" = ok ] && [ -z "${QUICK:-}" ]; then
    once=$(echo "$large" | sed "s/@/$turns/") twice=$(echo "$large" | sed "s/@/$((2 * turns))/")
    # shellcheck disable=SC2086
    if measure "$name" $once; then
      t1=$(cat "$tmp/time") b1=$(cat "$tmp/bytes")
      if measure "$name" $twice; then
        speed=$(awk -v a="$t1" -v b="$(cat "$tmp/time")" -v c="$b1" -v d="$(cat "$tmp/bytes")" \
          'BEGIN { printf b > a ? "%.0f" : "-", (d - c) / (b - a) / 1e9 }')
        share=$(awk -v s="$speed" -v c="$copy" 'BEGIN { printf c > 0 ? "%.0f %%" : "-", 100 * s / c }')
      fi
    fi
    [ "$speed" != - ] || result="ok, slow run failed"
  fi
  printf '%-16s %-8s %10s %8s\n' "$name" "$result" "$speed" "$share"
  if [ "$result" != ok ]; then
    bad=1
    sed 's/^/  | /' "$tmp/err" | head -n 5
  fi
done <"$bundle/cases"
exit $bad
