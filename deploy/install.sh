#!/bin/sh
# Downloads a release for this machine, checks it and installs it: sh install.sh [FOLDER]
# As root on Debian with systemd, without FOLDER: installs the package, which starts the service and prints the link to
# the panel's set-up. Anywhere else: puts the program into FOLDER, by default /usr/local/bin.
# Nothing is installed if a SHA-256 differs, or the signature of the sums, which is checked where minisign is installed.
# RELEASE_URL: another place to download from, such as a mirror. RELEASE_KEY: minisign's public key of the release.
set -eu
url=${RELEASE_URL:-@RELEASE_URL@}
key=${RELEASE_KEY:-@RELEASE_KEY@}
# Tools of root, which `su` without a dash leaves out.
PATH=$PATH:/usr/sbin:/sbin

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

case $url in @*) fail "this copy names no release: take it from a release, or set RELEASE_URL" ;; esac
case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=macos ;;
  *) fail "there is no release for $(uname -s)" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=x64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) fail "there is no release for $(uname -m)" ;;
esac
name=reseller-$system-$machine
# A C library other than glibc.
if [ "$system" = linux ] && ! getconf GNU_LIBC_VERSION >/dev/null 2>&1; then name=$name-musl; fi
isPackaged=no
if [ $# -eq 0 ] && [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ] && command -v dpkg >/dev/null; then isPackaged=yes; fi
if [ $isPackaged = no ]; then
  folder=$(cd "${1:-/usr/local/bin}" 2>/dev/null && pwd) || fail "there is no folder ${1:-/usr/local/bin}: make it first, or name another"
  [ -w "$folder" ] || fail "you may not write to $folder: run this as root, or name another folder: sh install.sh FOLDER"
  command -v xz >/dev/null || fail "xz is missing: install it first (apt-get install xz-utils)"
fi

if command -v curl >/dev/null; then
  download() { curl -fsSLO "$url/$1"; }
elif command -v wget >/dev/null; then
  download() { wget -q "$url/$1"; }
else
  fail "curl is missing: install it first (apt-get install curl)"
fi

# Downloads a file of the release and checks its sum.
fetch() {
  grep "  $1\$" SHA256SUMS >expected || fail "$url/SHA256SUMS does not list $1"
  download "$1" || fail "$url/$1 could not be downloaded whole"
  if command -v sha256sum >/dev/null; then sha256sum -c expected; else shasum -a 256 -c expected; fi
}

work=$(mktemp -d)
new=
trap 'rm -rf "$work" ${new:+"$new"}' EXIT
trap 'exit 130' HUP INT TERM
cd "$work"
download SHA256SUMS || fail "$url/SHA256SUMS cannot be downloaded"
case $key in
  "" | @*) ;;
  *)
    if command -v minisign >/dev/null; then
      download SHA256SUMS.minisig || fail "$url/SHA256SUMS.minisig cannot be downloaded: the release is not signed"
      minisign -Vm SHA256SUMS -P "$key"
    else
      echo "install.sh: the signature is not checked, because minisign is not installed (apt-get install minisign)" >&2
    fi
    ;;
esac

if [ $isPackaged = yes ]; then
  package=$(sed -n "s/^.*  \(reseller_[^ ]*_$(dpkg --print-architecture)\.deb\)\$/\1/p" SHA256SUMS)
  [ -n "$package" ] || fail "the release has no package for $(dpkg --print-architecture)"
  fetch "$package"
  dpkg -i "$package"
  exit
fi

fetch "$name.xz"
xz -d "$name.xz"
# In the folder itself, because others may not run programs from the temporary one.
new=$(mktemp "$folder/.reseller.XXXXXX")
cp "$name" "$new"
chmod 755 "$new"
# First: a program that does not run here replaces none.
version=$("$new" --version) || fail "$name does not run on this machine; nothing was changed"
installed=$("$folder/reseller" --version 2>/dev/null || true)
if [ -n "$installed" ] && [ "$(printf '%s\n' "$version" "$installed" | sort -V | tail -n 1)" != "$version" ]; then
  fail "$folder/reseller is $installed, newer than this release ($version), and its database may be too: remove it first to go back"
fi
# In one step: a server that runs keeps the file that it was started from.
mv "$new" "$folder/reseller"
echo "installed: $folder/reseller $version"
