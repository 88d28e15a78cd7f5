// The catalogue and its providers over the compiled binary, as an operator keeps them.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  BINARY,
  binary,
  binaryJson,
  type Ended,
  serving,
  stall,
  stop,
} from "../../support/binary.ts";
import { type Body, callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

const LISTED = { service: 1, name: "Likes", type: "Default", rate: "1.00", min: 10, max: 1000 };
const listOf = (...rates: number[]) =>
  rates.map((rate, at) => ({ ...LISTED, service: at + 1, name: `Likes ${at + 1}`, rate }));

async function withInput(folder: string, input: string, ...argv: string[]): Promise<Ended> {
  const child = Bun.spawn([BINARY, ...argv], {
    cwd: folder,
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const texts = [new Response(child.stdout).text(), new Response(child.stderr).text()] as const;
  const [stdout, stderr] = await Promise.all(texts);
  return { code: await child.exited, stdout, stderr };
}

/** On a pseudo-terminal, with what is typed there. */
async function onTerminal(folder: string, typed: string, ...argv: string[]): Promise<Ended> {
  const line = [BINARY, ...argv].join(" ");
  const child = Bun.spawn(["script", "-qec", line, "/dev/null"], {
    cwd: folder,
    env: { ...process.env, TERM: "dumb" },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  void child.stdin.write(typed);
  void child.stdin.flush();
  const stdout = await new Response(child.stdout).text();
  return { code: await child.exited, stdout, stderr: "" };
}

const admin = (folder: string, ...argv: string[]) => binaryJson(folder, "admin", ...argv);
const create = (folder: string, ...more: string[]) =>
  withInput(
    folder,
    PROVIDER_KEY,
    ...`admin provider create acme --url ${upstream.url} --key-stdin --json`.split(" "),
    ...more,
  );
const sync = (folder: string, ...more: string[]) =>
  admin(folder, "provider", "sync", "acme", ...more);
const servicesIn = (folder: string): Promise<Body[]> => admin(folder, "service", "list");
const pricesIn = async (folder: string) =>
  Object.fromEntries((await servicesIn(folder)).map(({ name, price }) => [name, price]));

/** A database without a server. */
async function freshShop(...more: string[]): Promise<string> {
  const folder = freshFolder();
  await stop(await serving(folder, "serve"));
  const made = await create(folder, ...more);
  expect([made.code, made.stderr]).toEqual([0, ""]);
  return folder;
}

test("one odd entry of a provider's list is left out, named and counted; one mostly odd changes nothing", async () => {
  const folder = await freshShop();
  upstream.services = [...listOf(1, 2, 3), { ...LISTED, service: 4, rate: "abc" }];
  const { plan, ...counts } = await sync(folder, "--markup", "10%");
  expect(counts).toMatchObject({ added: 3, unreadable: 1, markup: 10 });
  expect(plan.unreadable).toEqual([
    { entry: 4, service: "4", reason: expect.stringContaining("rate") },
  ]);
  const before = await servicesIn(folder);
  for (const services of [
    [],
    [
      { ...LISTED, rate: "abc" },
      { ...LISTED, service: 2, min: "x" },
    ],
  ]) {
    upstream.services = services;
    const { code, stderr } = await binary(folder, "admin", "provider", "sync", "acme");
    expect([code, stderr]).toEqual([1, expect.stringContaining("Nothing was changed")]);
    expect(await servicesIn(folder)).toEqual(before);
  }
});

test("the markup is stored: asked for once on a terminal, refused without one, shown in the dry run", async () => {
  const folder = await freshShop();
  upstream.services = listOf(1);
  const refused = await binary(folder, "admin", "provider", "sync", "acme");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("give --markup")]);
  const dry = await binary(folder, "admin", "provider", "sync", "acme", "--dry-run");
  expect(dry.stdout).toContain("(markup 0%, not stored)");
  expect(await servicesIn(folder)).toEqual([]);
  const asked = await onTerminal(folder, "25%\n", "admin", "provider", "sync", "acme");
  expect([asked.code, asked.stdout]).toEqual([0, expect.stringContaining("What is added to")]);
  expect(await pricesIn(folder)).toEqual({ "Likes 1": 1.25 });
  upstream.services = listOf(2);
  const again = await binary(folder, "admin", "provider", "sync", "acme");
  expect(again.stdout).toContain("(markup 25%, as stored)");
  expect(await pricesIn(folder)).toEqual({ "Likes 1": 2.5 });
  await admin(folder, "provider", "update", "acme", "--markup", "50");
  await sync(folder);
  expect(await pricesIn(folder)).toEqual({ "Likes 1": 3 });
});

test("--only, --private, ids made of names, and --json carries the plan", async () => {
  const folder = await freshShop("--markup", "0%");
  upstream.services = [
    { ...LISTED, name: "Instagram Likes [HQ]" },
    { ...LISTED, service: 2, name: "Instagram: likes, HQ!" },
    { ...LISTED, service: 3, name: "Été" },
  ];
  const first = await sync(folder, "--only", "1,2", "--private", "--readable-ids");
  expect(first).toMatchObject({ added: 2, markup: 0 });
  expect(first.plan.added).toMatchObject([
    { id: "instagram-likes-hq", providerService: "1", price: 1 },
    { id: "instagram-likes-hq-2", providerService: "2" },
  ]);
  const made = await servicesIn(folder);
  expect(Object.fromEntries(made.map(({ id, private: hidden }) => [id, hidden]))).toEqual({
    "instagram-likes-hq": true,
    "instagram-likes-hq-2": true,
  });
  const unknown = await binary(folder, "admin", "provider", "sync", "acme", "--only", "1,99");
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("no service 99")]);
  // What is not named stays, listed or not.
  upstream.services = [{ ...LISTED, service: 3, name: "Été", rate: "2" }];
  const third = await sync(folder, "--only", "3", "--readable-ids");
  expect(third).toMatchObject({ added: 1, deactivated: 0, updated: 0 });
  expect(third.plan.added).toMatchObject([{ id: "ete", price: 2 }]);
});

test("a scheduled sync is applied within its limits; beyond them it waits, and is applied by hand", async () => {
  const folder = freshFolder();
  const { server } = await stall(folder);
  upstream.services = listOf(1, 1, 1);
  const limits = ["--sync-max-price-change", "20%", "--sync-max-deactivated", "1"];
  const without = await create(folder, "--sync-every", "1h", ...limits);
  expect([without.code, without.stderr]).toEqual([1, expect.stringContaining("give --markup")]);
  expect((await create(folder, "--markup", "100%", "--sync-every", "1h", ...limits)).code).toBe(0);
  const database = new Database(`${folder}/data/reseller.db`);
  const stateOf = () =>
    database
      .query<{ synced_at: number | null; sync_held: string | null }, []>(
        "SELECT synced_at, sync_held FROM providers WHERE name = 'acme'",
      )
      .get()!;
  /** As if the interval had passed. */
  const syncAgain = async () => {
    database.run("UPDATE providers SET synced_at = NULL WHERE name = 'acme'");
    await until(() => stateOf().synced_at !== null);
  };
  const expectPrices = async (...expected: number[]) => {
    const prices = Object.values(await pricesIn(folder)) as number[];
    const upwards = (a: number, b: number) => a - b;
    expect(prices.toSorted(upwards)).toEqual([...expected, 1].toSorted(upwards));
  };
  // New services, and a rise of 20 %.
  await until(() => stateOf().synced_at !== null);
  await expectPrices(2, 2, 2);
  upstream.services = listOf(1.2, 1, 1);
  await syncAgain();
  await expectPrices(2.4, 2, 2);
  expect(stateOf().sync_held).toBeNull();
  // A rise by more: nothing is done, and the operator is told.
  upstream.services = listOf(1.2, 1.5, 1);
  await syncAgain();
  await expectPrices(2.4, 2, 2);
  const [{ attention }] = await admin(folder, "provider", "list");
  expect(attention.join()).toContain("1 price would change by more than 20 %");
  upstream.services = listOf(1.2);
  await syncAgain();
  expect(stateOf().sync_held).toContain("2 services would be deactivated, more than 1");
  upstream.services = { error: "maintenance" };
  await syncAgain();
  expect(stateOf().sync_held).toContain("its list cannot be read");
  await expectPrices(2.4, 2, 2);
  // By hand.
  upstream.services = listOf(1.2, 1.5, 1);
  expect(await sync(folder)).toMatchObject({ updated: 1 });
  await expectPrices(2.4, 3, 2);
  expect(stateOf().sync_held).toBeNull();
  const audit = await admin(folder, "audit", "list", "--action", "service.update");
  expect(audit.at(-1)).toMatchObject({ by: expect.stringContaining("scheduled sync") });
  const off = await admin(folder, "provider", "update", "acme", "--sync-every", "off");
  expect(off).toMatchObject({ syncEvery: null, markup: 100, syncMaxPriceChange: 20 });
  database.close();
  await stop(server);
  expect(server.stderr()).toContain("scheduled sync not applied");
});

test("a provider is tried when it is added, changed, deactivated and activated, and deleted when nothing refers to it", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder);
  const wrong = ["admin", "provider", "create", "acme", "--url", upstream.url, "--key-stdin"];
  const refused = await withInput(folder, "another-key", ...wrong);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("--no-check")]);
  expect(await admin(folder, "provider", "list")).toEqual([]);
  expect((await withInput(folder, "another-key", ...wrong, "--no-check")).code).toBe(0);
  await admin(folder, "provider", "delete", "acme");
  const made = await create(folder, "--markup", "0");
  expect(JSON.parse(made.stdout)).toMatchObject({ balance: 100.84292, currency: "USD" });
  upstream.services = listOf(1, 1);
  await sync(folder, "--readable-ids");
  await admin(folder, "provider", "update", "acme", "--rename", "apex");
  const place = () => {
    const order = { service: "likes-1", link: "x", quantity: 10 };
    return callApi(server.url, "POST", "/orders", key, order);
  };
  await admin(folder, "service", "deactivate", "likes-2");
  expect(await admin(folder, "provider", "deactivate", "apex")).toMatchObject({ services: 1 });
  expect((await place()).body.message).toBe("Service not found");
  const activate = await binary(folder, "admin", "service", "activate", "likes-1");
  expect([activate.code, activate.stderr]).toEqual([1, expect.stringContaining("is inactive")]);
  expect(await admin(folder, "provider", "activate", "apex")).toMatchObject({ services: 1 });
  expect((await place()).status).toBe(200);
  const states = (await servicesIn(folder)).map(({ id, active }) => [id, active]);
  expect(Object.fromEntries(states)).toMatchObject({ "likes-1": true, "likes-2": false });
  const remove = () => binary(folder, "admin", "provider", "delete", "apex");
  expect((await remove()).stderr).toContain("has orders");
  const none = await binary(folder, "admin", "provider", "update", "apex", "--rename", "none");
  expect(none.stderr).toContain("that name is reserved");
  await stop(server);
});

