// Metrics of connections by listener: open ones, their limit, and how many were closed for lack of room.

import { Counter, Gauge, type Registry } from "prom-client";
import type { ConnectionFigures } from "./figures.ts";

export function addConnectionFigures(
  registry: Registry,
  read: () => readonly ConnectionFigures[],
): void {
  const figure = (
    Kind: typeof Gauge | typeof Counter,
    name: string,
    help: string,
    value: (figures: ConnectionFigures) => number,
  ) =>
    new Kind({
      name,
      help,
      labelNames: ["listener"],
      registers: [registry],
      collect() {
        this.reset();
        for (const figures of read()) this.inc({ listener: figures.listener }, value(figures));
      },
    });
  figure(Gauge, "reseller_connections", "Open connections.", ({ open }) => open);
  figure(Gauge, "reseller_connections_max", "Connections allowed.", ({ limit }) => limit);
  figure(
    Counter,
    "reseller_connections_refused_total",
    "New connections closed at once because the limit was reached.",
    ({ refused }) => refused,
  );
  figure(
    Counter,
    "reseller_connections_displaced_total",
    "Idle connections closed to make room for new ones.",
    ({ displaced }) => displaced,
  );
}
