#!/bin/sh
# Installs the packages of some lists that are missing. Quick and silent where none is.
#   tools/install_packages.sh tools/packages.txt ...
set -eu

wanted=$(cat "$@" | sed 's/#.*//' | tr -s '[:space:]' ' ')

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

# Some are servers, which Debian starts when it installs them. Here they are wanted for tests and
# benchmarks, which start their own: nothing should listen on this machine because of them.
policy=/usr/sbin/policy-rc.d
if ! [ -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
  $as_root chmod +x $policy
  trap '$as_root rm -f $policy' EXIT
fi
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends $missing
