#!/bin/sh
# Formats the C++ sources, or with --check says which lines are not.
set -eu
cd "$(dirname "$0")/.."

mode=-i
[ "${1-}" != --check ] || mode="--dry-run --Werror"
folders=
for folder in include src tests bench fuzz; do
  [ ! -d $folder ] || folders="$folders $folder"
done
# shellcheck disable=SC2086
find $folders -name '*.h' -print0 -o -name '*.cc' -print0 | xargs -0 clang-format --style=file $mode
