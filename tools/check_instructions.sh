#!/usr/bin/env bash
# Counts the instructions of a keyed decision in bulk and fails above the budget. The count of a run is
# compared with that of a longer one, so that what comes before does not count.
#
# The budget is for a decision from the hash of its key: finding the state, deciding, changing it, and
# saying what there is to say. Hashing is a library's work; what it adds for 20 bytes is shown.
set -euo pipefail
program=${1:-build/bench/bulk_bench}
budget=130
few=100032
many=300032

count() {
  local out
  out=$(mktemp)
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>"$out" >/dev/null ||
    { cat "$out" >&2; exit 1; }
  sed -n 's/.*Collected : //p' "$out"
  rm -f "$out"
}
tenths() { echo $(((($(count "$1" $many) - $(count "$1" $few)) * 10) / (many - few))); }
show() { printf '%d.%d' $(($1 / 10)) $(($1 % 10)); }

hashes=$(tenths hashes)
strings=$(tenths strings)
echo "instructions per keyed decision in bulk: $(show "$hashes") (budget $budget)," \
  "$(show "$strings") with the hash of a key of 20 bytes"
if ((hashes > budget * 10)); then
  echo "above the budget: docs/performance.md says what the fast path must not do" >&2
  exit 1
fi
