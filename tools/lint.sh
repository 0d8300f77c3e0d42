#!/bin/sh
# clang-tidy over the sources (not their tests), shellcheck over the scripts. Any warning fails.
#   tools/lint.sh build     where build/ is configured: its compile commands are used
#
# A source that passed is not looked at again until it, any header or .clang-tidy changes.
set -eu
cd "$(dirname "$0")/.."

build=$1
passed=$build/lint
mkdir -p "$passed"

shellcheck .ci/run tools/*.sh packaging/debian/postinst packaging/debian/prerm packaging/debian/postrm

common=$(find include src -name '*.h' | sort | xargs cat .clang-tidy "$build/compile_commands.json" \
  | sha256sum | cut -d ' ' -f 1)
export build passed common
# The compile commands may be GCC's, with warning options that clang does not know.
# shellcheck disable=SC2016  # expanded by the inner shell
find src -name '*.cc' ! -name '*_test.cc' -print0 | sort -z | xargs -0 -P "$(nproc)" -I{} sh -c '
  stamp=$passed/$( (echo "$common $1"; cat "$1") | sha256sum | cut -d " " -f 1)
  [ ! -e "$stamp" ] || exit 0
  echo "clang-tidy $1"
  clang-tidy -p "$build" --quiet --warnings-as-errors="*" \
      --extra-arg=-Wno-unknown-warning-option "$1" 2>"$stamp.log" \
    || { cat "$stamp.log" >&2; rm -f "$stamp.log"; exit 1; }
  mv "$stamp.log" "$stamp"
' lint {}
