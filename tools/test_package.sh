#!/usr/bin/env bash
# Installs the Debian package in a throw-away copy of this system and tries it there:
# tests/package/package_test.py.
#   tools/test_package.sh build     where build/weir_*.deb is
#
# The copy is this system under an overlay in memory, with processes and a network of its own: what is
# installed, started and purged in it is gone with it, and port 8080 is free. That takes root.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
shopt -s nullglob
packages=("$build"/weir_*.deb)
if ((${#packages[@]} != 1)); then
  echo "test-package: expected one package $build/weir_*.deb, found ${#packages[@]}; remove all and run make package" >&2
  exit 1
fi
if ! unshare --mount --net --pid --fork true 2>/dev/null; then
  echo "test-package: needs namespaces of its own; run it as root, outside of a container that forbids them" >&2
  exit 1
fi

echo "== lintian"
lintian --allow-root --fail-on error,warning "${packages[0]}"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/files"
cp "${packages[0]}" "$folder/files/weir.deb"
cp tests/package/package_test.py packaging/Dockerfile "$folder/files/"

# shellcheck disable=SC2016  # expanded in there
unshare --mount --net --pid --fork --kill-child bash -euc '
  folder=$1
  mkdir "$folder/memory" "$folder/root"
  mount -t tmpfs tmpfs "$folder/memory"
  mkdir "$folder/memory/upper" "$folder/memory/work"
  mount -t overlay overlay \
    -o "lowerdir=/,upperdir=$folder/memory/upper,workdir=$folder/memory/work" "$folder/root"
  mount -t proc proc "$folder/root/proc"
  mount --rbind /dev "$folder/root/dev"
  mount -t tmpfs tmpfs "$folder/root/run"
  mount -t tmpfs tmpfs "$folder/root/tmp"
  chmod 1777 "$folder/root/tmp"
  cp -r "$folder/files" "$folder/root/package"
  exec chroot "$folder/root" /usr/bin/python3 /package/package_test.py /package/weir.deb
' test-package "$folder"
