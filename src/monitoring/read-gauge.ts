// A Prometheus gauge that is read at each scrape.

import { Gauge, type Registry } from "prom-client";
import type { Awaitable } from "../db/port/port.ts";

/** Adds a gauge. While `read` returns null, the gauge is left out. */
export function gauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => Awaitable<number | null>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read();
      // `reset` would set it to 0.
      if (value === null) this.remove();
      else this.set(value);
    },
  });
}
