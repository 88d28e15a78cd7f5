#!/bin/sh
# Downloads the program for this machine, checks its SHA-256 and installs it: sh install.sh [FOLDER]
# Nothing is installed when the sum differs. RELEASE_URL: another place to download from, such as a mirror.
set -eu
url=${RELEASE_URL:-@RELEASE_URL@}
folder=${1:-/usr/local/bin}

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=macos ;;
  *) echo "install.sh: there is no release for $(uname -s)" >&2 && exit 1 ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=x64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) echo "install.sh: there is no release for $(uname -m)" >&2 && exit 1 ;;
esac
name=reseller-$system-$machine
# A C library other than glibc.
if [ "$system" = linux ] && ! getconf GNU_LIBC_VERSION >/dev/null 2>&1; then name=$name-musl; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
curl -fsSLO "$url/SHA256SUMS"
curl -fsSLO "$url/$name.xz"
grep "  $name.xz\$" SHA256SUMS >expected || { echo "install.sh: $url/SHA256SUMS does not list $name.xz" >&2 && exit 1; }
if command -v sha256sum >/dev/null; then sha256sum -c expected; else shasum -a 256 -c expected; fi
xz -d "$name.xz"
chmod 755 "$name"
# First: a program that does not run here replaces none.
"./$name" version
# In one step: a server that runs keeps the file that it was started from.
cp "$name" "$folder/.reseller.new"
mv "$folder/.reseller.new" "$folder/reseller"
echo "installed: $folder/reseller"
