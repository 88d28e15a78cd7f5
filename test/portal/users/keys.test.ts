// Keys in the portal: members create order keys; only owners have keys that add credit, and only where the operator
// allows them.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { MEMBER_KEYS_LIMIT } from "../../../src/domain/members/portal.ts";
import { PROOF_MS } from "../../../src/domain/sign-ins/sign-ins.ts";
import { hashKey, KEY_TYPES, type KeyType } from "../../../src/domain/users/keys.ts";
import { hiddenFields, PASSWORD } from "../../support/worlds/panel.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
let [developer, owner, other] = ["", "", ""];

beforeAll(async () => {
  portal = await openPortal({ prefix: "/portal" });
  for (const name of ["alice", "bob"]) portal.user(name, "100");
  developer = portal.session(portal.member("alice", "dev@alice.example", "developer"));
  owner = portal.session(portal.member("alice", "owner@alice.example"));
  other = portal.session(portal.member("bob", "owner@bob.example"));
});
afterAll(() => portal.stop());

const keysOf = () =>
  portal.query(
    `SELECT keys.*, users.username AS username FROM keys
      JOIN users ON users.account = coalesce(keys.test_of, keys.reseller_account)
      ORDER BY (SELECT min(seq) FROM audit WHERE subject = keys.id)`,
  );
const last = () => keysOf().at(-1)!;
const shownKey = (text: string) => /<pre id="key">(rk_[^<]+)<\/pre>/.exec(text)?.[1] ?? null;
/** Confirms what a page asks, with the password. */
const confirm = (path: string, cookie: string, text: string) =>
  portal.post(path, cookie, { ...hiddenFields(text), proof: PASSWORD });
const allow = (keys: KeyType) => portal.run("setPortal", { username: "alice", changes: { keys } });

test("a new key is an order key of the reseller, shown once, with its label, networks and expiry", async () => {
  const fields = { label: "Shop", days: "30", allow: "203.0.113.7, 10.0.0.0/8" };
  const { status, text } = await portal.post("/api/keys", developer, fields);
  expect(status).toBe(200);
  const key = shownKey(text)!;
  expect(last()).toMatchObject({
    username: "alice",
    type: "order",
    label: "Shop",
    hash: hashKey(key),
    allow: "203.0.113.7/32,10.0.0.0/8",
    expires_at: Number(last()["created_at"]) + 30 * 86_400_000,
  });
  const { text: page } = await portal.get("/api", developer);
  expect(page).toContain(`<code>${key.slice(0, 8)}…</code>`);
  expect(page).not.toContain(key);
  for (const shown of ["Shop", "203.0.113.7/32, 10.0.0.0/8", "dev", ">Active<"]) {
    expect(page).toContain(shown);
  }
  expect((await portal.get("/api", other)).text).not.toContain("Shop");
});

test("the page leads to the documentation, and shows a first request to this server", async () => {
  const { text } = await portal.get("/api", developer);
  expect(text).toContain(`href="${portal.url}/docs"`);
  expect(text).toContain(`curl ${portal.url}/api/v1/balance -H`);
});

test("wrong fields are refused beside them, and no key is made", async () => {
  const before = keysOf().length;
  const { status, text } = await portal.post("/api/keys", developer, {
    days: "0",
    allow: "10.0.0.1/8",
    "recharge-limit": "1",
  });
  expect(status).toBe(422);
  for (const field of ["label", "days", "allow"]) {
    expect(text).toContain(`id="api-keys-${field}-error"`);
  }
  expect(text).toContain('value="10.0.0.1/8"');
  const limited = await portal.post("/api/keys", developer, { label: "x", "recharge-limit": "1" });
  expect(limited.text).toContain("Only for keys that add credit");
  expect(keysOf().length).toBe(before);
});

test("a key that adds credit needs an owner, the operator's permission and a password, and reaches only child users", async () => {
  const fields = { label: "Strong" };
  for (const allowed of KEY_TYPES) {
    allow(allowed);
    for (const type of KEY_TYPES.filter((each) => each !== "order")) {
      for (const [role, cookie] of [
        ["developer", developer],
        ["owner", owner],
      ] as const) {
        const before = keysOf().length;
        // The sign-in proves the password for a while.
        portal.clock.now += 2 * PROOF_MS;
        const asked = await portal.post("/api/keys", cookie, { ...fields, type });
        // Nothing is made before the proof.
        expect([keysOf().length, shownKey(asked.text)]).toEqual([before, null]);
        const unproved = await portal.post("/api/keys", cookie, hiddenFields(asked.text));
        expect([keysOf().length, shownKey(unproved.text)]).toEqual([before, null]);
        const made = await confirm("/api/keys", cookie, asked.text);
        const may = role === "owner" && KEY_TYPES.indexOf(type) <= KEY_TYPES.indexOf(allowed);
        expect([allowed, type, role, shownKey(made.text) !== null]).toEqual([
          allowed,
          type,
          role,
          may,
        ]);
        expect(keysOf().length).toBe(before + (may ? 1 : 0));
        if (may) expect(last()).toMatchObject({ type, reach: "children", username: "alice" });
        else expect(made.text).toContain("You cannot have such a key here");
      }
    }
  }
});

