// What the panel changes of providers, services, keys and users: the operations of the command line, each confirmed
// where it cannot be undone.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listKeys } from "../../../src/db/users/keys.ts";
import { findProvider } from "../../../src/db/providers/providers.ts";
import { findService, listServices } from "../../../src/db/catalogue/services.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { openPanel, type Reply, type TestPanel } from "../../support/worlds/panel.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";

let panel: TestPanel;
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
  panel = await openPanel();
  const { url } = upstream;
  panel.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  panel.service({ id: "likes", name: "Likes", provider: { name: "acme", service: "7" } });
  panel.service({ id: "views", name: "Views" });
  panel.user("erika", "10");
});
afterAll(async () => {
  await panel.stop();
  await upstream.stop();
});

/** What the page of confirmation carries on. */
function hidden({ text }: Reply): Record<string, string> {
  const form = /<h1>[^]*?<form method="post"[^]*?<\/form>/.exec(text)![0];
  const inputs = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  const plain = (text: string) => text.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  return Object.fromEntries([...inputs].map(([, name, value]) => [name!, plain(value!)]));
}

/** Posts the form, confirms what is shown, and returns that page and the last reply. */
async function confirm(path: string, fields: Record<string, string> = {}) {
  const shown = await panel.post(path, fields);
  expect([path, shown.status]).toEqual([path, 200]);
  const done = await panel.post(path, hidden(shown));
  return { shown, done };
}

const provider = () => panel.read((reader) => findProvider(reader, "acme"))!;
const service = (id: string) => panel.read((reader) => findService(reader, id));

test("the markup and the limits of scheduled syncs are set, and why one was held is shown", async () => {
  const limits = { "price-change": "15", deactivated: "3", new: "private", readable: "yes" };
  const unpriced = await panel.post("/providers/acme/syncs", { ...limits, every: "6h" });
  expect(unpriced.status).toBe(422);
  expect(unpriced.text).toContain("A scheduled sync needs a stored markup, and none is stored");
  const odd = await panel.post("/providers/acme/syncs", { ...limits, markup: "x", every: "5s" });
  expect(odd.text).toContain("Every must be a duration of at least 1m");
  expect(odd.text).toContain("Markup, in percent must be a percentage");
  const done = await panel.post("/providers/acme/syncs", { ...limits, markup: "30", every: "6h" });
  expect(done.status).toBe(303);
  expect(provider()).toMatchObject({
    markup: "30",
    syncEvery: 6 * 3_600_000,
    syncPriceLimit: "15",
    syncDeactivationLimit: 3,
    syncNew: "private",
    readableIds: true,
  });
  const { providerId } = provider();
  panel.run("holdSync", { providerId, held: "<b>12 services</b> would be deactivated" });
  for (const path of ["/providers/acme", "/"]) {
    const { text } = await panel.get(path);
    expect([path, text.includes("&lt;b>12 services&lt;/b>")]).toEqual([path, true]);
  }
  const lastSync = async () =>
    /<dt>Last sync \(UTC\)<\/dt><dd>(.*?)<\/dd>/.exec(
      (await panel.get("/providers/acme")).text,
    )![1];
  expect(await lastSync()).toMatch(/<time.*not applied/);
  expect((await panel.post("/providers/acme/syncs", { ...limits, every: "" })).status).toBe(303);
  expect(await lastSync()).not.toContain("not applied");
});

test("a sync uses the stored markup, can be limited to some services, and derives ids from names", async () => {
  const entry = { type: "Default", rate: "1", min: 10, max: 1000 };
  upstream.services = [
    { ...entry, service: 7, name: "Likes" },
    { ...entry, service: 8, name: "Story Views" },
    { ...entry, service: 9, name: "Shares" },
  ];
  const { shown, done } = await confirm("/providers/acme/sync", { markup: "30", only: "8" });
  expect(shown.text).toContain("With a markup of 30 %");
  expect(done.status).toBe(303);
  expect(service("story-views")).toMatchObject({ priceMicros: 1_300_000, private: true });
  expect(panel.read((reader) => listServices(reader)).map(({ name }) => name)).not.toContain(
    "Shares",
  );
  expect((await panel.post("/providers/acme/sync", { markup: "much" })).status).toBe(422);
  panel.query("UPDATE providers SET sync_every = NULL, markup = NULL");
  const unpriced = await panel.post("/providers/acme/sync", {});
  expect([unpriced.status, unpriced.text]).toEqual([
    422,
    expect.stringContaining("Markup in percent is required"),
  ]);
});