test("a price list is exported, edited and imported again; every wrong row is named at once", async () => {
  const folder = await freshShop("--markup", "30%");
  upstream.services = [
    { ...LISTED, name: '=HYPERLINK("x"), 100 %' },
    { ...LISTED, service: 2, name: "'-quoted", category: "A, B" },
  ];
  await sync(folder, "--readable-ids");
  await admin(folder, "provider", "deactivate", "acme");
  const exported = await binary(folder, "admin", "service", "export");
  const before = await servicesIn(folder);
  const again = ["admin", "service", "import", "-", "--update"];
  // Unchanged, whatever the form.
  expect(await withInput(folder, exported.stdout, ...again)).toMatchObject({
    code: 0,
    stdout: "0 added, 0 changed, 2 unchanged\n",
  });
  const json = await binary(folder, "admin", "service", "export", "--json");
  const unchanged = await withInput(folder, json.stdout, ...again, "--json");
  const plan = { added: [], updated: [] };
  expect(JSON.parse(unchanged.stdout)).toEqual({ created: 0, updated: 0, unchanged: 2, plan });
  expect(await servicesIn(folder)).toEqual(before);
  await admin(folder, "provider", "activate", "acme");
  // Only what is named changes.
  const id = String(before[0]!["id"]);
  const edit = `id,price\r\n${id},9.99\r\n`;
  const dry = await withInput(folder, edit, ...again, "--dry-run");
  expect(dry.stdout).toContain("dry run, nothing was changed: 0 added, 1 changed, 0 unchanged");
  const days = await withInput(folder, `id,refillDays\n${id},7\n`, ...again, "--dry-run");
  expect(days.stdout).toMatch(/^~ .*: refill days 30 → 7$/m);
  expect((await withInput(folder, edit, ...again)).code).toBe(0);
  expect((await servicesIn(folder)).find((each) => each["id"] === id)).toMatchObject({
    ...before[0],
    price: 9.99,
    active: true,
  });
  const wrong = `id,price,min,provider,providerService\n${id},x,1,,\nnew,1,1,,\n${id},1,1,none-such,7\n`;
  const refused = await withInput(folder, wrong, ...again);
  expect(refused.code).toBe(1);
  for (const line of [
    "stdin, line 2: price must be",
    "stdin, line 3: name is missing",
    "stdin, line 4: no provider has that name",
    "error: 3 rows are wrong: nothing was imported",
  ]) {
    expect(refused.stderr).toContain(line);
  }
  // To manual, and gone.
  const manual = await admin(folder, "service", "update", id, "--provider", "none");
  expect(manual).toMatchObject({ provider: null, providerService: null });
  await admin(folder, "service", "update", id, "--provider", "acme", "--provider-service", "77");
  const told = await binary(folder, ..."admin service update --provider none".split(" "), id);
  expect(told).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("the next sync of acme treats its service 77 as new"),
  });
  await admin(folder, "user", "create", "alice");
  await admin(folder, "service", "grant", id, "--user", "alice");
  const held = await binary(folder, "admin", "service", "delete", id);
  expect(held.stderr).toContain("revoke them first");
  await admin(folder, "service", "revoke", id, "--user", "alice");
  await admin(folder, "service", "delete", id);
  expect((await servicesIn(folder)).map((each) => each["id"])).not.toContain(id);
  const numbers = before.map(({ number }) => Number(number));
  const made = ["service", "create", "--name", "N", "--price", "1", "--min", "1", "--max", "2"];
  expect((await admin(folder, ...made)).number).toBeGreaterThan(Math.max(...numbers));
  expect((await binary(folder, "verify")).code).toBe(0);
});

