// Resellers who ask for cancellations and refills, sometimes of others' orders, and the operator who decides.

import { OutcomeUnknownError } from "../../../src/db/port/port.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import type { Writer } from "../../../src/writer/writer.ts";
import type { Kind } from "./request-auditor.ts";
import type { Market } from "./market.ts";

interface Caller {
  writer: Pick<Writer, "submit">;
  /** The key of a reseller, and its account. */
  keyOf: (reseller: string) => { keyId: string; resellerAccount: number };
  resellers: readonly string[];
  /** The order of its own that the reseller asks to cancel; absent: any wish for any order. */
  cancels?: string;
}

/** Makes a request for an existing order. Does nothing if there is no order or no server answers. */
export async function makeRequest(
  { world, auditor, requests }: Market,
  { writer, keyOf, resellers, cancels }: Caller,
): Promise<void> {
  const { chance } = world;
  const rows = auditor.rows();
  if (rows.length === 0) return;
  const kind = cancels ? "cancel" : chance.pick<Kind>(["cancel", "cancel", "refill"]);
  const fits = rows.filter(({ status, link }) =>
    cancels
      ? link === cancels
      : kind === "cancel"
        ? status === "PENDING" || status === "PROCESSING"
        : status === "COMPLETED",
  );
  const { orderId, link, username } = chance.pick(fits.length > 0 ? fits : rows);
  const by = !cancels && chance.happens(0.1) ? chance.pick(resellers) : username;
  const id = String(orderId);
  if (by === username) requests.asks(link, kind);
  try {
    const made = await writer.submit("makeRequest", { ...keyOf(by), kind, id });
    world.trace(`${by} asks to ${kind} ${link}: ${made.state}`);
    if (by !== username) requests.gotForeign(link);
  } catch (error) {
    if (error instanceof OutcomeUnknownError) return world.trace(`${by} asks to ${kind} ${link}`);
    if (!(error instanceof Refusal)) throw error;
    world.trace(`${by} asks to ${kind} ${link}: refused, ${error.code}`);
  }
}

/** What waits for the operator, and now and then what does not. */
export function decide({ world, auditor, requests, run }: Market): void {
  const { chance } = world;
  const rows = requests.rows();
  if (rows.length === 0) return;
  const waiting = rows.filter(
    ({ state, unknown, providerId }) =>
      unknown === 1 || (providerId === null && (state === "requested" || state === "accepted")),
  );
  const row = chance.pick(waiting.length > 0 && chance.happens(0.8) ? waiting : rows);
  const { link, kind, providerId } = row;
  const decision = chance.pick(["approve", "decline", "complete"] as const);
  const what = `operator decides ${decision} of ${kind} ${link}`;
  const actor = { keyId: null, operator: "sim" };
  try {
    run("decideRequest", { id: String(row.requestId), decision, note: null, actor });
    requests.decided(link, kind, decision);
    const cancels = decision === "approve" && kind === "cancel" && providerId === null;
    if (cancels) auditor.operatorMoved(link, "CANCELLED", 0);
    world.trace(what);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    world.trace(`${what}: refused, ${error.code}`);
  }
}
