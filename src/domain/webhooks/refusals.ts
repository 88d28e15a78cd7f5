// Refusals about webhooks and the operator's alert endpoints.

import { ALERT_ENDPOINTS_LIMIT, EARLIER_SECRETS_LIMIT, WEBHOOKS_LIMIT } from "../values/limits.ts";
import { entry, see } from "../values/refusal-entry.ts";

export const WEBHOOK_REFUSALS = {
  webhook_not_found: entry({
    status: 404,
    message: "Webhook not found",
    commandLine: see("admin webhook list"),
    fields: ["webhook"],
    isAbsence: true,
  }),
  webhooks_too_many: entry({
    status: 400,
    message: `A reseller may have at most ${WEBHOOKS_LIMIT} webhooks`,
    hint: "delete or change one of them",
    fields: ["url"],
  }),
  webhook_secrets_too_many: entry({
    status: 400,
    message: `A webhook may have at most ${EARLIER_SECRETS_LIMIT} earlier secrets that still sign`,
    hint: "wait until one has ended, or end all of them now",
    commandLine: "give --grace 0",
    fields: ["grace"],
  }),
  child_cannot_hold_webhook: entry({
    message: "A child user cannot hold a webhook",
    hint: "create it for the parent",
    fields: ["username"],
  }),
  delivery_not_found: entry({
    status: 404,
    message: "Delivery not found",
    commandLine: see("admin webhook deliveries"),
    fields: ["delivery"],
    isAbsence: true,
  }),
  alert_endpoint_not_found: entry({
    message: "Alert endpoint not found",
    commandLine: see("admin alert list"),
    fields: ["endpoint"],
    isAbsence: true,
  }),
  alert_endpoints_too_many: entry({
    message: `There are at most ${ALERT_ENDPOINTS_LIMIT} endpoints`,
    hint: "delete one of them",
    fields: ["target"],
  }),
};
