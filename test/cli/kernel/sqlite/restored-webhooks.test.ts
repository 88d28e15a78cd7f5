// Webhooks after a restore: what waits is sent, and says so; receivers are never told older news than they have.

import { join } from "node:path";
import { expect, test } from "bun:test";
import { execute } from "../../../../src/operations/batch/execute.ts";
import { openForCommand } from "../../../../src/storage/file/open.ts";
import { openShop, reseller } from "../../../support/worlds/shop.ts";

const ADDRESS = "https://1.1.1.1/hooks";

test("deliveries pending in the backup keep their ids, sequences continue above them, and changed webhooks are named", async () => {
  const started = Date.now();
  const shop = openShop();
  const webhook = async (...argv: string[]) =>
    (await shop.cli("admin", "webhook", ...argv, "--json")).json;
  const { id } = await webhook("create", "--user", "alice", "--url", ADDRESS);
  const open = String(shop.order(100));
  const done = String(shop.order(100));
  await shop.cli("admin", "order", "cancel", done);
  const file = join(shop.folder, "backup.db");
  await shop.cli("backup", file);
  const server = "s".repeat(24);
  const take = () => shop.run("takeDueWebhookDeliveries", { server, limit: 9, perEndpoint: 9 });
  const [before] = take();
  await shop.cli("admin", "order", "complete", open);
  await webhook("rotate", id);
  const { id: later } = await webhook("create", "--user", "bob", "--url", ADDRESS);
  shop.close();

  const { code, json } = await reseller("restore", file, "--data", shop.folder, "--json");
  expect([code, json.webhooksWaiting]).toEqual([0, 1]);
  expect(json.changes).toEqual([
    { subject: `webhook ${id} of alice`, since: "another secret", now: "the backup's secret" },
    { subject: `webhook ${later} of bob`, since: "made", now: "gone" },
  ]);
  const data = ["--data", shop.folder];
  const shown = await reseller("restore", file, ...data);
  expect(shown.stdout).toContain("webhook events waiting in the backup (1)");
  const restored = openShopAt(shop.folder);
  expect(restored.take()[0]!.eventId).toBe(before!.eventId);
  await reseller("admin", "order", "complete", open, ...data);
  const [first, second] = restored.sequences();
  expect(first).toBe(1);
  expect(second).toBeGreaterThan(started);
  expect((await reseller("verify", ...data)).code).toBe(0);
  restored.close();
});

function openShopAt(folder: string) {
  const { store, sqlite } = openForCommand(folder);
  const server = "t".repeat(24);
  return {
    take: () =>
      execute(
        store,
        "takeDueWebhookDeliveries",
        { server, limit: 9, perEndpoint: 9 },
        Date.now(),
      ) as Awaited<ReturnType<typeof execute<"takeDueWebhookDeliveries">>>,
    sequences: () =>
      sqlite
        .query("SELECT sequence FROM webhook_events ORDER BY event_id")
        .values()
        .map(([each]) => each as number),
    close: () => sqlite.close(),
  };
}