test("an import that changes more than 20 services, or a price to 0, needs a confirmation; --yes is for scripts", async () => {
  const folder = await freshShop("--markup", "30%");
  const update = ["admin", "service", "import", "-", "--update"];
  const list = (price: number) =>
    [
      "id,name,price,min,max",
      ...Array.from({ length: 21 }, (_, n) => `s${n},S${n},${price},1,2`),
    ].join("\n");
  const prices = async () => new Set((await servicesIn(folder)).map(({ price }) => price));
  // What is new is not asked about: nobody has ordered it yet. What its row does not say is the default.
  expect((await withInput(folder, list(1), ...update)).code).toBe(0);
  const many = await withInput(folder, list(2), ...update);
  expect(many).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("change 21 services needs confirmation: more than 20"),
  });
  const free = await withInput(folder, "id,price\ns3,0\n", ...update);
  expect(free).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      "set the price of s3 to 0 needs confirmation: the service becomes free",
    ),
  });
  expect(await prices()).toEqual(new Set([1]));
  expect((await withInput(folder, list(2), ...update, "--yes")).code).toBe(0);
  expect(await prices()).toEqual(new Set([2]));
  expect((await withInput(folder, "id,price\ns3,0\n", ...update, "--yes")).code).toBe(0);
  expect(await prices()).toEqual(new Set([2, 0]));
  const kinds = "id,name,price,type\npack,P,9,package\n";
  expect((await withInput(folder, kinds, ...update)).code).toBe(0);
  expect((await servicesIn(folder)).find(({ id }) => id === "pack")).toMatchObject({
    per: "order",
    min: 1,
    max: 1,
    private: false,
    active: true,
    dripfeed: false,
  });
  const unfit = "id,name,price,min,max,per,dripfeed\nfed,F,1,1,2,order,yes\nfree,E,1,1,2,1,no\n";
  expect(await withInput(folder, unfit, ...update)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      "stdin, line 2: per and dripfeed do not fit the service's type",
    ),
  });
});

test("one provider is shown with all of its settings, as the list has it", async () => {
  const folder = await freshShop("--markup", "30%", "--sync-every", "6h");
  const shown = await binaryJson(folder, "admin", "provider", "show", "ACME");
  expect(await binaryJson(folder, "admin", "provider", "list")).toEqual([shown] as never);
  const { stdout } = await binary(folder, "admin", "provider", "show", "acme");
  expect(stdout).toMatch(/^markup +30%$/m);
  expect(stdout).toMatch(/^sync +every 6h, at most 20% and 10 deactivated$/m);
  expect((await binary(folder, "admin", "provider", "show", "nobody")).code).toBe(1);
});
