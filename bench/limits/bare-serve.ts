// The limit of HTTP: Bun.serve with the same JSON, and nothing behind it. With `--headers` it reads the two headers that
// the service reads and sends those that each of its responses has.

import { responseTemplate } from "../../src/http/server/response-template.ts";

const order = {
  id: "tz4a98xxat96iws9zmbrgj3a",
  orderId: 1234,
  service: "bench",
  link: "https://example.com/me",
  quantity: 100,
  charge: 0.001,
  status: "PROCESSING",
  createdAt: "2026-01-01T00:00:00.000Z",
  startCount: 0,
  remains: 100,
};
const balance = { status: "success", balance: 97.68, currency: "USD" };

const bodyOf = (request: Request) =>
  request.url.endsWith("/balance") ? balance : { status: "success", order };
const template = new Response(null, { headers: responseTemplate(false).fields });
const withHeaders = (request: Request) => {
  const id = request.headers.get("x-request-id") ?? crypto.randomUUID();
  if (!request.headers.get("x-api-key")) return new Response(null, { status: 401 });
  template.headers.set("x-request-id", id);
  return new Response(JSON.stringify(bodyOf(request)), template);
};

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  reusePort: false,
  fetch: process.argv.includes("--headers")
    ? withHeaders
    : (request) => Response.json(bodyOf(request)),
});
process.stdout.write(`listening on http://127.0.0.1:${server.port}\n`);
