// `bun load.ts URL KEY CLIENTS`: clients that place orders until standard input ends, as their documents say: each order
// with an Idempotency-Key, sent again until it is answered. Prints a line of JSON for each order, and the longest time
// without an answer at the end.

export {};

/** An answer that refuses an order, which an upgrade must not cause. */
class Refused extends Error {
  override name = "Refused";
}

const [url, key, clients] = process.argv.slice(2) as [string, string, string];
const RETRY_MS = 50;

const { promise: ended, resolve: end } = Promise.withResolvers<void>();
let isEnding = false;
process.stdin.on("data", () => {});
process.stdin.on("end", () => {
  isEnding = true;
  end();
});

let lastAnswerAt = performance.now();
let longestGapMs = 0;
let retries = 0;

async function place(idempotencyKey: string): Promise<number> {
  for (;;) {
    try {
      const response = await fetch(`${url}/api/v1/orders`, {
        method: "POST",
        headers: {
          "x-api-key": key,
          "content-type": "application/json",
          "idempotency-key": idempotencyKey,
        },
        body: JSON.stringify({
          service: "instagram-likes",
          link: "https://example.com/p",
          quantity: 10,
        }),
      });
      const body = (await response.json()) as { order?: { orderId: number } };
      if (response.status === 200 && body.order) {
        const now = performance.now();
        longestGapMs = Math.max(longestGapMs, now - lastAnswerAt);
        lastAnswerAt = now;
        return body.order.orderId;
      }
      if (response.status !== 503 && response.status !== 429) {
        throw new Refused(`${response.status}: ${JSON.stringify(body)}`);
      }
    } catch (error) {
      if (error instanceof Refused) throw error;
    }
    retries++;
    await Bun.sleep(RETRY_MS);
  }
}

async function client(number: number): Promise<void> {
  for (let at = 0; !isEnding; at++) {
    const idempotencyKey = `client-${number}-${at}`;
    const orderId = await place(idempotencyKey);
    console.log(JSON.stringify({ idempotencyKey, orderId }));
  }
}

await Promise.all([ended, ...Array.from({ length: Number(clients) }, (_, at) => client(at))]);
console.log(JSON.stringify({ longestGapMs: Math.round(longestGapMs), retries }));
