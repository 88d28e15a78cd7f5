// Builds the dependencies of the portal from the settings. It is loaded only if the portal is on.

import { readFileSync } from "node:fs";
import { type Config, isPortalSecure, orderLimitsIn, PORTAL_PREFIX } from "../config/settings.ts";
import { createBrand } from "../portal/server/brand.ts";
import type { Portal } from "../portal/server/portal.ts";
import { createCallerRate } from "../http/server/rate-limits.ts";
import { createCompletionTimes } from "../reports/completion-times.ts";
import { createPasswords } from "../web/sessions/passwords.ts";
import { checkNewUrl } from "../webhooks/new-url.ts";
import { readPortalFile } from "./portal-files.ts";
import { readTexts } from "./portal-texts.ts";
import { internalErrors, type Started, webhookPolicy } from "./wiring.ts";

export { portalHandler, startPortal } from "../portal/server/listener.tsx";

const LOGO_LIMIT_BYTES = 512 * 1024;

export function portalDeps(config: Config, started: Started): Portal {
  const { database, log } = started;
  const { store, slowStore, writer } = database;
  const logo = config.portalLogo && readPortalFile("portal-logo", config.portalLogo, readLogo);
  const brand = readPortalFile("portal-logo", config.portalLogo ?? "", () =>
    createBrand({ name: config.brand, accent: config.accent, logo: logo || null }),
  );
  const completionTimes = createCompletionTimes(
    slowStore,
    () => database.now(),
    (error) => log.warn({ error: String(error) }, "the times to completion could not be read"),
  );
  void completionTimes.read();
  return {
    prefix: config.portalListen ? "" : PORTAL_PREFIX,
    ...brand,
    texts: readTexts(config),
    store,
    slowStore,
    writer,
    log,
    now: () => database.now(),
    checkWebhookUrl: (text) => checkNewUrl(text, webhookPolicy(config)),
    settings: {
      url: config.portalUrl,
      isSecure: isPortalSecure(config),
      confirmAboveMicros: config.panelConfirmAbove,
      registration: config.portalRegistration,
      needsSecondFactor: config.portalSecondFactor === "required",
      contact: config.contact,
      legal: { name: config.legalName, address: config.legalAddress },
      orderLimits: orderLimitsIn(config),
      searchOrders: config.portalSearchOrders,
      registrationsWaiting: config.portalRegistrationsWaiting,
    },
    limits: {
      search: createCallerRate(config.portalSearchRate),
      registration: createCallerRate(config.portalRegistrationRate),
    },
    completionTimes,
    passwords: createPasswords(),
    payments: started.payments,
    trustedProxy: config.trustedProxy,
    onInternalError: internalErrors(started),
    demo: started.demo?.portal ?? null,
  };
}

function readLogo(path: string): Uint8Array {
  const bytes = readFileSync(path);
  if (bytes.length > LOGO_LIMIT_BYTES) {
    throw new Error(`it is longer than ${LOGO_LIMIT_BYTES} bytes`);
  }
  return bytes;
}
