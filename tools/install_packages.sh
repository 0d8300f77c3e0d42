#!/bin/sh
# Installs the packages of a list that are missing. Quick and silent where none is.
#   tools/install_packages.sh tools/packages.txt
set -eu

wanted=$(sed 's/#.*//' "$1" | tr -s '[:space:]' ' ')

if ! command -v dpkg-query >/dev/null; then
  echo "deps: not a Debian system, nothing installed. Needed are the likes of:$wanted"
  exit 0
fi

# shellcheck disable=SC2086  # one word per package
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null || true)
missing=
for package in $wanted; do
  echo "$installed" | grep -qx "installed $package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "deps: installing$missing"
if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  echo "deps: needs root or sudo; as root run: apt-get install$missing" >&2
  exit 1
fi
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends $missing
