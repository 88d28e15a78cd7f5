// Starts the sending of e-mails. Loaded only with --smtp.

import type { Config } from "../config/settings.ts";
import type { DeliveryService } from "../delivery/delivery.ts";
import { createMailSender } from "../mails/smtp.ts";
import { startMails } from "../mails/worker.ts";
import type { Outbox } from "../scheduling/outbox.ts";
import { readTexts } from "./portal-texts.ts";
import { clockOf, type Started } from "./wiring.ts";

/** Where links in mails lead; null: nowhere. */
export interface MailUrls {
  portalUrl: string | null;
  panelUrl: string | null;
}

export function startMailService(
  config: Config,
  { database, log, metrics }: Started,
  { ticker }: DeliveryService,
  urls: MailUrls,
): Outbox {
  const { store, writer, serverId } = database;
  const from = config.mailFrom!;
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  const brand = config.brand ?? from.name ?? domain;
  return startMails({
    store,
    writer,
    serverId,
    clock: clockOf(database),
    random: Math.random,
    log,
    ticker,
    send: createMailSender({
      server: config.smtp!,
      password: config.smtpPassword,
      from: { address: from.address, name: from.name ?? brand },
    }),
    site: { brand, contact: config.contact, ...urls, texts: readTexts(config) },
    domain,
    perHour: config.mailPerHour,
    onAttempt: (outcome) => metrics?.mail(outcome),
  });
}
