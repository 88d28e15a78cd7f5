// Ids: cuid2 by its library, made before the command runs and carried with it.

import { beforeEach, expect, setSystemTime, test } from "bun:test";
import { join } from "node:path";
import { sha3_512 as nobleSha3 } from "@noble/hashes/sha3";
import * as cuid2 from "@paralleldrive/cuid2";
import { nativeSha3 } from "../../../deploy/native-sha3.ts";
import { sha3_512 } from "../../../deploy/sha3.ts";
import { createId } from "../../../src/db/port/ids.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { createCommandIds } from "../../../src/operations/batch/execute.ts";
import type {
  CommandInput,
  CommandName,
  CommandRequest,
} from "../../../src/operations/batch/commands.ts";
import { planCatalogue, requireProvider } from "../../../src/operations/providers/providers.ts";
import {
  freshDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";

/** The library accepts 2 to 32 characters; ours have its default of 24, the first a letter. */
const FORM = /^[a-z][a-z0-9]{23}$/;
const terms = { name: "S", priceMicros: 1000, per: "1000", min: 1, max: 1000, private: false };
const upstream = ["1", "2", "3"].map((service) => ({
  service,
  name: `Upstream ${service}`,
  rate: "1.5",
  min: 1,
  max: 1000,
  category: "Likes",
  type: "Default",
  dripfeed: false,
  cancel: true,
  refill: false,
}));

let database: TestDatabase;
let commands: { name: CommandName; input: unknown; creates: number }[];

beforeEach(() => {
  database = freshDatabase();
  database.user("anna", "10");
  database.service({ id: "likes" });
  const { id: keyId } = database.key("anna", "full");
  const { id: replaced } = database.key("anna", "order");
  const url = "http://127.0.0.1:1/";
  database.run("createProvider", { name: "acme", protocol: "smm-api", url, key: "k" });
  const { plan, resellerAccount } = database.read((reader) => ({
    plan: planCatalogue(reader, requireProvider(reader, "acme"), upstream, { markup: "0" }),
    resellerAccount: findUser(reader, "anna")!.account,
  }));
  const order = { resellerAccount, keyId, service: "likes", link: "l", quantity: 10 };
  const none = { ...order, service: "none" };
  const entries = [
    { order },
    { refused: "body_malformed", details: null },
    { order: none },
    { order },
  ];
  const claim = (key: string) => ({ key, requestHash: "0".repeat(64) });
  const key = { type: "full", reach: "all", label: "", start: "rk_" };
  const hash = (digit: string) => digit.repeat(64);
  commands = [
    { name: "createUser", input: { username: "bert", name: "B", parent: null }, creates: 1 },
    { name: "createKey", input: { ...key, username: "anna", hash: hash("1") }, creates: 1 },
    {
      name: "rotateKey",
      input: { id: replaced, hash: hash("2"), start: "rk_", graceMilliseconds: 0 },
      creates: 1,
    },
    { name: "createService", input: { ...terms, id: null }, creates: 1 },
    {
      name: "importServices",
      input: { services: [null, "named", null].map((id) => ({ ...terms, id })) },
      creates: 2,
    },
    { name: "syncCatalogue", input: { name: "acme", upstream, markup: "0", plan }, creates: 3 },
    { name: "placeOrder", input: order, creates: 1 },
    { name: "placeOrderForResponse", input: order, creates: 1 },
    { name: "placeOrderOnce", input: { order, claim: claim("one") }, creates: 1 },
    { name: "placeOrderOnceForResponse", input: { order, claim: claim("two") }, creates: 1 },
    { name: "placeOrders", input: { keyId, entries }, creates: 2 },
    {
      name: "placeOrdersOnce",
      input: { keyId, entries, resellerAccount, claim: claim("many") },
      creates: 2,
    },
  ];
});

/** As the queue in front of the writer thread makes it. */
function requestOf(name: CommandName, input: unknown): CommandRequest {
  const signed = { actor: OPERATOR, ...(input as object) };
  return { name, input: signed, ids: createCommandIds(name, signed as CommandInput<typeof name>) };
}

/** The ids of everything except those that an operator chose. */
function storedIds(): string[] {
  const tables = ["users", "keys", "services", "orders"];
  const select = tables.map((table) => `SELECT id FROM ${table}`).join(" UNION ALL ");
  const ids = database.query<{ id: string }>(select).map(({ id }) => id);
  return ids.filter((id) => id !== "likes" && id !== "named");
}

const run = (requests: CommandRequest[]) => database.batch(requests, Date.now());

test("an id is given once, whether it was made ahead or when it was asked for", async () => {
  const ids: string[] = [];
  for (let round = 0; round < 50; round += 1) {
    for (let asked = 0; asked < round * 8; asked += 1) ids.push(createId());
    // What was missing is made meanwhile.
    await new Promise(setImmediate);
  }
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(FORM);
});

test("an id is a cuid2 of 24 characters by the library's own check, and none repeats", () => {
  const ids = Array.from({ length: 20_000 }, createId);
  expect(ids.filter((id) => !cuid2.isCuid(id))).toEqual([]);
  expect(ids.filter((id) => !FORM.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test("everything that commands of one batch create has an id of its own, a cuid2", () => {
  const replies = run(commands.map(({ name, input }) => requestOf(name, input)));
  expect(replies.filter((reply) => !("done" in reply))).toEqual([]);
  const ids = storedIds();
  const created = commands.reduce((sum, { creates }) => sum + creates, 0);
  // With the reseller and the two keys that were there before.
  expect(ids.length).toBe(created + 3);
  expect(ids.filter((id) => !cuid2.isCuid(id) || !FORM.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test("what a command creates has the ids that the command carries, in their order", () => {
  for (const { name, input, creates } of commands) {
    const before = new Set(storedIds());
    const request = requestOf(name, input);
    expect([name, run([request]).map((reply) => Object.keys(reply))]).toEqual([name, [["done"]]]);
    const created = storedIds().filter((id) => !before.has(id));
    expect([name, created.toSorted()]).toEqual([name, request.ids.slice(0, creates).toSorted()]);
  }
});

test("a command that creates nothing carries no ids", () => {
  expect(requestOf("creditUser", { username: "anna", amountMicros: 1, note: null }).ids).toEqual(
    [],
  );
  expect(requestOf("createService", { ...terms, id: "named" }).ids).toEqual([]);
});

test("a command without the ids that it needs fails and changes nothing", () => {
  for (const { name, input } of commands) {
    const before = [database.fingerprint(), storedIds()];
    const [reply] = run([{ ...requestOf(name, input), ids: [] }]);
    expect([name, reply]).toEqual([
      name,
      { failed: expect.stringContaining("came with 0 ids and needs more") as string },
    ]);
    expect([database.fingerprint(), storedIds()]).toEqual(before);
  }
});

test("the binary's ids are the library's, with the runtime's hash in place of the one that it imports", async () => {
  const root = join(import.meta.dir, "../../..");
  const plugin = nativeSha3();
  const { outputs } = await Bun.build({
    entrypoints: [join(root, "src/db/port/ids.ts")],
    target: "bun",
    plugins: [plugin],
    external: ["node:*"],
  });
  plugin.requireUse();
  const text = await outputs[0]!.text();
  expect(text).toContain("CryptoHasher");
  expect(text).not.toContain("keccakP");
  const folder = freshFolder();
  await Bun.write(join(folder, "ids.js"), text);
  const { createId: create } = (await import(join(folder, "ids.js"))) as {
    createId: typeof createId;
  };
  const made = Array.from({ length: 1000 }, () => create());
  expect(new Set(made).size).toBe(made.length);
  for (const id of made) expect(id).toMatch(FORM);
  const other = nativeSha3();
  await Bun.build({ entrypoints: [join(root, "src/domain/ledger/money.ts")], plugins: [other] });
  expect(() => other.requireUse()).toThrow("@noble/hashes/sha3");
});

test("the runtime's SHA3-512 is that of @noble/hashes, for texts of every length", () => {
  for (let length = 0; length < 300; length += 1) {
    const text = Array.from({ length }, () => String.fromCharCode(Math.random() * 0xd800)).join("");
    const hash = Buffer.from(nobleSha3(text)).toString("hex");
    expect([...sha3_512(text).values()]).toEqual([BigInt(`0x${hash}`)]);
  }
});

test("from the same time, counter, salt and fingerprint the binary makes the id that the library makes", async () => {
  const library = require.resolve("@paralleldrive/cuid2");
  const { outputs } = await Bun.build({
    entrypoints: [library],
    target: "bun",
    plugins: [nativeSha3()],
  });
  const file = join(freshFolder(), "cuid2.js");
  await Bun.write(file, await outputs[0]!.text());
  const binary = (await import(file)) as typeof cuid2;
  for (let time = 0; time < 1000; time += 1) {
    setSystemTime(1e12 * Math.random());
    const salt = Array.from({ length: 64 }, Math.random);
    const idOf = ({ init }: typeof cuid2) => {
      let next = 0;
      const random = () => salt[next++]!;
      return init({ random, counter: () => time, fingerprint: "f".repeat(time % 33) })();
    };
    expect(idOf(binary)).toBe(idOf(cuid2));
  }
  setSystemTime();
});
