#!/usr/bin/env bash
# Installs, uses, upgrades, removes and purges the Debian package in a Debian without systemd, made by debootstrap.
# Usage, as root: deb.sh PACKAGE.deb MIRROR [ROOT]    ROOT: a Debian that is there already
set -euo pipefail
package=$1 mirror=$2
root=${3:-$(mktemp -d)}
# mktemp lets nobody else in, the user of the service neither.
chmod 755 "$root"
[ -e "$root/usr/bin/dpkg" ] || debootstrap --variant=minbase bookworm "$root" "$mirror"
cp "$package" "$root/reseller.deb"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
as_service() { inside setpriv --reuid reseller --regid reseller --clear-groups "$@"; }
fail() { echo "deb.sh: $*" >&2; exit 1; }
[ ! -d "$root/run/systemd/system" ] || fail "systemd runs there"
mountpoint -q "$root/proc" || { mount -t proc proc "$root/proc"; trap 'umount "$root/proc"' EXIT; }

inside dpkg -i /reseller.deb
inside reseller version
[ "$(inside stat -c '%U:%G %a' /var/lib/reseller)" = "reseller:reseller 700" ] || fail "the data directory"
[ "$(inside stat -c '%U:%G %a' /etc/reseller)" = "root:reseller 750" ] || fail "the settings"

data=/var/lib/reseller
# One process from here to the server: its id is the server's.
(exec chroot "$root" /usr/bin/env -i PATH=/usr/bin setpriv --reuid reseller --regid reseller --clear-groups \
  reseller serve --data $data --port 0 >"$root/tmp/out" 2>"$root/tmp/log") &
server=$!
for _ in $(seq 300); do grep -q listening "$root/tmp/out" && break; sleep 0.1; done
as_service reseller admin user create alice --data $data
as_service reseller health --data $data
kill -TERM $server
wait $server || fail "the server ended with $?"
as_service reseller verify --data $data

echo 'RESELLER_PORT=8081' >"$root/etc/reseller/reseller.env"
as_service reseller config show | grep -q '8081.*reseller.env' || fail "a command has other settings than the unit"
inside dpkg -i /reseller.deb
[ -e "$root/etc/reseller/reseller.env" ] || fail "an upgrade took the settings"
as_service reseller verify --data $data
inside dpkg -r reseller
[ ! -e "$root/usr/bin/reseller" ] || fail "removed, but the program is there"
[ -e "$root/etc/reseller/reseller.env" ] || fail "a removal took the settings"
inside dpkg -P reseller
[ ! -e "$root/etc/reseller" ] || fail "purged, but the settings are there"
[ -e "$root$data/reseller.db" ] || fail "a purge took the database"
echo "deb.sh: installed, used, upgraded, removed and purged"
