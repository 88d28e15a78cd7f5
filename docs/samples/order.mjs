// Places an order, then reads it. Node 20 or later, Bun, Deno.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

const { RESELLER_URL, RESELLER_KEY, RESELLER_PENDING = "pending-order.json" } = process.env;
if (!RESELLER_URL || !RESELLER_KEY) {
  console.error(
    "Set RESELLER_URL (such as http://127.0.0.1:8080) and RESELLER_KEY (your API key).",
  );
  process.exit(2);
}

/** Sends a request until the API answers it. Anything else, such as a proxy's 502, is no answer: the request may have arrived. */
async function call(method, path, { key, body } = {}) {
  const headers = { "x-api-key": RESELLER_KEY, "Content-Type": "application/json" };
  if (key) headers["Idempotency-Key"] = key;
  let response;
  for (let attempt = 1; attempt <= 5; attempt++) {
    response = await fetch(`${RESELLER_URL}/api/v1${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.timeout(60_000),
    }).catch(() => undefined);
    const answer = await response?.json().catch(() => undefined);
    const isAnswer = answer?.status === "error" ? answer.code : answer?.order;
    if (isAnswer && ![429, 500, 503].includes(response.status)) {
      return { ...answer, http: response.status };
    }
    const after = Number(response?.headers.get("Retry-After") ?? NaN);
    const seconds = after >= 0 ? Math.min(after, 60) : 2 ** attempt / 4;
    if (attempt < 5) await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
  const got = response ? `HTTP ${response.status}` : "no response";
  const next = key
    ? "Run this again: it sends the same request."
    : "The order is placed: read it later, do not place it again.";
  console.error(`No answer yet (${got}). ${next}`);
  process.exit(1);
}

// All tries send the same request with the same Idempotency-Key. Both stay in a file until the outcome is known, even if
// this program is stopped. In your program, keep them in its database.
const body = { service: "instagram-followers", link: "https://example.com/me", quantity: 1000 };
if (!existsSync(RESELLER_PENDING)) {
  const pending = JSON.stringify({ key: crypto.randomUUID(), body });
  writeFileSync(`${RESELLER_PENDING}.new`, pending, { flush: true });
  renameSync(`${RESELLER_PENDING}.new`, RESELLER_PENDING);
}
const placed = await call("POST", "/orders", JSON.parse(readFileSync(RESELLER_PENDING, "utf8")));
// A refused key does not show whether an earlier try arrived.
if (![401, 403].includes(placed.http)) rmSync(RESELLER_PENDING);
if (placed.status === "error") {
  console.error(`${placed.code}: ${placed.message}`);
  process.exit(1);
}
const { orderId, charge } = placed.order;
console.log(`order ${orderId} is placed, charged ${charge} USD`);
const read = await call("GET", `/orders/${orderId}`);
console.log(`order ${orderId} is ${read.order?.status ?? read.code}`);
