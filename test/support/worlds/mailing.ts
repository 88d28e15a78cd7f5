// What sends the mails of a test's database to a mail server of this machine.

import { createMailSender } from "../../../src/mails/smtp.ts";
import type { MailDeps } from "../../../src/mails/worker.ts";
import { createLog } from "../../../src/monitoring/log.ts";
import { createTexts } from "../../../src/portal/texts/texts.ts";
import { systemClock } from "../../../src/scheduling/clock.ts";
import { startTicker } from "../../../src/scheduling/ticker.ts";
import type { TestDatabase } from "../databases/test-database.ts";

/** The server's ticker is in `ticker`, which the test stops. */
export function mailDeps(
  database: TestDatabase,
  server: { port: number },
  given: Partial<MailDeps> = {},
): MailDeps & { ticker: ReturnType<typeof startTicker> } {
  const clock = given.clock ?? systemClock;
  const log = createLog("silent");
  const ticker = startTicker(
    { clock, log },
    async () => null,
    () => {},
  );
  return {
    store: database.store,
    serverId: "server-a",
    // oxlint-disable-next-line typescript/require-await -- what it throws is to be a rejection
    writer: { submit: async (name, input) => database.execute(name, input, clock.now()) },
    log,
    clock,
    random: () => 0.5,
    send: createMailSender({
      server: {
        isTls: false,
        host: "127.0.0.1",
        port: server.port,
        user: null,
        hasPassword: false,
      },
      password: null,
      from: { name: "Shop", address: "orders@shop.example" },
    }),
    site: {
      brand: "Shop",
      contact: null,
      portalUrl: "https://shop.example/portal",
      panelUrl: null,
      texts: createTexts(),
    },
    domain: "shop.example",
    perHour: 1000,
    ...given,
    ticker,
  };
}
