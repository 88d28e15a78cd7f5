// Tells a reseller server what was paid: node payment.mjs PAYMENT ID AMOUNT CURRENCY
// The environment: CALLBACK_URL (https://api.example.com/payments/callback/METHOD) and PAYMENT_SECRET (whsec_…).
import { createHmac } from "node:crypto";

const [payment, id, amount, currency] = process.argv.slice(2);
const { CALLBACK_URL: url, PAYMENT_SECRET: secret } = process.env;
const body = JSON.stringify({ type: "payment.paid", data: { payment, id, amount, currency } });
const timestamp = String(Math.floor(Date.now() / 1000));
const key = Buffer.from(secret.slice("whsec_".length), "base64");
const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
const response = await fetch(url, {
  method: "POST",
  body,
  headers: {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  },
});
// 503 and no response: send it again. The same notice twice is recorded once.
console.log(response.status, await response.text());
process.exitCode = response.ok ? 0 : 1;
