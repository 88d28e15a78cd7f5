// The visitor who sent a request to the panel. How visitors sign in: web/sessions/session-visitor.ts.

import {
  findAdministrator,
  findInvited,
  PANEL_SIGN_INS,
} from "../../db/administrators/administrators.ts";
import { countWaiting } from "../../db/members/registrations.ts";
import { countOpenRequests } from "../../db/orders/order-request-lists.ts";
import { readPaymentFacts } from "../../db/payments/payments.ts";
import type { Reader } from "../../db/port/port.ts";
import type { Administrator } from "../../db/tables/administrators.ts";
import { authorOf } from "../../domain/administrators/administrators.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { SessionVisitor, type SignInSite } from "../../web/sessions/session-visitor.ts";
import type { Panel } from "./panel.ts";

/** Name of the panel's session cookie. */
export const COOKIE = "reseller";

const SIGN_INS: SignInSite<Administrator> = {
  site: "panel",
  cookie: COOKIE,
  rows: PANEL_SIGN_INS,
  find(reader, name) {
    const found = findAdministrator(reader, name);
    return found?.active ? found : undefined;
  },
  findNamed: findAdministrator,
  findInvited,
  keyOf: ({ name }) => name,
};

export class Visitor extends SessionVisitor<Administrator> {
  #waitingRequests = 0;
  #waitingRegistrations = 0;
  #waitingPayments = 0;

  constructor(panel: Panel, request: Pick<IncomingRequest, "headers" | "address">) {
    super(panel, SIGN_INS, request);
  }

  get name(): string {
    return this.administrator.name;
  }

  /** The signed-in administrator. Not available on pages that need no sign-in. */
  get administrator(): Administrator {
    return this.identity().person;
  }

  /** Number of requests of resellers that wait for an operator's decision. */
  get waitingRequests(): number {
    return this.#waitingRequests;
  }

  /** Number of visitors of the portal who asked for an account. */
  get waitingRegistrations(): number {
    return this.#waitingRegistrations;
  }

  /** Number of payments to approve or reject, and of reversed ones to decide on. */
  get waitingPayments(): number {
    return this.#waitingPayments;
  }

  actor(): Actor {
    return { keyId: null, operator: authorOf(this.name) };
  }

  /**
   * Refuses administrators who are not owners, for the parts of an operator's form reserved to owners. `what`
   * completes "Only an owner may". Refuses: owner_required.
   */
  requireOwner(what: string): void {
    if (this.administrator.role !== "owner") throw new Refusal("owner_required", { what });
  }

  protected override noteSignedIn(reader: Reader): void {
    const waiting = countOpenRequests(reader);
    this.#waitingRequests = waiting.toDecide + waiting.unknown;
    this.#waitingRegistrations = countWaiting(reader);
    const payments = readPaymentFacts(reader);
    this.#waitingPayments = payments.waiting + payments.reversed + payments.surplus;
  }

  protected loggedAs(administrator: string | null): Record<string, string | null> {
    return { administrator };
  }
}
