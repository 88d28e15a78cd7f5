// Money and mistakes on the compiled binary, as an operator at a terminal and as a script.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BINARY, binary, binaryJson, serving, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

let folder: string;
let upstream: Upstream;
let key: string;

/** Where commands that run in `folder` have their database. */
const data = () => join(folder, "data");

const admin = (...argv: string[]) => binary(folder, "admin", ...argv);
const adminJson = (...argv: string[]) => binaryJson(folder, "admin", ...argv);

beforeAll(async () => {
  folder = freshFolder();
  upstream = await startUpstream();
  await stop(await serving(folder, "serve"));
  await adminJson("user", "create", "alice");
  await adminJson("user", "credit", "alice", "1000");
  key = (await adminJson("key", "create", "--user", "alice", "--type", "full", "--reach", "all"))
    .key as string;
  const created = Bun.spawn(
    [
      BINARY,
      "admin",
      "provider",
      "create",
      "acme",
      "--url",
      upstream.url,
      "--key-stdin",
      "--data",
      data(),
    ],
    { stdin: Buffer.from(PROVIDER_KEY), stdout: "ignore", stderr: "inherit" },
  );
  expect(await created.exited).toBe(0);
  await adminJson(
    ..."service create --id likes --name Likes --price 2 --min 1 --max 10000".split(" "),
    ..."--provider acme --provider-service 7".split(" "),
  );
});
afterAll(() => upstream.stop());

/** Runs a command on a terminal and types `answer` once it asks. Returns what the terminal showed. */
async function onTerminal(answer: string, ...argv: string[]) {
  let shown = "";
  let isAnswered = false;
  const child = Bun.spawn([BINARY, "admin", ...argv, "--data", data()], {
    terminal: {
      cols: 200,
      data(terminal, data) {
        shown += new TextDecoder().decode(data);
        if (isAnswered || !shown.includes("[y/N]")) return;
        isAnswered = true;
        terminal.write(answer);
      },
    },
  });
  const code = await child.exited;
  child.terminal?.close();
  return { code, shown };
}

const balance = async () => (await adminJson("user", "show", "alice")).balance as number;

describe("a large credit", () => {
  test("without a terminal needs --yes: exit 2, and nothing moves", async () => {
    const before = await balance();
    const { code, stderr } = await admin("user", "credit", "alice", "50000000");
    expect([code, stderr]).toEqual([2, expect.stringContaining("repeat with --yes to confirm")]);
    expect(await balance()).toBe(before);
  });

  test.each([
    ["n\n", 1, 0],
    ["\n", 1, 0],
    ["\u0004", 1, 0],
    ["y\n", 0, 2_000_000],
    ["YES\n", 0, 2_000_000],
  ] as const)("on a terminal is asked for; %j ends with %d", async (answer, code, added) => {
    const before = await balance();
    const ran = await onTerminal(answer, "user", "credit", "alice", "2000000");
    expect(ran.shown).toContain("credit alice 2000000 USD: more than 1000 USD");
    expect(ran.code).toBe(code);
    expect(await balance()).toBe(before + added);
  });

  test("the limit is a setting", async () => {
    const child = Bun.spawn([BINARY, "admin", "user", "credit", "alice", "11", "--data", data()], {
      env: { ...process.env, RESELLER_CONFIRM_ABOVE: "10" },
      stdout: "pipe",
      stderr: "pipe",
    });
    expect(await child.exited).toBe(2);
    const { code, stderr } = await admin("user", "credit", "alice", "10000000000", "--yes");
    expect([code, stderr]).toEqual([2, expect.stringContaining("must be at most 1000000000")]);
  });
});

test("a credit with a reference is made once, and the user sees only its public note", async () => {
  const credit = () =>
    adminJson(
      ..."user credit alice 5 --reference inv-1 --note complained --public-note thanks".split(" "),
    );
  const first = await credit();
  const second = await credit();
  expect([first.repeated, second.repeated, second.balance]).toEqual([false, true, first.balance]);
  const server = await serving(folder, "serve");
  try {
    const headers = { "x-api-key": key };
    const transactions = await (
      await fetch(`${server.url}/api/v1/transactions`, { headers })
    ).text();
    expect(transactions).toContain("thanks");
    expect(transactions).not.toContain("complained");
  } finally {
    await stop(server);
  }
  const { stdout } = await admin(
    "transaction",
    "list",
    "--user",
    "alice",
    "--since",
    "1h",
    "--csv",
  );
  expect(stdout).toContain(",inv-1,complained,thanks,");
});

