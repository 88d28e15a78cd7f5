// Actions on many things that were selected in a list.

import { Refusal } from "../../domain/values/error-table.ts";
import { type Form, FormError } from "../../web/server/form.ts";
import { shownRefusal } from "../../web/server/refusals.ts";
import type { Submission } from "./call.ts";
import type { Panel } from "./panel.ts";

/** Number of calls under way: each may ask a provider, and the writer's queue has a limit. */
const AT_ONCE = 10;

/** Returns the ids of the ticked boxes, each once. `noun`: what is selected; the boxes have its name. */
export function selectedIds(form: Form, noun: "order" | "request", most: number): string[] {
  const ids = [...new Set(form.all(noun))];
  if (ids.length === 0) form.addError(noun, `Select at least one ${noun}`);
  if (ids.length > most) form.addError(noun, `Select at most ${most} ${noun}s`);
  form.check();
  return ids;
}

/** What became of an action on many things. */
export interface ManyDone {
  done: number;
  /** Which were not changed, and why: `orders 3, 4: It has ended; order 9: …`. Empty: all were changed. */
  why: string;
}

/**
 * Runs `work` for all, a few at a time. If not one succeeds, the form is shown again with which and why, beside
 * `field`; an error that is no refusal is thrown. `idOf`: what each is called after the noun.
 */
export async function changeAll<T>(
  { form }: Submission,
  { log }: Panel,
  all: readonly T[],
  { noun, field, idOf }: { noun: string; field: string; idOf: (one: T) => string | number },
  work: (one: T) => Promise<unknown>,
): Promise<ManyDone> {
  const failed: { id: string | number; reason: string }[] = [];
  let internal: unknown = null;
  for (let index = 0; index < all.length; index += AT_ONCE) {
    const some = all.slice(index, index + AT_ONCE);
    const results = await Promise.allSettled(some.map(work));
    for (const [at, result] of results.entries()) {
      if (result.status === "fulfilled") continue;
      const reason = reasonOf(result.reason);
      if (reason === null) {
        internal = result.reason;
        log.error({ error: String(internal) }, `panel: one ${noun} of many was not changed`);
      }
      failed.push({ id: idOf(some[at]!), reason: reason ?? "try again" });
    }
  }
  const done = all.length - failed.length;
  const why = whyText(noun, failed);
  if (done > 0 || failed.length === 0) return { done, why };
  if (internal !== null) throw internal;
  form.addError(field, why);
  throw new FormError(why);
}

/** Names things by what is wrong with them: `orders 3, 4: It has ended; order 9: …`. */
export function whyText(
  noun: string,
  failed: readonly { id: string | number; reason: string }[],
): string {
  const byReason = Map.groupBy(failed, ({ reason }) => reason);
  return [...byReason]
    .map(([reason, some]) => {
      const ids = some.map(({ id }) => id).join(", ");
      return `${some.length === 1 ? noun : `${noun}s`} ${ids}: ${reason.replace(/\.$/, "")}`;
    })
    .join("; ");
}

/** Returns why something was refused, or null for an error that is no refusal. */
function reasonOf(error: unknown): string | null {
  if (error instanceof FormError) return error.message;
  if (!(error instanceof Refusal) || error.code === "service_unavailable") return null;
  return shownRefusal(error, new Set()).message;
}
