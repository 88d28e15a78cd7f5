# What .ci/run and .ci/nightly have in common: the Debian packages that tests need, and parts that run side by side.

bun() { npx -y bun@1.4.5 "$@"; }

# Each as program:package; without a program of its own: the path of a file of the package.
TOOLS=(promtool:prometheus fail2ban-regex:fail2ban zsh:zsh fish:fish openssl:openssl script:bsdutils systemd-analyze:systemd
  xz:xz-utils strace:strace lintian:lintian minisign:minisign man:man-db chromium-headless-shell:chromium-headless-shell pg_createcluster:postgresql patroni:patroni etcd:etcd-server
  /usr/lib/python3/dist-packages/etcd:python3-etcd php:php-cli python3:python3 curl:curl wget:wget setsid:util-linux ps:procps gcc:gcc
  /usr/include/stdio.h:libc6-dev)
OFFSITE_TOOLS=(swift-ring-builder:swift swift-proxy-server:swift-proxy swift-account-server:swift-account
  swift-container-server:swift-container swift-object-server:swift-object memcached:memcached)
GUIDE_TOOLS=(debootstrap:debootstrap systemd-nspawn:systemd-container ip:iproute2 ssh-keygen:openssh-client xz:xz-utils
  dpkg-deb:dpkg /usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring)

# Installs what is missing of these tools.
install_tools() {
  local tool missing=()
  for tool in "$@"; do
    command -v "${tool%%:*}" >/dev/null || [ -f "${tool%%:*}" ] || [ -d "${tool%%:*}" ] || missing+=("${tool##*:}")
  done
  if ((${#missing[@]})); then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
  fi
}

# Runs functions side by side, prints what each wrote, and fails if one of them failed.
side_by_side() {
  local part logs
  local -A started
  local failed=()
  logs=$(mktemp -d)
  # A function called in a condition would go on after a failure, so each has a shell of its own.
  for part in "$@"; do
    (
      SECONDS=0
      trap 'echo "$part took $SECONDS s"' EXIT
      "$part"
    ) >"$logs/$part" 2>&1 &
    started[$part]=$!
  done
  for part in "$@"; do
    wait "${started[$part]}" || failed+=("$part")
    printf '\n--- %s\n' "$part"
    cat "$logs/$part"
  done
  # Last, because a reader of a long log begins at its end: what failed, with the lines before it.
  for part in "${failed[@]}"; do
    printf '\n--- failed: %s\n' "$part"
    grep -E -B 30 '^\(fail\)|^✗|exited with code' "$logs/$part" | tail -n 150 || tail -n 150 "$logs/$part"
  done
  rm -rf "$logs"
  ((${#failed[@]} == 0))
}
