// Alerts of a whole server, as `serve` starts it: what is wrong reaches Telegram and a URL of this machine.

import { afterAll, expect, test } from "bun:test";
import { freshService, type TestService } from "../support/service.ts";
import { BOT_TOKEN, CHAT, startTelegram } from "../support/telegram.ts";
import { startReceiver } from "../support/webhook-receiver.ts";

const telegram = startTelegram();
let service: TestService;
const closing: (() => Promise<unknown>)[] = [() => telegram.stop()];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 6000; tries += 1) {
    if (holds()) return;
    await Bun.sleep(10);
  }
  throw new Error(`never: ${what}`);
}

test("lack of funds is told once when it begins and once when it ends, a test at once", async () => {
  const receiver = await startReceiver();
  closing.push(() => receiver.stop());
  service = await freshService({ telegramApi: telegram.url });
  closing.push(() => service.stop());
  const url = "http://127.0.0.1:1/";
  service.run("createProvider", { name: "acme", protocol: "smm-api", url, key: "secret" });
  const chat = { telegramChat: CHAT };
  const { id } = service.run("createAlertEndpoint", { target: chat, secret: BOT_TOKEN });
  const here = { url: `http://127.0.0.1:${receiver.port}/` };
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  service.run("createAlertEndpoint", { target: here, secret });
  service.run("testAlertEndpoint", { id });
  await until("the test arrives", () => telegram.messages.length === 1);

  service.query("UPDATE providers SET out_of_funds_at = 1 WHERE name = 'acme'");
  await until("it begins", () => telegram.messages.length === 2 && receiver.received.length === 1);
  service.query("UPDATE providers SET out_of_funds_at = NULL WHERE name = 'acme'");
  await until("it ends", () => telegram.messages.length === 3 && receiver.received.length === 2);
  const types = receiver.received.map(({ body }) => JSON.parse(body).type);
  expect(types).toEqual(["alert.raised", "alert.resolved"]);
});
