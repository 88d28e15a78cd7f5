// Receives webhooks and accepts only those with a valid signature. Node 20 or later, nothing to install.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { PORT, WEBHOOK_SECRET } = process.env;
if (!PORT || !WEBHOOK_SECRET) {
  console.error(
    "Set PORT (such as 8090) and WEBHOOK_SECRET (whsec_…, shown when the webhook was made).",
  );
  process.exit(2);
}
const key = Buffer.from(WEBHOOK_SECRET.replace("whsec_", ""), "base64");

/** Whether the service signed these bytes within the last five minutes. */
function isGenuine(headers, body) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const signed = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body);
  const expected = Buffer.from(`v1,${signed.digest("base64")}`);
  // Two signatures while the secret is being replaced.
  return (headers["webhook-signature"] ?? "").split(" ").some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** The highest sequence of each order: an event may come twice, or after a later one. Keep it in your database. */
const seen = new Map();

function handle({ type, data }) {
  if (!type.startsWith("order.")) return console.log(type);
  const { order, sequence } = data;
  if (sequence <= (seen.get(order.id) ?? 0)) return;
  seen.set(order.id, sequence);
  console.log(`order ${order.orderId} is ${order.status}`);
}

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  // The bytes as received: JSON that is parsed and written again has another signature.
  const body = Buffer.concat(chunks);
  const genuine = isGenuine(request.headers, body);
  if (genuine) handle(JSON.parse(body));
  response.writeHead(genuine ? 204 : 401).end();
}).listen(Number(PORT), "127.0.0.1", () => console.log("listening"));