test("a rotated key works for the grace period, and the new one has its terms", async () => {
  const { text } = await portal.post("/api/keys", developer, { label: "Old", allow: "10.0.0.1" });
  expect(shownKey(text)).not.toBeNull();
  const old = last();
  const path = `/api/keys/${String(old["id"])}`;
  const rotated = await portal.post(`${path}/rotate`, developer, { grace: "1" });
  expect(last()).toMatchObject({
    hash: hashKey(shownKey(rotated.text)!),
    label: "Old",
    allow: "10.0.0.1/32",
    type: "order",
  });
  const after = keysOf().find(({ id }) => id === old["id"])!;
  expect(after["replaced_by"]).toBe(last()["id"]);
  expect(Number(after["expires_at"])).toBeGreaterThan(Number(after["created_at"]));
  const again = await portal.post(`${path}/rotate`, developer, { grace: "1" });
  expect([again.status, again.text.includes("The key was replaced already")]).toEqual([422, true]);
});

test("a key of the operator's own program can be switched off by members, and is never shown to them", async () => {
  allow("full");
  for (const type of ["recharge", "full"] as const) {
    const { id } = portal.key("alice", type, "all");
    expect((await portal.get("/api", owner)).text).not.toContain(`/api/keys/${id}/rotate`);
    const asked = await portal.post(`/api/keys/${id}/rotate`, owner, { grace: "1" });
    const rotated = await confirm(`/api/keys/${id}/rotate`, owner, asked.text);
    expect(shownKey(rotated.text)).toBeNull();
    const off = await portal.post(`/api/keys/${id}/deactivate`, owner);
    await confirm(`/api/keys/${id}/deactivate`, owner, off.text);
    const row = keysOf().find((key) => key["id"] === id)!;
    expect([row["active"], row["replaced_by"]]).toEqual([0, null]);
  }
});

test("a key is switched off after a question", async () => {
  const { id } = portal.key("alice", "order");
  const path = `/api/keys/${id}/deactivate`;
  const asked = await portal.post(path, developer);
  expect(asked.text).toContain("Every request with it is refused");
  expect(keysOf().find((key) => key["id"] === id)!["active"]).toBe(1);
  const done = await portal.post(path, developer, hiddenFields(asked.text));
  expect([done.status, done.headers.get("location")]).toEqual([303, "/portal/api"]);
  expect(keysOf().find((key) => key["id"] === id)!["active"]).toBe(0);
});

test("in test mode a new key is a test key, and each side shows and changes its own keys only", async () => {
  await portal.post("/test-mode", developer);
  const { text } = await portal.post("/test/api/keys", developer, { label: "Try" });
  expect(shownKey(text)).toStartWith("rk_test_");
  const { id, type, username, test_of: of } = last();
  expect([type, username, of !== null]).toEqual(["order", "alice", true]);
  expect((await portal.get("/test/api", developer)).text).toContain("Try");
  expect((await portal.get("/api", developer)).text).not.toContain("Try");
  const before = keysOf();
  const { status } = await portal.post(`/api/keys/${String(id)}/rotate`, developer, { grace: "0" });
  expect([status, keysOf()]).toEqual([422, before]);
});

test("members create no keys above the limit until one is switched off", async () => {
  while (
    keysOf().filter(({ username, active }) => username === "bob" && active === 1).length <
    MEMBER_KEYS_LIMIT
  ) {
    portal.key("bob", "order");
  }
  const before = keysOf().length;
  const refused = await portal.post("/api/keys", other, { label: "One more" });
  expect([refused.status, refused.text.includes("At most 100 keys")]).toEqual([422, true]);
  expect(keysOf().length).toBe(before);
  const { id } = keysOf().find(({ username }) => username === "bob")!;
  portal.run("setKeyActive", { id: String(id), active: false });
  expect(
    shownKey((await portal.post("/api/keys", other, { label: "One more" })).text),
  ).not.toBeNull();
});
