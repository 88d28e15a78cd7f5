// The compiled server and a provider: killed, or stopped, while a submission is in flight.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { binary, binaryJson, serving, type Serving, stall, stop } from "../../support/binary.ts";
import { callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

/** Makes responses wait for the outcome of the submission, however slow the machine is. */
const LONG_WAIT = ["--place-wait", "10m"];
const FLAGS = ["--poll-interval", "100ms", "--place-wait", "1s"];

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

/** A server whose service `p` is delivered by the provider. */
async function shopWithProvider(providerKey = PROVIDER_KEY) {
  const folder = freshFolder();
  const { server, key } = await stall(folder, ...LONG_WAIT);
  const created = Bun.spawnSync(
    [
      new URL("../../../dist/reseller", import.meta.url).pathname,
      "admin",
      "provider",
      "create",
      "acme",
      "--url",
      upstream.url,
      "--key-stdin",
      "--no-check",
      "--json",
    ],
    { cwd: folder, stdin: Buffer.from(`${providerKey}\n`), env: { HOME: folder } },
  );
  expect(created.exitCode).toBe(0);
  expect(created.stdout.toString()).not.toContain(providerKey);
  await binaryJson(
    folder,
    ..."admin service create --id p --name P --price 1 --min 1 --max 1000 --provider acme --provider-service 5".split(
      " ",
    ),
  );
  return { folder, server, key };
}

function place(server: Serving, key: string, link: string): Promise<number> {
  return fetch(`${server.url}/api/v1/orders`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ service: "p", link, quantity: 10 }),
  }).then(
    (response) => response.status,
    () => 0,
  );
}

const sentFor = (link: string) => upstream.adds().filter((form) => form["link"] === link).length;

test("kill -9 while the provider holds the order: unknown after the restart, and never sent again", async () => {
  const { folder, server, key } = await shopWithProvider();
  upstream.always("add", "hang");
  const answer = place(server, key, "killed");
  await until(() => sentFor("killed") === 1);
  server.kill("SIGKILL");
  expect(await answer).toBe(0);
  await server.ended;
  upstream.always("add", null);

  const again = await serving(folder, "serve", ...FLAGS);
  const [order] = await binaryJson(folder, "admin", "order", "list", "--unknown");
  expect(order).toMatchObject({ status: "PENDING", placement: "unknown", refunded: 0 });
  // Others go on being placed and followed; this one does not.
  expect(await place(again, key, "next")).toBe(200);
  await until(() => upstream.received.filter(({ action }) => action === "status").length > 5);
  expect(sentFor("killed")).toBe(1);

  // The provider has it after all: the operator looks up its number, and it is followed.
  const [number, entry] = [...upstream.book].find(([, { form }]) => form["link"] === "killed")!;
  entry.status = { status: "Completed", remains: "0", start_count: "5" };
  await binaryJson(folder, "admin", "order", "settle", String(order.orderId), "--placed", number);
  let shown = order;
  while (shown.status !== "COMPLETED") {
    shown = await binaryJson(folder, "admin", "order", "show", String(order.orderId));
  }
  expect(shown).toMatchObject({ providerOrder: number, placement: "placed", startCount: 5 });
  expect(sentFor("killed")).toBe(1);
  await stop(again);
  expect((await binary(folder, "verify")).code).toBe(0);
  // The provider's key is in the database, which is its owner's alone, and in nothing that was printed.
  expect(again.stderr() + server.stderr() + JSON.stringify(shown)).not.toContain(PROVIDER_KEY);
  const database = join(folder, "data", "reseller.db");
  expect(readFileSync(database).includes(PROVIDER_KEY)).toBe(true);
  expect(statSync(database).mode & 0o777).toBe(0o600);
});

test("a stop gives up a call that does not end in time: unknown, exit 0, and never sent again", async () => {
  const { folder, server, key } = await shopWithProvider();
  upstream.always("add", "hang");
  const answer = place(server, key, "stopped");
  await until(() => sentFor("stopped") === 1);
  await stop(server);
  upstream.always("add", null);
  expect(await answer).toBe(200);
  const again = await serving(folder, "serve", ...FLAGS);
  const [order] = await binaryJson(folder, "admin", "order", "list", "--unknown");
  const id = String(order.orderId);
  const { timeline } = await binaryJson(folder, "admin", "order", "show", id);
  expect(timeline).toMatchObject([
    { what: "sending" },
    { what: "unknown", note: "the server was stopped" },
  ]);
  const settled = await binaryJson(folder, "admin", "order", "settle", id, "--not-placed");
  expect(settled).toMatchObject({ status: "FAILED", placement: "refused", refunded: 0.01 });
  await stop(again);
  expect(sentFor("stopped")).toBe(1);
});

test("the provider's key reaches no service's name, no terminal, no log and no order, however it is escaped", async () => {
  // Any key is answered here; what is escaped is what stands between these words.
  const secret = "begin/middle+end=";
  const parts = /begin.*middle.*end/i;
  const escaped = [
    secret,
    encodeURIComponent(secret).toLowerCase(),
    encodeURIComponent(encodeURIComponent(secret)),
    secret.replaceAll("/", "\\/"),
    secret.replaceAll("/", "\\u002F").replaceAll("+", "\\u002b"),
    secret.replaceAll("/", "&#x2F;").replaceAll("+", "&plus;"),
  ];
  const terms = { type: "Default", rate: "0.5", min: "1", max: "1000" };
  const list = escaped.map((text, index) => {
    return { service: String(index + 100), name: `Likes ${text} fast`, ...terms };
  });
  const body = JSON.stringify([{ service: "5", name: "P", ...terms }, ...list]);
  upstream.always("services", { body });
  const { folder, server, key } = await shopWithProvider(secret);
  const shown = [await binary(folder, ..."admin provider sync acme --dry-run".split(" "))];
  shown.push(await binary(folder, ..."admin provider sync acme --markup 0%".split(" ")));
  expect(shown.map(({ code }) => code)).toEqual([0, 0]);
  upstream.always("services", null);
  const listed = await callApi(server.url, "GET", "/services", key);
  const names = (listed.body.services as { name: string }[]).map(({ name }) => name);
  expect(names.filter((name) => name.startsWith("Likes"))).toEqual(
    escaped.map(() => "Likes *** fast"),
  );
  for (const [index, text] of escaped.entries()) {
    upstream.next("add", { body: JSON.stringify({ error: `no such key: ${text}!` }) });
    expect(await place(server, key, `refused-${index}`)).toBe(502);
  }
  const ids: { id: string }[] = await binaryJson(folder, "admin", "order", "list");
  for (const { id } of ids)
    shown.push(await binary(folder, "admin", "order", "show", id, "--json"));
  shown.push(await binary(folder, "admin", "audit", "list", "--json"));
  await stop(server);
  const printed = shown.map(({ stdout, stderr }) => stdout + stderr).join("\n") + server.stderr();
  expect(printed).toContain("no such key: ***!");
  expect(parts.exec(printed)).toBeNull();
});
