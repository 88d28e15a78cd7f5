// All kinds of payment methods. A new one is a line here.

import { callback } from "./callback.ts";
import { manual } from "./manual.ts";
import type { MethodApi, MethodDeps, MethodKind } from "./method.ts";
import { settingsOf } from "./method-settings.ts";
import { stripe } from "./stripe.ts";

export const METHOD_KINDS: readonly MethodKind[] = [manual, callback, stripe];

/** The part of a stored method that its calls need. */
export interface StoredMethod {
  kind: string;
  /** JSON. */
  settings: string;
}

/** The kinds whose payments are read from time to time. */
export const READABLE_KINDS = METHOD_KINDS.filter(({ isReadable }) => isReadable).map(
  ({ kind }) => kind,
);

/** Returns a kind by its name. */
export function methodKind(name: string): MethodKind | undefined {
  return METHOD_KINDS.find(({ kind }) => kind === name);
}

/** Returns the kind of a stored method. Throws for an unknown one: the database was written by a newer program. */
export function kindOf(method: { kind: string }): MethodKind {
  const found = methodKind(method.kind);
  if (!found) throw new Error(`no payment method has the kind ${method.kind}`);
  return found;
}

/** Asks the provider whether it takes the settings of a method. Resolves with why not; null if it does, or cannot be asked. */
export async function checkMethod(method: StoredMethod, deps: MethodDeps): Promise<string | null> {
  const api = await connectMethod(method, deps);
  return api.check ? api.check(AbortSignal.timeout(deps.timeoutMs)) : null;
}

/** Returns a stored method, ready to be called. Opens no connection. */
export function connectMethod(method: StoredMethod, deps: MethodDeps): Promise<MethodApi> {
  return kindOf(method).connect(settingsOf(method), deps);
}
