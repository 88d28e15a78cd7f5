// The listener that Prometheus asks: GET /metrics and nothing else, away from the API's port.

import { Elysia } from "elysia";
import type { Metrics } from "../monitoring/metrics.ts";
import { type Address, listen, type Server } from "./listen.ts";

/** Throws when the address cannot be listened on. */
export function startMetricsServer(metrics: Metrics, address: Address): Server {
  const createApp = () =>
    new Elysia({ name: "metrics" }).get("/metrics", async () => {
      const text = await metrics.render();
      return new Response(text, { headers: { "content-type": metrics.contentType } });
    });
  return listen(createApp, address, null);
}
