// A provider whose replies are useless, over the compiled binary: it costs a few orders, and every place that should says so.

import { expect, test } from "bun:test";
import { BINARY, binaryJson, serving, stall, stop } from "../../support/binary.ts";
import { callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { PROVIDER_KEY, startUpstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

test("nested replies are refused unread; three pause the provider, over a restart, until it is resumed", async () => {
  const folder = freshFolder();
  const upstream = await startUpstream();
  const flags = ["--metrics-listen", "127.0.0.1:0", "--place-wait", "10m"];
  const { server, key } = await stall(folder, ...flags);
  const create = `admin provider create north --url ${upstream.url} --key-stdin --json`;
  const child = Bun.spawn([BINARY, ...create.split(" ")], {
    cwd: folder,
    stdin: Buffer.from(PROVIDER_KEY),
  });
  expect(await child.exited).toBe(0);
  const update = "admin service update s --provider north --provider-service 1";
  await binaryJson(folder, ...update.split(" "));
  upstream.always("add", { body: "[".repeat(60_000) });
  for (let count = 0; count < 8; count += 1) {
    const body = { service: "s", link: `x${count}`, quantity: 1 };
    const { body: reply } = await callApi(server.url, "POST", "/orders", key, body);
    expect(reply.order.status).toBe("PENDING");
  }
  expect(server.stderr()).toContain("a reply that is nested too deeply");
  expect(server.stderr()).toContain("submissions paused after consecutive unknown outcomes");
  const shown = () => binaryJson(folder, "admin", "provider", "show", "north");
  expect(await shown()).toMatchObject({ open: 8, unknown: 3, pausedBy: "unknown" });
  await until(async () => {
    const { checks } = await (await fetch(`${server.url}/readyz`)).json();
    return checks.submissions.detail === "paused to 1 provider" && checks.submissions.ok === true;
  });
  const url = /"metrics":"(http[^"]+)"/.exec(server.stderr())![1]!;
  expect(await (await fetch(url)).text()).toContain('reseller_provider_paused{provider="north"} 1');
  await stop(server);

  const again = await serving(folder, "serve");
  expect(await shown()).toMatchObject({ unknown: 3, pausedBy: "unknown" });
  upstream.always("add", null);
  await binaryJson(folder, "admin", "provider", "resume", "north");
  await until(() => upstream.book.size === 8);
  expect(await shown()).toMatchObject({ open: 8, unknown: 3, pausedBy: null });
  await stop(again);
  await upstream.stop();
});
