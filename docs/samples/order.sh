#!/bin/sh
# Places one order, however often it is sent: all tries have the same Idempotency-Key. The key stays in a file until the
# outcome is known, even if this script is stopped.
set -eu
: "${RESELLER_URL:?Set it to the address of the server, such as http://127.0.0.1:8080}"
: "${RESELLER_KEY:?Set it to your API key}"
pending=${RESELLER_PENDING:-pending-order}

[ -s "$pending" ] || od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$pending"

status=
for wait in 0 1 2 4 8; do
  sleep "$wait"
  # The last line is the status.
  answer=$(curl -sS --max-time 60 -w '\n%{http_code}' \
    -H "x-api-key: $RESELLER_KEY" \
    -H "Idempotency-Key: $(cat "$pending")" \
    -H "Content-Type: application/json" \
    -d '{"service":"instagram-followers","link":"https://example.com/me","quantity":1000}' \
    "$RESELLER_URL/api/v1/orders") || continue
  status=$(printf '%s' "$answer" | tail -n 1)
  case $status in 429 | 500 | 503) continue ;; esac
  # Anything but the API's JSON, such as a proxy's 502, is no answer: the request may have arrived.
  case $answer in '{"status":"success","order":'* | '{"status":"error",'*'"code":"'*) ;; *) continue ;; esac
  printf '%s\n' "$answer" | sed '$d'
  # A refused key does not show whether an earlier try arrived.
  case $status in 401 | 403) ;; *) rm "$pending" ;; esac
  [ "$status" = 200 ] && exit
  exit 1
done
echo "No answer yet (HTTP ${status:-000}). Run this again: it sends the same request." >&2
exit 1
