"""Places an order, then reads it. Python 3.8 or later, nothing to install."""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

if not os.environ.get("RESELLER_URL") or not os.environ.get("RESELLER_KEY"):
    raise SystemExit("Set RESELLER_URL (such as http://127.0.0.1:8080) and RESELLER_KEY (your API key).")
PENDING = os.environ.get("RESELLER_PENDING", "pending-order.json")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would change the request."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirect)


def send(request):
    """Returns status, Retry-After and JSON of the response; None for what it lacks."""
    status, after = None, ""
    try:
        try:
            response = opener.open(request, timeout=60)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            status, after = response.getcode(), response.headers.get("Retry-After", "")
            return status, after, json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError):
        return status, after, None


def call(method, path, key=None, body=None):
    """Sends a request until the API answers it. Anything else, such as a proxy's 502, is no answer: the request may have arrived."""
    headers = {"x-api-key": os.environ["RESELLER_KEY"], "Content-Type": "application/json"}
    if key:
        headers["Idempotency-Key"] = key
    data = json.dumps(body).encode() if body else None
    url = os.environ["RESELLER_URL"] + "/api/v1" + path
    for attempt in range(1, 6):
        status, after, answer = send(urllib.request.Request(url, method=method, data=data, headers=headers))
        is_answer = isinstance(answer, dict) and ("code" if answer.get("status") == "error" else "order") in answer
        if is_answer and status not in (429, 500, 503):
            return status, answer
        if attempt < 5:
            time.sleep(min(int(after), 60) if after.isdecimal() else 2**attempt / 4)
    got = f"HTTP {status}" if status else "no response"
    again = "Run this again: it sends the same request."
    placed = "The order is placed: read it later, do not place it again."
    raise SystemExit(f"No answer yet ({got}). {again if key else placed}")


# All tries send the same request with the same Idempotency-Key. Both stay in a file until the outcome is known, even if
# this program is stopped. In your program, keep them in its database.
if not os.path.exists(PENDING):
    order = {"service": "instagram-followers", "link": "https://example.com/me", "quantity": 1000}
    with open(PENDING + ".new", "w") as file:
        json.dump({"key": str(uuid.uuid4()), "body": order}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(PENDING + ".new", PENDING)
with open(PENDING) as file:
    pending = json.load(file)
status, placed = call("POST", "/orders", pending["key"], pending["body"])
# A refused key does not show whether an earlier try arrived.
if status not in (401, 403):
    os.remove(PENDING)
if placed["status"] == "error":
    sys.exit(f"{placed['code']}: {placed['message']}")
order = placed["order"]
print(f"order {order['orderId']} is placed, charged {order['charge']} USD", flush=True)
read = call("GET", f"/orders/{order['orderId']}")[1]
state = read["order"]["status"] if "order" in read else read["code"]
print(f"order {order['orderId']} is {state}")
