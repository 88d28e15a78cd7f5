// The pages Providers and Provider: made with a key, tested, changed, and synced exactly as shown.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listServices } from "../../../src/db/catalogue/services.ts";
import { findProvider } from "../../../src/db/providers/providers.ts";
import { services } from "../../../src/db/tables/catalogue.ts";
import { openPanel, shownNote, type Reply, type TestPanel } from "../../support/worlds/panel.ts";
import { dumpOf } from "../../support/databases/test-database.ts";
import { json, PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";

let panel: TestPanel;
let upstream: Upstream;

const entry = (service: number, name: string, rate: string) => ({
  service, name, rate, type: "Default", min: "10", max: "1000", category: "All",
}); // prettier-ignore

beforeAll(async () => {
  upstream = await startUpstream();
  panel = await openPanel({ role: "operator" });
});
afterAll(async () => {
  await panel.stop();
  await upstream.stop();
});

/** What the form of the page of confirmation carries, and nothing beside it. */
const hidden = ({ text }: Reply): Record<string, string> => {
  const form = /<form method="post" action="\/providers\/acme\/sync"[^]*?<\/form>/.exec(text)![0];
  const inputs = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return Object.fromEntries([...inputs].map(([, name, value]) => [name!, value!]));
};
const names = () => panel.read((reader) => listServices(reader)).map(({ name }) => name);
/** What the last action said: it comes with the next page, in a cookie. */
const noteOf = (reply: Reply) => shownNote(reply).replace("good ", "");

test("a provider is created with its key, which is tested and never shown", async () => {
  const made = await panel.post("/providers", {
    name: "acme",
    url: upstream.url,
    key: PROVIDER_KEY,
  });
  expect([made.status, made.headers.get("location")]).toEqual([303, "/providers/acme"]);
  expect(noteOf(made)).toContain("acme was added. It answers: our balance there is");
  const [list, page] = [await panel.get("/providers"), await panel.get("/providers/acme")];
  for (const { text } of [list, page]) {
    expect(text).not.toContain(PROVIDER_KEY);
    expect(text).toContain(upstream.url);
  }
  expect(list.text).toMatch(
    /data-label="Balance"[^>]*><span class="money"[^>]*>[\d.]+<\/span> USD/,
  );
  const wrong = await panel.post("/providers", {
    name: "acme",
    url: upstream.url,
    key: "secret-2",
  });
  expect(wrong.status).toBe(422);
  expect(wrong.text).toContain("A provider has that name already");
  expect(wrong.text).not.toContain("secret-2");
  expect((await panel.post("/providers", { name: "x", url: "ftp://x", key: "k" })).text).toContain(
    "Address of its API must be an http or https address",
  );
  expect((await panel.post("/providers", { name: "x", url: upstream.url })).text).toContain(
    "Our key at the provider is required",
  );
});

test("a provider whose key is refused is not added, and the page says so, unless the test is skipped", async () => {
  upstream.always("balance", json({ error: "Invalid API key" }));
  const fields = { name: "wrong", url: upstream.url, key: "wrong-key-123" };
  const refused = await panel.post("/providers", fields);
  expect([refused.status, refused.text]).toEqual([
    422,
    expect.stringContaining("It was not added: check the address and the key"),
  ]);
  expect(refused.text).toContain("Invalid API key");
  expect(refused.text).not.toContain("wrong-key-123");
  expect(panel.read((reader) => findProvider(reader, "wrong"))).toBeUndefined();
  const calls = upstream.received.length;
  const added = await panel.post("/providers", { ...fields, untested: "yes" });
  expect([added.status, noteOf(added)]).toEqual([303, "wrong was added, and not tested."]);
  expect(upstream.received.length).toBe(calls);
  upstream.always("balance", null);
  panel.run("deleteProvider", { name: "wrong" });
});

test("a provider that is out of funds shows since when, and its balance", async () => {
  panel.query("UPDATE providers SET out_of_funds_at = ? WHERE name = 'acme'", Date.now());
  for (const path of ["/providers", "/providers/acme"]) {
    const { text } = await panel.get(path);
    expect(text).toMatch(/out of funds<\/span>/);
    expect(text).toMatch(/[\d.]+<\/span> USD <time[^>]*>[^<]*<\/time> <span class="badge/);
  }
  panel.query("UPDATE providers SET out_of_funds_at = NULL");
});

test("a pause for a time says when it ends, and a wrong time is refused beside its field", async () => {
  const wrong = await panel.post("/providers/acme/pause", { for: "31d" });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining("1m to 30d")]);
  const paused = await panel.post("/providers/acme/pause", { for: "2h" });
  expect(noteOf(paused)).toBe("acme is paused for 2h: it gets no orders.");
  expect((await panel.get("/providers/acme")).text).toMatch(
    /it gets no orders until <time[^>]*>2\d{3}-\d\d-\d\d/,
  );
  await panel.post("/providers/acme/resume");
});

