// A provider without funds whose orders are held, over the compiled binary: every place says so, and all are sent once.

import { expect, test } from "bun:test";
import { BINARY, binaryJson, serving, stall, stop } from "../../support/binary.ts";
import { callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { PROVIDER_KEY, startUpstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

const ORDERS = 8;

test("orders wait for funds over a restart, and are sent once, in sequence, when the provider is resumed", async () => {
  const folder = freshFolder();
  const upstream = await startUpstream();
  const flags = ["--metrics-listen", "127.0.0.1:0"];
  const { server, key } = await stall(folder, ...flags);
  const create = `admin provider create north --url ${upstream.url} --on-no-funds hold --hold-limit 100 --key-stdin --json`;
  const child = Bun.spawn([BINARY, ...create.split(" ")], {
    cwd: folder,
    stdin: Buffer.from(PROVIDER_KEY),
  });
  expect(await child.exited).toBe(0);
  const update = "admin service update s --provider north --provider-service 1";
  await binaryJson(folder, ...update.split(" "));
  upstream.always("add", { body: JSON.stringify({ error: "Not enough funds on balance" }) });
  const links = Array.from({ length: ORDERS }, (_, index) => `https://example.com/${index}`);
  for (const link of links) {
    const { body } = await callApi(server.url, "POST", "/orders", key, {
      service: "s",
      link,
      quantity: 1,
    });
    expect(body.order.status).toBe("PENDING");
  }
  expect(server.stderr()).toContain("paused until the provider has funds");
  const shown = () => binaryJson(folder, "admin", "provider", "show", "north");
  const held = { open: ORDERS, unknown: 0, pausedBy: "funds", onNoFunds: "hold", holdLimit: 100 };
  expect(await shown()).toMatchObject(held);
  expect((await shown()).attention[0]).toStartWith(`north lacks funds: ${ORDERS} orders for `);
  const { checks } = await (await fetch(`${server.url}/readyz`)).json();
  expect(checks.submissions).toMatchObject({ ok: true, detail: "paused to 1 provider" });
  const url = /"metrics":"(http[^"]+)"/.exec(server.stderr())![1]!;
  const gauge = `reseller_held_orders{provider="north"} ${ORDERS}`;
  expect(await (await fetch(url)).text()).toContain(gauge);
  await stop(server);

  const again = await serving(folder, "serve");
  expect(await shown()).toMatchObject(held);
  upstream.always("add", null);
  await binaryJson(folder, "admin", "provider", "resume", "north");
  // Before, the provider noted the order that it refused.
  const sent = () => [...upstream.book.values()].map(({ form }) => form["link"]);
  await until(() => sent().length === ORDERS + 1);
  expect(sent().slice(1)).toEqual(links);
  expect(await shown()).toMatchObject({ open: ORDERS, unknown: 0, pausedBy: null });
  await stop(again);
  await upstream.stop();
});