test("a discount is what the next request shows and the next order costs", async () => {
  const server = await serving(folder, "serve");
  try {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    await adminJson("user", "discount", "alice", "12.5%");
    const listed = await (await fetch(`${server.url}/api/v1/services`, { headers })).json();
    expect(listed).toMatchObject({ services: [{ id: "likes", price: 1.75 }] });
    const body = JSON.stringify({ service: "likes", link: "x", quantity: 1000 });
    const placed = await fetch(`${server.url}/api/v1/orders`, { method: "POST", headers, body });
    expect(await placed.json()).toMatchObject({ order: { charge: 1.75 } });
  } finally {
    await stop(server);
    await adminJson("user", "discount", "alice", "0");
  }
  expect((await binary(folder, "verify")).code).toBe(0);
});

test("an unknown order is settled under a number that the provider knows, corrected, and its late PARTIAL accepted", async () => {
  const server = await serving(folder, "serve", "--poll-interval", "50ms");
  try {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    upstream.next("add", "reset");
    const body = JSON.stringify({ service: "likes", link: "late", quantity: 1000 });
    const placed = await fetch(`${server.url}/api/v1/orders`, { method: "POST", headers, body });
    const { order } = (await placed.json()) as { order: { orderId: number; status: string } };
    expect(order.status).toBe("PENDING");
    const id = String(order.orderId);
    const real = [...upstream.book].find(([, { form }]) => form["link"] === "late")![0];
    const refused = await admin("order", "settle", id, "--placed", "999999");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("does not recognize 999999"),
    ]);
    await adminJson("order", "settle", id, "--placed", "999999", "--no-check");
    await until(async () =>
      (await admin("provider", "list")).stdout.includes(`(999999 of order ${id})`),
    );
    expect((await binary(folder, "doctor")).stdout).toContain("unknown numbers");
    expect(await adminJson("order", "settle", id, "--placed", real)).toMatchObject({
      providerOrder: real,
      status: "PROCESSING",
    });
    upstream.book.get(real)!.status = { status: "Completed", remains: "0" };
    await until(async () => (await adminJson("order", "show", id)).status === "COMPLETED");
    upstream.book.get(real)!.status = { status: "Partial", remains: "250" };
    await until(async () => (await adminJson("order", "list", "--late")).length > 0);
    expect(await adminJson("order", "late", id, "--accept")).toMatchObject({
      status: "PARTIAL",
      remains: 250,
      refunded: 0.5,
    });
    expect(await adminJson("order", "list", "--late")).toEqual([]);
  } finally {
    await stop(server);
  }
  expect((await binary(folder, "verify")).code).toBe(0);
});

test("user delete suggests the existing commands, and grants are exported and imported as CSV", async () => {
  const deleted = await admin("user", "delete", "alice");
  expect([deleted.code, deleted.stderr]).toEqual([2, expect.stringContaining("user deactivate")]);
  expect(deleted.stderr).not.toContain("debit");
  await adminJson("service", "grant", "likes", "--user", "alice", "--price", "1.5");
  const { stdout } = await admin("grant", "list", "--csv");
  const child = Bun.spawn([BINARY, "admin", "grant", "import", "-", "--json", "--data", data()], {
    stdin: Buffer.from(stdout.replace("1.5", "1.4")),
    stdout: "pipe",
  });
  expect(JSON.parse(await child.stdout.text())).toEqual({ imported: 1, unchanged: 0 });
  expect(await adminJson("service", "show", "likes")).toMatchObject({
    grants: [{ username: "alice", price: 1.4 }],
  });
  expect(await adminJson("service", "list", "--user", "alice")).toMatchObject([
    { id: "likes", price: 1.4, standardPrice: 2, own: true },
  ]);
});
