// The parts of the server that the panel uses.

import type { Network } from "../../config/networks.ts";
import type { ReadStore } from "../../db/port/port.ts";
import type { Lateness, MachineFacts } from "../../domain/alerts/conditions.ts";
import type { OrderLimits } from "../../domain/users/reseller-limits.ts";
import type { Rate } from "../../domain/values/units.ts";
import type { CheckWebhookUrl } from "../../domain/webhooks/webhook-urls.ts";
import type { Logger } from "../../monitoring/log.ts";
import type { StoredMethod } from "../../payments/methods.ts";
import type { ProviderAddress } from "../../providers/protocols.ts";
import type { ProviderApi } from "../../providers/provider.ts";
import type { ActivityCounter } from "../../reports/activity.ts";
import type { OrderCounts } from "../../reports/status-counter.ts";
import type { DemoSite } from "../../web/server/demo.ts";
import type { OriginSettings } from "../../web/server/origin.ts";
import type { Passwords } from "../../web/sessions/passwords.ts";
import type { Writer } from "../../writer/writer.ts";
import type { ImportRuns } from "../imports/import-runs.ts";
import type { PortalFacts, SystemFacts } from "./facts.ts";

export interface PanelSettings extends OriginSettings {
  /** True if owners must have a second factor. */
  needsSecondFactor: boolean;
  /** Moving more than this asks for a password or a code again. */
  confirmAboveMicros: number;
  /** The default limits of resellers. */
  rateLimit: Rate | 0;
  orderLimits: OrderLimits;
}

export interface Panel {
  store: ReadStore;
  /** The store for long reads. */
  slowStore: ReadStore;
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "info" | "warn" | "error">;
  now: () => number;
  activity: ActivityCounter;
  /** Counts of all orders by status; null if the first count takes longer than `waitMs`. */
  statuses: (waitMs: number) => Promise<OrderCounts | null>;
  /** Checks whether a webhook can be sent to a URL. */
  checkWebhookUrl: CheckWebhookUrl;
  /** Connects to a provider, to test it and to read its list. */
  connect: (provider: ProviderAddress) => ProviderApi;
  /** Asks the provider of payments whether it takes the settings. Resolves with why not; null if it does. */
  checkMethod: (method: StoredMethod) => Promise<string | null>;
  machine(): MachineFacts;
  /** Lateness of polls by provider name, of those that this server polls. */
  lateness(): Promise<ReadonlyMap<string, Lateness>>;
  portal: PortalFacts;
  settings: PanelSettings;
  passwords: Passwords;
  system: SystemFacts;
  /** The import from another panel. */
  imports: ImportRuns;
  /** The proxies whose X-Forwarded-For is trusted. */
  trustedProxy: readonly Network[];
  onInternalError(error: unknown): void;
  /** Absent or null: this is no demo. */
  demo?: DemoSite | null;
}
