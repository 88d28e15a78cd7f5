// The limit of HTTP: Bun.serve with the same JSON, and nothing behind it.

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

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  reusePort: false,
  fetch: (request) =>
    request.url.endsWith("/balance")
      ? Response.json(balance)
      : Response.json({ status: "success", order }),
});
process.stdout.write(`listening on http://127.0.0.1:${server.port}\n`);
