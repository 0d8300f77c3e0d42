#!/bin/sh
# Runs every benchmark of a directory, except the one with a billion keys, which has its own target.
#   tools/bench.sh build/bench
set -eu

found=no
for program in "$1"/*_bench; do
  [ -x "$program" ] || continue
  [ "$(basename "$program")" != billion_bench ] || continue
  found=yes
  echo "== $program"
  "$program"
done
[ $found = yes ] || { echo "bench: no benchmarks in $1; they come from bench/*_bench.cc" >&2; exit 1; }
