#!/bin/sh
# Downloads a release for this machine, checks it and installs it: sh install.sh [FOLDER]
# As root on Debian with systemd, without FOLDER: installs the package, which starts the service and prints the link to
# the panel's set-up. Anywhere else: puts the program into FOLDER, by default /usr/local/bin.
# Nothing is installed if a SHA-256 differs, or the signature of the sums, which is checked where minisign is installed.
# RELEASE_URL: another place to download from, such as a mirror. RELEASE_KEY: minisign's public key of the release.
set -eu
url=${RELEASE_URL:-@RELEASE_URL@}
key=${RELEASE_KEY:-@RELEASE_KEY@}
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

# Downloads a file of the release and checks its sum.
fetch() {
  grep "  $1\$" SHA256SUMS >expected || { echo "install.sh: $url/SHA256SUMS does not list $1" >&2 && exit 1; }
  curl -fsSLO "$url/$1"
  if command -v sha256sum >/dev/null; then sha256sum -c expected; else shasum -a 256 -c expected; fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
curl -fsSLO "$url/SHA256SUMS"
case $key in
  "" | @*) ;;
  *)
    if command -v minisign >/dev/null; then
      curl -fsSLO "$url/SHA256SUMS.minisig"
      minisign -Vm SHA256SUMS -P "$key"
    else
      echo "install.sh: the signature is not checked, because minisign is not installed (apt-get install minisign)" >&2
    fi
    ;;
esac

package=$(sed -n "s/^.*  \(reseller_[^ ]*_$(dpkg --print-architecture 2>/dev/null || echo none)\.deb\)\$/\1/p" SHA256SUMS)
if [ $# -eq 0 ] && [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ] && [ -n "$package" ]; then
  fetch "$package"
  dpkg -i "$package"
  exit
fi

fetch "$name.xz"
xz -d "$name.xz"
chmod 755 "$name"
# First: a program that does not run here replaces none.
"./$name" version
# In one step: a server that runs keeps the file that it was started from.
cp "$name" "$folder/.reseller.new"
mv "$folder/.reseller.new" "$folder/reseller"
echo "installed: $folder/reseller"
