"""Receives webhooks and accepts only those with a valid signature. Python 3.8 or later, nothing to install."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

if not os.environ.get("PORT") or not os.environ.get("WEBHOOK_SECRET"):
    raise SystemExit("Set PORT (such as 8090) and WEBHOOK_SECRET (whsec_…, shown when the webhook was made).")

key = base64.b64decode(os.environ["WEBHOOK_SECRET"].replace("whsec_", ""))
# The highest sequence of each order: an event may come twice, or after a later one. Keep it in your database.
seen = {}


def is_genuine(headers, body):
    """Whether the service signed these bytes within the last five minutes."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # Two signatures while the secret is being replaced.
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(signature.encode(), expected) for signature in given)


def handle(event):
    if not event["type"].startswith("order."):
        print(event["type"], flush=True)
        return
    order, sequence = event["data"]["order"], event["data"]["sequence"]
    if sequence > seen.get(order["id"], 0):
        seen[order["id"]] = sequence
        print(f"order {order['orderId']} is {order['status']}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The bytes as received: JSON that is parsed and written again has another signature.
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        genuine = is_genuine(self.headers, body)
        if genuine:
            handle(json.loads(body))
        self.send_response(204 if genuine else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
print("listening", flush=True)
server.serve_forever()
