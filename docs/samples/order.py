"""Places an order, then reads it. Python 3.8 or later, nothing to install."""

import json
import os
import time
import urllib.error
import urllib.request
import uuid

if not os.environ.get("RESELLER_URL") or not os.environ.get("RESELLER_KEY"):
    raise SystemExit("Set RESELLER_URL (such as http://127.0.0.1:8080) and RESELLER_KEY (your API key).")


def call(method, path, body=None):
    """Sends one request until it is answered: its Idempotency-Key is the same for all tries."""
    request = urllib.request.Request(
        os.environ["RESELLER_URL"] + "/api/v1" + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"x-api-key": os.environ["RESELLER_KEY"], "Content-Type": "application/json"},
    )
    if method == "POST":
        request.add_header("Idempotency-Key", str(uuid.uuid4()))
    for attempt in range(1, 6):
        wait = 2**attempt / 4
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 500, 503):
                answer = json.load(error)
                raise SystemExit(f"{answer['code']}: {answer['message']}")
            wait = float(error.headers.get("Retry-After", wait))
        except OSError:
            pass  # No answer: the request may have arrived, and is safe to send again.
        time.sleep(wait)
    raise SystemExit("no answer")


order = call("POST", "/orders", {
    "service": "instagram-followers",
    "link": "https://example.com/me",
    "quantity": 1000,
})["order"]
status = call("GET", f"/orders/{order['orderId']}")["order"]["status"]
print(f"order {order['orderId']} is {status}, charged {order['charge']} USD")
