// The listener that Prometheus scrapes: GET /metrics and nothing else, on a port of its own.

import { Elysia } from "elysia";
import { type Address, listen, type Server } from "../http1/listen.ts";
import { withText } from "../http1/response.ts";
import type { Metrics } from "../monitoring/metrics.ts";
import { routerOf } from "./router.ts";

/** Throws when the address cannot be listened on. */
export function startMetricsServer(metrics: Metrics, address: Address): Server {
  const app = new Elysia({ name: "metrics" }).get("/metrics", async () => {
    const text = await metrics.render();
    return withText(new Response(text, { headers: { "content-type": metrics.contentType } }), text);
  });
  const refuse = (status: number) => new Response(null, { status });
  const { fetch: handle } = routerOf(app).compile();
  return listen({ handle, refuse, fail: () => refuse(500), bodyLimitBytes: 0 }, address, null);
}