test("a form makes orders wait for funds, within limits; the page shows what waits", async () => {
  for (const [fields, wrong] of [
    [{ action: "hold", for: "59m", limit: "10" }, "1h to 30d"],
    [{ action: "hold", for: "2h", limit: "0" }, "positive number"],
    [{ action: "keep", for: "2h", limit: "10" }, ""],
  ] as const) {
    const refused = await panel.post("/providers/acme/hold", fields);
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(wrong)]);
  }
  await panel.post("/providers/acme/hold", { action: "hold", for: "2h", limit: "12.50" });
  const columns = "on_no_funds, hold_ms, hold_limit_micros";
  const [row] = panel.query(`SELECT ${columns} FROM providers WHERE name = 'acme'`);
  expect(Object.values(row!).map(String)).toEqual(["hold", "7200000", "12500000"]);
  const outOfFunds = "paused_at = 1, paused_by = 'funds', out_of_funds_at = 1";
  panel.query(`UPDATE providers SET ${outOfFunds} WHERE name = 'acme'`);
  const { text } = await panel.get("/providers/acme");
  expect(text).toContain("It lacks funds:");
  expect(text).toContain('<a href="#state">Resume it</a>');
  expect(text).toContain('<section class="card" id="state">');
  expect((await panel.get("/")).text).toContain(
    '<a href="/providers/acme">Top up there, then resume</a>',
  );
  await panel.post("/providers/acme/resume");
  panel.query("UPDATE providers SET out_of_funds_at = NULL");
  expect((await panel.get("/providers/acme")).text).not.toContain("It lacks funds:");
  await panel.post("/providers/acme/hold", { action: "refund", for: "24h", limit: "500" });
});

test("a provider is paused and resumed by buttons, and both its pages say so", async () => {
  const paused = await panel.post("/providers/acme/pause");
  expect([paused.status, noteOf(paused)]).toEqual([303, "acme is paused: it gets no orders."]);
  for (const path of ["/providers", "/providers/acme"]) {
    expect((await panel.get(path)).text).toContain('badge bad">paused<');
  }
  const page = await panel.get("/providers/acme");
  expect(page.text).toContain("An operator paused it");
  expect(page.text).toContain('action="/providers/acme/resume"');
  expect((await panel.get("/")).text).toContain("Submissions to acme are paused by hand");
  const resumed = await panel.post("/providers/acme/resume");
  expect(noteOf(resumed)).toBe("acme gets orders again.");
  expect((await panel.get("/providers/acme")).text).toContain('action="/providers/acme/pause"');
});

test("a provider's address, key and name are changed; a stored key is never sent to another address", async () => {
  const url = `${upstream.url}/v2`;
  const sent = upstream.received.length;
  const elsewhere = [url, upstream.url.replace("127.0.0.1", "localhost"), "https://evil.example/"];
  for (const other of elsewhere) {
    const refused = await panel.post("/providers/acme", { url: other, key: "", name: "apex" });
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining("A new address needs the key again"),
    ]);
  }
  expect(panel.read((reader) => findProvider(reader, "acme"))!.url).toBe(upstream.url);
  expect(upstream.received.length).toBe(sent);
  const renamed = await panel.post("/providers/acme", { url: upstream.url, key: "", name: "apex" });
  expect(renamed.headers.get("location")).toBe("/providers/apex/settings");
  expect(panel.read((reader) => findProvider(reader, "apex"))!.key).toBe(PROVIDER_KEY);
  await panel.post("/providers/apex", { url, key: PROVIDER_KEY });
  expect(panel.read((reader) => findProvider(reader, "apex"))).toMatchObject({
    url,
    key: PROVIDER_KEY,
  });
  await panel.post("/providers/apex", { key: "another" });
  const failed = await panel.post("/providers/apex/test");
  expect(failed.status).toBe(422);
  expect(failed.text).toContain("The test failed");
  await panel.post("/providers/apex", { key: PROVIDER_KEY, name: "acme", url: upstream.url });
  expect((await panel.post("/providers/acme/test")).status).toBe(303);
  expect((await panel.get("/providers/nobody")).status).toBe(404);
});

