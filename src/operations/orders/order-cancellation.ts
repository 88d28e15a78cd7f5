// Texts for the operator who ends an order that a provider delivers: what happens at the provider, and what it replied
// when it was asked to cancel. docs/specification/orders.md#order-cancellation.

import type { RequestResult } from "../../domain/orders/order-requests.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import { findOpenRequest } from "../../db/orders/order-requests.ts";
import type { Order } from "../../db/orders/orders.ts";
import type { Reader } from "../../db/port/port.ts";
import { type Provider, getProvider } from "../../db/providers/providers.ts";
import { findService } from "../../db/catalogue/services.ts";

/** The delivery of an order that a provider has, or may have. */
export interface RunningDelivery {
  provider: Provider;
  /** Null when it is not known whether the provider has the order. */
  providerOrder: string | null;
  /**
   * `may`: the provider can be asked to cancel. `asked`: the reseller's request has been sent to it. `cannot`: neither.
   */
  cancel: "may" | "asked" | "cannot";
}

/** Returns the delivery; null for an order that no provider delivers. */
export function findRunning(reader: Reader, order: Order): RunningDelivery | null {
  const { delivery, status, orderId } = order;
  if (delivery === null || isTestOrder(order)) return null;
  const { placement, providerId, providerOrder } = delivery;
  const provider = () => getProvider(reader, providerId);
  if (status === "PENDING" && placement === "unknown") {
    return { provider: provider(), providerOrder: null, cancel: "cannot" };
  }
  if (status !== "PROCESSING" || placement !== "placed" || providerOrder === null) return null;
  const request = findOpenRequest(reader, orderId, "cancel");
  const isAsked = request?.state === "accepted" || request?.state === "sent";
  const may = findService(reader, order.serviceId)!.cancel;
  return {
    provider: provider(),
    providerOrder,
    cancel: isAsked ? "asked" : may ? "may" : "cannot",
  };
}

/** Says what happens at the provider when the order is ended here. `asks`: the provider is asked to cancel it first. */
export function runningText(
  { provider: { name }, providerOrder, cancel }: RunningDelivery,
  asks: boolean,
): string {
  if (providerOrder === null) {
    return `It is not known whether ${name} has it: if it does, it may deliver and charge it.`;
  }
  const delivers = `${name} delivers it as number ${providerOrder}.`;
  if (cancel === "asked") {
    return `${delivers} ${name} has been asked to cancel it, and may still deliver and charge it.`;
  }
  if (asks) {
    return `${delivers} ${name} is asked to cancel it first; unless it agrees, nothing is changed here.`;
  }
  return `${delivers} ${name} is not told, and may still deliver and charge it. Cancel it there as well.`;
}

/** Says why the provider did not agree to cancel; null when it agreed. */
export function refusedText(name: string, result: RequestResult): string | null {
  switch (result.outcome) {
    case "accepted":
      return null;
    case "refused":
      return `${name} does not cancel it: ${result.cause}`;
    case "not_sent":
      return `${name} could not be asked to cancel it: ${result.cause}`;
    case "unknown":
      return `It is not known whether ${name} cancels it: ${result.cause}`;
  }
}

/** Adds to the operator's note that the provider agreed. */
export function agreedNote(note: string | null, name: string): string {
  const agreed = `${name} was asked to cancel it and agreed`;
  return note === null ? agreed : `${note}; ${agreed}`;
}
