// GET /livez: the process responds. GET /readyz: the service can do its work, check by check. Neither needs a key.
// docs/specification/monitoring.md#health.

import type { Readiness } from "../../monitoring/readiness.ts";
import type { PublicResponse } from "./endpoint.ts";

export interface HealthDeps {
  readiness: () => Promise<Readiness>;
}

export async function getLivez(): Promise<PublicResponse> {
  return { status: 200, body: { status: "ok", checks: { process: { ok: true } } } };
}

export async function getReadyz({ readiness }: HealthDeps): Promise<PublicResponse> {
  const { ready, checks } = await readiness();
  return { status: ready ? 200 : 503, body: { status: ready ? "ok" : "unavailable", checks } };
}
