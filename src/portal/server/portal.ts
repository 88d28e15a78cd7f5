// The parts of the server that the portal uses, and its settings.

import type { Network } from "../../config/networks.ts";
import type { PortalRegistration } from "../../config/settings.ts";
import type { ReadStore } from "../../db/port/port.ts";
import type { OrderLimits } from "../../domain/users/reseller-limits.ts";
import type { CallerRate } from "../../http/server/rate-limits.ts";
import type { CheckWebhookUrl } from "../../domain/webhooks/webhook-urls.ts";
import type { Logger } from "../../monitoring/log.ts";
import type { CompletionTimes } from "../../reports/completion-times.ts";
import type { Payments } from "../../payments/payments.ts";
import type { Asset } from "../../web/server/assets.ts";
import type { DemoSite } from "../../web/server/demo.ts";
import type { OriginSettings } from "../../web/server/origin.ts";
import type { Passwords } from "../../web/sessions/passwords.ts";
import type { Brand } from "../../web/server/site.ts";
import type { Writer } from "../../writer/writer.ts";
import type { Texts } from "../texts/texts.ts";

export interface PortalSettings extends OriginSettings {
  /** Moving more than this asks for a password or a code again. */
  confirmAboveMicros: number;
  registration: PortalRegistration;
  /** Whether members must have a second factor. */
  needsSecondFactor: boolean;
  /** An e-mail address or an https URL; null: none is shown. */
  contact: string | null;
  /** The operator's company, for statements. */
  legal: { name: string | null; address: string | null };
  /** Limit for the orders that one page of a search examines. */
  searchOrders: number;
  /** Limit for the registrations that wait for the operator. */
  registrationsWaiting: number;
  /** The default limits of resellers. */
  orderLimits: OrderLimits;
}

export interface Portal {
  /** Path of the portal on the API's listener; empty on a listener of its own. */
  prefix: string;
  brand: Brand;
  /** The logo and the stylesheet of the brand. */
  assets: readonly Asset[];
  texts: Texts;
  store: ReadStore;
  /** The store for long reads, such as files to download. */
  slowStore: ReadStore;
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "info" | "warn" | "error">;
  now: () => number;
  /** Checks whether a webhook can be sent to a URL. */
  checkWebhookUrl: CheckWebhookUrl;
  settings: PortalSettings;
  completionTimes: CompletionTimes;
  /** Counts a search of a member, and a registration from a network. Each returns the seconds to wait; 0: go on. */
  limits: { search: CallerRate; registration: CallerRate };
  passwords: Passwords;
  payments: Pick<Payments, "begin" | "receive">;
  /** The proxies whose X-Forwarded-For is trusted. */
  trustedProxy: readonly Network[];
  onInternalError(error: unknown): void;
  /** Absent or null: this is no demo. */
  demo?: DemoSite | null;
}
