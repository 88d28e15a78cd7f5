// Places an order, then reads it. Node 18 or later, Bun, Deno.
const { RESELLER_URL, RESELLER_KEY } = process.env;
if (!RESELLER_URL || !RESELLER_KEY) {
  console.error(
    "Set RESELLER_URL (such as http://127.0.0.1:8080) and RESELLER_KEY (your API key).",
  );
  process.exit(2);
}

/** Sends one request until it is answered: its Idempotency-Key is the same for all tries. */
async function call(method, path, body) {
  const headers = {
    "x-api-key": RESELLER_KEY,
    "Content-Type": "application/json",
    ...(method === "POST" && { "Idempotency-Key": crypto.randomUUID() }),
  };
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${RESELLER_URL}/api/v1${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    }).catch(() => undefined);
    const passing = !response || [429, 500, 503].includes(response.status);
    if (!passing || attempt === 5) {
      const answer = await response?.json();
      if (response?.ok) return answer;
      throw new Error(answer ? `${answer.code}: ${answer.message}` : "no answer");
    }
    const seconds = Number(response?.headers.get("Retry-After") ?? 2 ** attempt / 4);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

const { order } = await call("POST", "/orders", {
  service: "instagram-followers",
  link: "https://example.com/me",
  quantity: 1000,
});
const read = await call("GET", `/orders/${order.orderId}`);
console.log(`order ${order.orderId} is ${read.order.status}, charged ${order.charge} USD`);
