// Alerts of a whole server, as `serve` starts it: what is wrong reaches Telegram and a URL of this machine.

import { afterAll, expect, test } from "bun:test";
import { freshDatabase } from "../support/databases/test-database.ts";
import { openService, type TestService } from "../support/worlds/service.ts";
import { BOT_TOKEN, CHAT, startTelegram } from "../support/peers/telegram.ts";
import { startReceiver } from "../support/peers/webhook-receiver.ts";
import { until } from "../support/until.ts";

const telegram = startTelegram();
let service: TestService;
const closing: (() => Promise<unknown>)[] = [() => telegram.stop()];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

test("a lack of funds is reported once when it begins and once when it ends, a test at once", async () => {
  const receiver = await startReceiver();
  closing.push(() => receiver.stop());
  const database = freshDatabase();
  const url = "http://127.0.0.1:1/";
  database.run("createProvider", { name: "acme", protocol: "smm-api", url, key: "secret" });
  const chat = { telegramChat: CHAT };
  const { id } = database.run("createAlertEndpoint", { target: chat, secret: BOT_TOKEN });
  const here = { url: `http://127.0.0.1:${receiver.port}/` };
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  database.run("createAlertEndpoint", { target: here, secret });
  database.query("UPDATE providers SET out_of_funds_at = 1 WHERE name = 'acme'");
  // It looks when it starts, and then every ten seconds.
  service = await openService({ settings: { telegramApi: telegram.url }, database });
  closing.push(() => service.stop());
  const arrived = (messages: number, events: number) => () =>
    telegram.messages.length === messages && receiver.received.length === events;
  await until(arrived(1, 1));
  service.run("testAlertEndpoint", { id });
  await until(arrived(2, 1));
  service.query("UPDATE providers SET out_of_funds_at = NULL WHERE name = 'acme'");
  await until(arrived(3, 2));
  const types = receiver.received.map(({ body }) => JSON.parse(body).type);
  expect(types).toEqual(["alert.raised", "alert.resolved"]);
});