describe("a sync", () => {
  const sync = (fields: Record<string, string> = {}) =>
    panel.post("/providers/acme/sync", { markup: "50", ...fields });

  test("is shown first: added, changed, no longer listed, below cost; then applied as it was shown", async () => {
    upstream.services = [
      entry(1, "Likes", "1"),
      entry(2, "<i>Views</i>", "2"),
      entry(3, "Gone", "1"),
    ];
    const shown = await sync();
    expect(shown.text).toContain("Sync acme: change 3 services");
    expect(shown.text).toContain("&lt;i>Views&lt;/i>");
    expect(names()).toEqual([]);
    const done = await sync(hidden(shown));
    expect([done.status, noteOf(done)]).toEqual([303, "Synced: 3 added."]);
    expect(names()).toEqual(["<i>Views</i>", "Gone", "Likes"]);
    const [likes] = panel
      .read((reader) => listServices(reader))
      .filter(({ name }) => name === "Likes");
    expect(likes!.priceMicros).toBe(1_500_000);
    panel.run("updateService", { id: likes!.id, changes: { priceMicros: 1 } });
    upstream.services = [
      entry(1, "Likes", "1"),
      entry(2, "<i>Views</i>", "3"),
      { ...entry(4, "Odd", "1"), type: "Subscriptions" },
    ];
    const second = await sync();
    expect(second.text).toContain("Sync acme: change 2 services");
    expect(second.text).toMatch(
      /<del><bdi class="typed[^"]*">3<\/bdi><\/del> <ins><bdi class="typed[^"]*">4\.5<\/bdi><\/ins>/,
    );
    for (const title of ["Changed", "No longer listed: deactivated", "Below cost", "Left out"]) {
      expect(second.text).toContain(title);
    }
    expect((await sync(hidden(second))).status).toBe(303);
  });

  test("is refused when the list or the catalogue is another one than was shown", async () => {
    upstream.services = [entry(1, "Likes", "1"), entry(2, "<i>Views</i>", "5")];
    const shown = await sync();
    const before = dumpOf(panel, services);
    upstream.services = [entry(1, "Likes", "1"), entry(2, "<i>Views</i>", "6")];
    const refused = await sync(hidden(shown));
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("The catalogue changed at the same time: nothing was changed");
    expect(dumpOf(panel, services)).toBe(before);
    const again = await sync();
    const [views] = panel
      .read((reader) => listServices(reader))
      .filter(({ name }) => name.includes("Views"));
    panel.run("updateService", { id: views!.id, changes: { name: "Mine" } });
    expect((await sync(hidden(again))).status).toBe(422);
    expect(
      panel
        .read((reader) => listServices(reader))
        .some(({ priceMicros }) => priceMicros === 9_000_000),
    ).toBe(false);
  });

  test("shows the provider's error, with its key masked, and changes nothing", async () => {
    const before = dumpOf(panel, services);
    upstream.next("services", json({ error: `bad key ${PROVIDER_KEY}` }));
    const failed = await sync();
    expect(failed.status).toBe(422);
    expect(failed.text).toContain("list cannot be read");
    expect(failed.text).not.toContain(PROVIDER_KEY);
    upstream.next("services", json([]));
    expect((await sync()).text).toContain("list cannot be used: the provider's list is empty");
    expect((await sync({ markup: "much" })).text).toContain("markup must be a percentage");
    expect(dumpOf(panel, services)).toBe(before);
  });
});
