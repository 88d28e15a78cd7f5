// Observer: how the program reports events, without knowing of prom-client.

import type { MailOutcome } from "../domain/mails/mails.ts";
import type { WebhookOutcome } from "../domain/webhooks/webhooks.ts";
import type { RequestKind } from "../domain/orders/order-requests.ts";
import type { SubmissionOutcome } from "../domain/delivery/deliveries.ts";
import type { RateExceeded } from "../domain/values/request-refusals.ts";
import type { RefusalCode } from "../domain/values/error-table.ts";

/** Events that the program reports. */
export interface Observer {
  /** Reports a request. `route` is the pattern; null if no route matched. */
  request(method: string, route: string | null, status: number, seconds: number): void;
  /** Reports a request with a test key; nothing else is reported for it. */
  testRequest(status: number): void;
  refusal(code: RefusalCode): void;
  rateLimited(by: RateExceeded["by"]): void;
  replay(): void;
  internalError(): void;
  /** The outcome of a submission. `provider`: its name. */
  placement(provider: string, outcome: SubmissionOutcome): void;
  /** The outcome of a cancel or refill request that was sent to a provider. */
  orderRequest(kind: RequestKind, outcome: string): void;
  /** The outcome of an attempt to deliver a webhook: `delivered`, or why it failed. */
  webhook(outcome: WebhookOutcome): void;
  /** The outcome of an attempt to send an alert to the operator. */
  alert(outcome: WebhookOutcome): void;
  /** The outcome of an attempt to send an e-mail. */
  mail(outcome: MailOutcome): void;
  /** A call of a payment method, or a notice from one. */
  payment(call: "begin" | "read" | "notice", outcome: string): void;
  commit(commands: number, seconds: number): void;
}

/** Observer for a server without metrics. */
export const NO_OBSERVER: Observer = {
  request() {},
  testRequest() {},
  refusal() {},
  rateLimited() {},
  replay() {},
  internalError() {},
  placement() {},
  orderRequest() {},
  webhook() {},
  alert() {},
  mail() {},
  payment() {},
  commit() {},
};

/** Labels that are known before any event has happened. */
export interface KnownLabels {
  /** Method and pattern. */
  routes: readonly (readonly [method: string, route: string])[];
  /** Codes of refusals. */
  codes: readonly string[];
}
