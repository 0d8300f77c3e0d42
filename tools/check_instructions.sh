#!/usr/bin/env bash
# Counts the instructions of a keyed decision in bulk, and of a request to the server, and fails above the
# budgets. The count of a run is compared with that of a longer one, so that what comes before does
# not count.
#   tools/check_instructions.sh [folder of the benchmarks, by default build/bench]
#
# A decision is counted from the hash of its key: finding the state, deciding, changing it, and
# saying what there is to say. Hashing is a library's work; what it adds for 20 bytes is shown.
#
# A request is counted from its bytes to those of its answer, with 100 rules and metrics; the kernel
# is not in it. What arrives alone costs more than what arrives with 15 others. The view of a page is
# counted under one limit, the mix (weir.check, http, grpc) under 2.8.
#
# The budget is where a number is to be. Where it is not there yet, it must at least get no worse: it
# fails above its ceiling, which is lowered when something was gained.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/bench}
above=no

count() {
  local out
  out=$(mktemp)
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>"$out" >/dev/null ||
    { cat "$out" >&2; exit 1; }
  sed -n 's/.*Collected : //p' "$out"
  rm -f "$out"
}
# tenths FEW MANY COMMAND [ARGUMENT BEHIND THE COUNT]: tenths of an instruction each.
tenths() {
  local few=$1 many=$2 command=$3 behind=${4:-} less more
  # shellcheck disable=SC2086  # words of a command
  less=$(count $command "$few" $behind)
  # shellcheck disable=SC2086
  more=$(count $command "$many" $behind)
  echo $(((more - less) * 10 / (many - few)))
}
show() { printf '%d.%d' $(($1 / 10)) $(($1 % 10)); }
# hold WHAT TENTHS BUDGET [CEILING]: says it, and whether it is within the two.
hold() {
  local ceiling=${4:-$3} verdict=
  (($2 <= $3 * 10)) || verdict=", missed"
  if (($2 > ceiling * 10)); then
    verdict=": ABOVE ITS CEILING OF $ceiling"
    above=yes
  fi
  printf '  %-50s %8s  (budget %d%s)\n' "$1" "$(show "$2")" "$3" "$verdict"
}

echo "instructions in user space:"
hold "a keyed decision in bulk" "$(tenths 100032 300032 "$folder/bulk_bench hashes")" 130
printf '  %-50s %8s\n' "  with the hash of a key of 20 bytes" \
  "$(show "$(tenths 100032 300032 "$folder/bulk_bench strings")")"
# request NAME PER_READ BUDGET CEILING: from where only so many per second are looked at closely, as on a
# server that has run for a while; at first all of them are.
request() {
  hold "$1, $2 per read" "$(tenths 60000 120000 "$folder/session_bench $1" "$2")" "$3" "$4"
}
request weir.check 1 1000 2400
request weir.check 16 1000 1840
request page.check 1 1000 1710
request page.check 16 1000 1120
request cl.throttle 1 1000 970
request cl.throttle 16 1000 580
request http 1 1800 3710
request http 16 1800 2830
request page.http 1 1800 2700
request page.http 16 1800 1950
# No budget but its own: to get no worse.
request grpc 1 8000 8000
request grpc 16 7500 7500
if [ $above = yes ]; then
  echo "too many: docs/performance.md says what the fast path must not do" >&2
  exit 1
fi
