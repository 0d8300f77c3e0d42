#!/bin/sh
# Runs every fuzz target for some seconds, starting from its corpus in fuzz/corpus/<target>.
#   tools/fuzz.sh build-fuzz 30
#
# What libFuzzer finds on the way stays in the build directory; to keep an input, copy it from
# there into fuzz/corpus/<target>.
set -eu

build=$1
seconds=$2
found=no
for program in "$build"/fuzz/*_fuzz; do
  [ -x "$program" ] || continue
  found=yes
  name=$(basename "$program")
  mkdir -p "$build/corpus/$name" "$build/crashes"
  set -- "$build/corpus/$name"
  [ ! -d "fuzz/corpus/$name" ] || set -- "$@" "fuzz/corpus/$name"
  echo "== $name, $seconds s"
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix="$build/crashes/$name-" "$@"
done
[ $found = yes ] || { echo "fuzz: no targets in $build/fuzz; they come from fuzz/*_fuzz.cc" >&2; exit 1; }
