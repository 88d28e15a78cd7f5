#!/bin/sh
# Places an order. One Idempotency-Key for all tries: however often it is sent, it is placed once.
set -eu
: "${RESELLER_URL:?Set it to the address of the server, such as http://127.0.0.1:8080}"
: "${RESELLER_KEY:?Set it to your API key}"

key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')

curl -sS --fail-with-body --max-time 60 --retry 5 --retry-connrefused \
  -H "x-api-key: $RESELLER_KEY" \
  -H "Idempotency-Key: $key" \
  -H "Content-Type: application/json" \
  -d '{"service":"instagram-followers","link":"https://example.com/me","quantity":1000}' \
  "$RESELLER_URL/api/v1/orders"
