#!/usr/bin/env bash
# Runs the programs of a release that this machine (Linux x64) can run, each through the same steps: x64 with glibc; x64
# with musl, in a chroot of Debian's musl; arm64 with glibc and with musl, under qemu.
# Usage, as root: targets.sh FOLDER ["TARGET…"]    FOLDER: what `bun run release` made. Needs curl, xz-utils, gcc, musl,
# qemu-user-static, gcc-aarch64-linux-gnu with libstdc++6-arm64-cross, and for arm64 with musl a mirror of apt's.
set -euo pipefail
release=$(realpath "$1")
shim=$(realpath "$(dirname "$0")")/glibc-symbols.c
work=$(mktemp -d) binfmt=/proc/sys/fs/binfmt_misc registration=reseller-targets
# A script that ends early leaves no server and no mount.
trap 'kill -KILL $(jobs -p) 2>/dev/null || true; umount "$work"/*/proc 2>/dev/null || true; [ ! -e $binfmt/$registration ] || echo -1 >$binfmt/$registration; rm -rf "$work"' EXIT
fail() { echo "targets.sh: $*" >&2; exit 1; }

unpack() { # TARGET
  mkdir -p "$root/data" "$root/lib" "$root/dev" "$root/proc" "$root/tmp"
  xz -dc "$release/reseller-$1.xz" >"$root/reseller"
  chmod 755 "$root/reseller"
}
# Debian has no libstdc++ for musl. Here one stands that has what its own takes from glibc, and needs that one.
add_musl() { # COMPILER INTERPRETER LIBC LIBRARIES: of the target
  cp -L "$3" "$root/lib/$2"
  cp -L "$4/libgcc_s.so.1" "$root/lib"
  "$1" -shared -nostdlib -Wl,-soname,libstdc++-debian.so.6 -x c /dev/null -o "$root/lib/libstdc++-debian.so.6"
  "$1" -shared -fPIC -O2 -nostdlib -Wl,-soname,libstdc++.so.6 "$shim" -Wl,--no-as-needed "$root/lib/libstdc++-debian.so.6" -o "$root/lib/libstdc++.so.6"
  cp -L "$4/libstdc++.so.6" "$root/lib/libstdc++-debian.so.6"
}
arm64_package() { # NAME: unpacked into $work/arm64, by apt with lists of its own
  local apt="$work/apt"
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/dpkg"
  touch "$apt/dpkg/status"
  local options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists="$apt/lists"
    -o Dir::State::status="$apt/dpkg/status" -o Dir::Cache="$apt")
  apt-get "${options[@]}" update
  (cd "$apt" && apt-get "${options[@]}" download "$1" && dpkg-deb -x "$1"_*_arm64.deb "$work/arm64")
}

# Expects run, the program, whose paths lie in $root.
steps() {
  local data=/data server url key
  "${run[@]}" version
  start() {
    : >"$root/out"
    "${run[@]}" serve --data $data --port 0 --backup-every 0 >"$root/out" 2>>"$root/log" &
    server=$!
    for _ in $(seq 1200); do url=$(grep -om1 'http://[0-9.:]*' "$root/out") && return; kill -0 $server || break; sleep 0.1; done
    cat "$root/log" >&2
    fail "no server"
  }
  start
  "${run[@]}" admin user create alice --data $data
  "${run[@]}" admin user credit alice 25.50 --data $data
  "${run[@]}" admin service create --name Views --price 1 --min 1 --max 1000 --id views --data $data
  key=$("${run[@]}" admin key create --user alice --type order --json --data $data | grep -o 'rk_[0-9A-Za-z]*')
  for number in $(seq 20); do
    curl -fsS -H "x-api-key: $key" -H 'content-type: application/json' "$url/api/v1/orders" \
      -d "{\"service\":\"views\",\"link\":\"order $number\",\"quantity\":100}" >"$root/order"
  done
  # In a process of its own.
  kill -USR1 $server
  for _ in $(seq 1200); do grep -q '"backup made"' "$root/log" && break; sleep 0.1; done
  grep -q '"backup made"' "$root/log" || fail "no backup by the server"
  kill -KILL $server
  wait $server || true
  "${run[@]}" verify --data $data
  start
  "${run[@]}" health --data $data
  [ "$(curl -fsS -H "x-api-key: $key" "$url/api/v1/balance" | grep -o '23\.5')" = 23.5 ] || fail "the balance"
  kill -TERM $server
  wait $server || fail "the server ended with $?"
  "${run[@]}" backup /tmp/copy.db --data $data
  "${run[@]}" restore /tmp/copy.db --data $data
  "${run[@]}" verify --data $data
}

# The kernel starts programs for arm64 by qemu, in a chroot too (F), until the end of this script.
[ -e $binfmt/register ] || mount -t binfmt_misc binfmt_misc $binfmt
sed "s/^:[^:]*:/:$registration:/" /usr/lib/binfmt.d/qemu-aarch64.conf >$binfmt/register

machine=/usr/lib/x86_64-linux-gnu cross=/usr/aarch64-linux-gnu
for target in ${2:-linux-x64 linux-x64-musl linux-arm64 linux-arm64-musl}; do
  root=$work/$target
  unpack $target
  echo "== $target"
  case $target in
    linux-x64)
      cp -L $machine/lib{c,m}.so.6 $machine/lib{pthread,dl}.so.? "$root/lib"
      mkdir "$root/lib64" && cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64"
      ;;
    linux-x64-musl) add_musl gcc ld-musl-x86_64.so.1 /lib/ld-musl-x86_64.so.1 $machine && ln -s libstdc++.so.6 "$root/lib/ld-linux-x86-64.so.2" ;;
    linux-arm64) cp -L $cross/lib/* "$root/lib" ;;
    linux-arm64-musl)
      arm64_package musl
      add_musl aarch64-linux-gnu-gcc ld-musl-aarch64.so.1 "$work/arm64/lib/aarch64-linux-musl/libc.so" $cross/lib
      ;;
  esac
  mknod -m 666 "$root/dev/null" c 1 3
  mount -t proc proc "$root/proc"
  run=(chroot "$root" /reseller)
  steps
  umount "$root/proc"
done
echo "targets.sh: all of it ran"
