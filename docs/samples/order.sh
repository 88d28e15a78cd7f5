#!/bin/sh
# Places an order. One Idempotency-Key for all tries: however often it is sent, it is placed once.
set -eu

key="order-$(date +%s)-$$"

curl -sS --fail-with-body --max-time 60 --retry 5 --retry-connrefused \
  -H "x-api-key: $RESELLER_KEY" \
  -H "Idempotency-Key: $key" \
  -H "Content-Type: application/json" \
  -d '{"service":"instagram-followers","link":"https://example.com/me","quantity":1000}' \
  "$RESELLER_URL/api/v1/orders"
