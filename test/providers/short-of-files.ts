// A process of its own that opens files until there is no descriptor left, calls out, and prints what came of it.

import { openSync, writeSync } from "node:fs";
import { errorCode } from "../../src/domain/values/error-table.ts";
import { createSender } from "../../src/providers/call.ts";
import { createChannels } from "../../src/alerts/channels.ts";

const [url] = process.argv.slice(2) as [string];
const stop = new AbortController().signal;
const channels = createChannels({
  policy: { allow: [], allowHttp: true },
  now: Date.now,
  telegramApi: url,
});
const message = {
  url,
  secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  eventId: "1",
  body: "{}",
};

/** Twice: what is loaded at the first call is loaded while files can be opened. */
async function callOut() {
  return {
    order: await createSender(url, 600_000)({ action: "add" }, { stop, once: true }),
    webhook: await channels({ ...message, alert: { telegramChat: null } }, stop),
    telegram: await channels({ ...message, alert: { telegramChat: "1" } }, stop),
  };
}

await callOut();
try {
  for (;;) openSync("/dev/null", "r");
} catch (error) {
  if (errorCode(error) !== "EMFILE") throw error;
}
writeSync(1, JSON.stringify(await callOut()));
process.exit();