test("a provider is deactivated with its services, activated again, and deleted when nothing refers to it", async () => {
  expect((await confirm("/providers/acme/deactivate")).done.status).toBe(303);
  expect([provider().active, service("likes")!.active]).toEqual([false, false]);
  const refused = await panel.post("/services/likes/activate");
  expect(refused.text).toContain("The provider is inactive");
  expect((await panel.post("/providers/acme/activate")).status).toBe(303);
  expect([provider().active, service("likes")!.active]).toEqual([true, true]);
  const held = await confirm("/providers/acme/delete");
  expect(held.done.text).toContain("delivers 2 services");
  // By hand, and gone.
  const terms = { name: "Likes", price: "2", per: "1000", min: "1", max: "9", kind: "public" };
  expect((await panel.post("/services/likes", terms)).status).toBe(303);
  expect(service("likes")).toMatchObject({ providerId: null, providerService: null });
  for (const id of ["likes", "story-views"]) {
    expect((await confirm(`/services/${id}/delete`)).done.status).toBe(303);
    expect(service(id)).toBeUndefined();
  }
  expect((await confirm("/providers/acme/delete")).done.status).toBe(303);
  expect(panel.read((reader) => findProvider(reader, "acme"))).toBeUndefined();
});

test("an imported list changes services after a preview, and every invalid row is named", async () => {
  const wrong = "id,price\nviews,x\nnew,1\n";
  const refused = await panel.post("/import-services", { csv: wrong, update: "yes" });
  expect(refused.status).toBe(422);
  for (const text of ["line 2", "price must be", "line 3", "name is missing"]) {
    expect(refused.text).toContain(text);
  }
  const csv = "id,price\nviews,9.5\n";
  const shown = await panel.post("/import-services", { csv, update: "yes" });
  expect(shown.text).toContain("Add 0 and change 1 service");
  expect(service("views")!.priceMicros).toBe(2_320_000);
  expect((await panel.post("/import-services", hidden(shown))).status).toBe(303);
  expect(service("views")!.priceMicros).toBe(9_500_000);
});

test("a key gets another label, expiry and networks, and all of a reseller are deactivated", async () => {
  const { id } = panel.key("erika", "order");
  panel.key("erika", "full");
  const path = `/users/erika/keys/${id}/update`;
  const fields = { label: "bot", days: "3", allow: "10.0.0.0/8" };
  expect((await panel.post(path, fields)).status).toBe(303);
  const keys = () => panel.read((reader) => listKeys(reader, { account: erika().account }));
  const changed = () => keys().find((key) => key.id === id);
  expect(changed()).toMatchObject({ label: "bot", allow: "10.0.0.0/8" });
  expect(changed()!.expiresAt).toBeGreaterThan(Date.now());
  const both = await panel.post(path, { ...fields, forever: "yes" });
  expect(both.status).toBe(422);
  await panel.post(path, { label: "", allow: "", forever: "yes" });
  expect(changed()).toMatchObject({ label: "", allow: "", expiresAt: null });
  expect((await confirm("/users/erika/keys/deactivate-all")).done.status).toBe(303);
  expect(keys().map(({ active }) => active)).toEqual([false, false]);
});

const erika = () => panel.read((reader) => findUser(reader, "erika"))!;

test("a user's personal data is erased once it is inactive, with a reason", async () => {
  const { account } = erika();
  expect((await panel.get("/users/erika")).text).not.toContain("Erase personal data");
  panel.run("setUserActive", { username: "erika", active: false });
  expect((await panel.get("/users/erika")).text).toContain("Erase personal data");
  expect((await panel.post("/users/erika/erase", {})).text).toContain("Why is required");
  const { done } = await confirm("/users/erika/erase", { reason: "asked for" });
  expect(done.status).toBe(303);
  const left = panel.query<{ username: string; name: string }>(
    `SELECT username, name FROM users WHERE account = ${account}`,
  );
  expect(left).toEqual([{ username: expect.stringMatching(/^erased-/), name: "erased" }]);
  const page = await panel.get(done.headers.get("location")!);
  expect(page.text).toContain("The personal data of this user was erased");
});
