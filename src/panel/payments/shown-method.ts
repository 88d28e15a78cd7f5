// A way to pay as the panel's pages show it.

import { listMethodResellers } from "../../db/payments/payment-methods.ts";
import type { Reader } from "../../db/port/port.ts";
import type { PaymentMethodRow } from "../../db/tables/payments.ts";
import { METHOD_ID } from "../../domain/payments/payment-methods.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { settingsOf } from "../../payments/method-settings.ts";
import { requireMethod } from "../../operations/payments/payment-methods.ts";
import { kindOf } from "../../payments/methods.ts";
import type { AttentionItem } from "../reports/attention.ts";
import type { Call } from "../server/call.ts";

export interface ShownMethod {
  method: PaymentMethodRow;
  /** Null: all resellers. */
  resellers: readonly string[] | null;
}

/** Refuses: payment_method_not_found. */
export function methodOf(reader: Reader, params: Call["params"]): PaymentMethodRow {
  const id = METHOD_ID.read(params["method"]!);
  if ("must" in id) throw refusal("payment_method_not_found");
  return requireMethod(reader, id.value);
}

/** Refuses: payment_method_not_found. */
export function requireShownMethod(reader: Reader, params: Call["params"]): ShownMethod {
  const method = methodOf(reader, params);
  const named = listMethodResellers(reader, method.methodId).map(({ username }) => username);
  return { method, resellers: method.resellers === "all" ? null : named };
}

/** Methods that are offered in test mode, by which credit costs nothing. */
export function testItems(methods: readonly PaymentMethodRow[]): AttentionItem[] {
  return methods
    .filter((method) => method.active && kindOf(method).isTest?.(settingsOf(method)))
    .map((method) => ({
      tone: "busy",
      text: `The way to pay ${method.methodId} is on in test mode: test cards get real credit`,
      action: "Turn it off, or enter the keys of live mode",
      href: methodPath(method),
    }));
}

export function methodPath({ methodId }: Pick<PaymentMethodRow, "methodId">): string {
  return `/payment-methods/${methodId}`;
}
