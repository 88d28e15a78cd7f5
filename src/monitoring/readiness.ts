// Readiness: whether the server can do its work, check by check. The result contains nothing secret. It is cached for
// a second, so that frequent requests cost nothing.

import { type Awaitable, TransientError } from "../db/port/port.ts";
import { Refusal } from "../domain/values/error-table.ts";
import { counted } from "../domain/values/text.ts";
import type { Writer } from "../writer/writer.ts";

const CACHE_MS = 1000;
/** A writer that does not respond within this time counts as stuck. */
const WRITER_MS = 2000;

export interface Check {
  ok: boolean;
  /** What is wrong or will be soon; contains nothing secret. */
  detail?: string;
}

export interface Readiness {
  ready: boolean;
  checks: Record<string, Check>;
}

export interface ReadinessOptions {
  writer: Writer;
  /** The checks of the database's engine. */
  checkDatabase: () => Awaitable<Record<string, Check>>;
  /** Whether placed orders are polled in time. */
  isDeliveryOnTime: () => Awaitable<boolean>;
  /** Number of providers to which submissions are paused. */
  pausedProviders: () => Awaitable<number>;
  /** Number of resellers that spend far more than usual. */
  unusualSpenders: () => Awaitable<number>;
  /** Reports whether there is room for new connections. */
  checkConnections: () => Check;
}

export const FINE: Check = { ok: true };
const UNWRITABLE: Check = { ok: false, detail: "does not accept writes" };
const BEHIND: Check = { ok: false, detail: "orders are not checked in time" };
const FAILED: Check = { ok: false, detail: "a write failed" };

/**
 * Returns the function that checks readiness. It reports a failed write at once. Otherwise it tests with a write, at
 * most once a second, that writing works.
 */
export function createReadiness(options: ReadinessOptions): () => Promise<Readiness> {
  const { writer } = options;
  let cached: Promise<Readiness> | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (!writer.isWritable()) return check(options);
    if (cached === null || performance.now() - checkedAt >= CACHE_MS) {
      checkedAt = performance.now();
      cached = check(options);
    }
    return cached;
  };
}

async function check(options: ReadinessOptions): Promise<Readiness> {
  const checks = {
    ...(await checkWriter(options.writer)),
    ...(await options.checkDatabase()),
    pollers: (await options.isDeliveryOnTime()) ? FINE : BEHIND,
    submissions: await checkSubmissions(options),
    spend: await checkSpend(options),
    connections: options.checkConnections(),
  };
  return { ready: Object.values(checks).every(({ ok }) => ok), checks };
}

/**
 * Reports paused providers. Always ok: a pause is no reason to send requests elsewhere. Names no providers, because
 * anyone may request readiness.
 */
function checkSubmissions({ pausedProviders }: ReadinessOptions): Promise<Check> {
  return noted(pausedProviders, (paused) => `paused to ${counted(paused, "provider")}`);
}

/** Reports resellers that spend far more than usual, without their names. Always ok. */
function checkSpend({ unusualSpenders }: ReadinessOptions): Promise<Check> {
  return noted(unusualSpenders, (found) => `unusually high for ${counted(found, "reseller")}`);
}

/** Returns a check that is always ok, with a detail unless the count is 0. */
async function noted(
  count: () => Awaitable<number>,
  detail: (found: number) => string,
): Promise<Check> {
  try {
    const found = await count();
    return found === 0 ? FINE : { ok: true, detail: detail(found) };
  } catch (error) {
    if (!(error instanceof TransientError)) throw error;
    // The other checks report that the database cannot be read.
    return { ok: true, detail: "not known" };
  }
}

/** Checks the writer with a write, which takes the same path as every order. */
async function checkWriter(writer: Writer): Promise<{ database: Check; writer: Check }> {
  // The writer itself finds out when the disk is writable again.
  if (!writer.isWritable()) return { database: UNWRITABLE, writer: FINE };
  const late = Symbol("late");
  try {
    const written = await Promise.race([
      writer.submit("probe", undefined),
      Bun.sleep(WRITER_MS).then(() => late),
    ]);
    if (written !== late) return { database: FINE, writer: FINE };
    const detail = `no answer within ${WRITER_MS} ms`;
    return { database: { ok: false, detail: "not known" }, writer: { ok: false, detail } };
  } catch (error) {
    const isRefused = error instanceof Refusal;
    return { database: isRefused ? UNWRITABLE : FAILED, writer: isRefused ? FINE : FAILED };
  }
}
