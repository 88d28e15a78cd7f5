// The listener that Prometheus scrapes: GET /metrics and nothing else, on a port of its own.

import type { ConnectionPool } from "../../http1/connection-pool.ts";
import { type Address, listen, type Server } from "../../http1/listen.ts";
import { withText } from "../../http1/response.ts";
import type { Metrics } from "../../monitoring/metrics.ts";
import { Router } from "./router.ts";

/** Starts the metrics server. Throws when the address cannot be listened on. */
export function startMetricsServer(
  metrics: Metrics,
  address: Address,
  connections: ConnectionPool,
): Server {
  const refuse = (status: number) => new Response(null, { status });
  const fail = () => refuse(500);
  const router = new Router<Response>("metrics", fail);
  router.add("GET", "/metrics", async () => {
    const text = await metrics.render();
    return withText(new Response(text, { headers: { "content-type": metrics.contentType } }), text);
  });
  router.addRest(() => refuse(404));
  const { route: handle } = router.compile();
  const handler = { handle, refuse, fail, bodyLimitBytes: 0 };
  return listen(handler, address, null, connections);
}
