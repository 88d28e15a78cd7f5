// Actions on many things that were selected in a list.

import type { Form } from "../../web/server/form.ts";

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

/** Runs `work` for all, a few at a time. Returns the results in the sequence of `all`. */
export async function forEachAtOnce<T>(all: readonly T[], work: (one: T) => Promise<unknown>) {
  const done: PromiseSettledResult<unknown>[] = [];
  for (let index = 0; index < all.length; index += AT_ONCE) {
    done.push(...(await Promise.allSettled(all.slice(index, index + AT_ONCE).map(work))));
  }
  return done;
}
