// Secrets of ways to pay: they go in by forms, with a proof, and never come out.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findMethod } from "../../../src/db/payments/payment-methods.ts";
import { PROOF_MS } from "../../../src/domain/sign-ins/sign-ins.ts";
import { ROUTES } from "../../../src/panel/server/routes.ts";
import { stripe } from "../../../src/payments/stripe.ts";
import { LIVE_KEY, type LocalStripe, startStripe } from "../../support/peers/stripe/server.ts";
import { openPanel, PASSWORD, type TestPanel } from "../../support/worlds/panel.ts";
import { NEW_METHOD } from "./new-method.ts";

const KEY = LIVE_KEY;
const TEST_KEY = "sk_test_0123456789abcdefSECRET";
/** How a test of the key can fail, with an error that repeats the key too. */
const FAULTS = [
  "429",
  "403",
  "500 before",
  "503 page",

  "no json",
  "endless",
  "redirect",
  "echo",
] as const;
const SIGNING = "whsec_0123456789abcdefSIGNING";

let panel: TestPanel;
let local: LocalStripe;
beforeAll(async () => {
  local = await startStripe({ livemode: true });
  panel = await openPanel({ stripeApi: new URL(local.url) });
});
afterAll(async () => {
  await panel.stop();
  await local.stop();
});

const rowOf = (id: string) => panel.read((reader) => findMethod(reader, id));

describe("secrets", () => {
  const typed = { "secret-key": KEY, "webhook-secret": SIGNING };
  const path = "/payment-methods/secret-card";
  const addCard = () =>
    panel.confirm("/payment-methods", { ...NEW_METHOD, kind: "stripe", id: "secret-card" });
  const storedKeys = () => JSON.parse(rowOf("secret-card")!.settings) as Record<string, string>;

  test("a card method begins off, says what is missing, and is not turned on without its keys", async () => {
    expect((await addCard()).status).toBe(303);
    const { text } = await panel.get(path);
    expect(text).toContain("The secret key is missing.");
    expect(text).toContain("https://shop.example/payments/stripe/secret-card");
    for (const event of stripe.events!) expect(text).toContain(event);
    const reply = await panel.post(path, { active: "yes" });
    expect([reply.status, reply.text]).toEqual([
      422,
      expect.stringContaining("It cannot be offered yet: secret-key is missing"),
    ]);
    const forced = await panel.confirm("/payment-methods", {
      ...NEW_METHOD,
      kind: "stripe",
      id: "forced",
      active: "yes",
    });
    expect([forced.status, rowOf("forced")]).toEqual([422, undefined]);
  });

  test("the documents name the same events as the page", async () => {
    const guide = await Bun.file(new URL("../../../docs/payments.md", import.meta.url)).text();
    const named = guide.matchAll(/`(?:checkout|charge|refund)\.[a-z_.]+`/g);
    expect([...named].map(([each]) => each)).toEqual(stripe.events!.map((event) => `\`${event}\``));
  });

  test("are stored with a proof only, one by one or both, and a wrong one changes nothing", async () => {
    const wrong: Record<string, string>[] = [
      {},
      { "secret-key": KEY },
      { ...typed, "secret-key": "pk_live_0123456789abcdefSECRET" },
      { ...typed, "webhook-secret": `${SIGNING}\u0000` },
      { ...typed, "webhook-secret": "x".repeat(5000) },
    ];
    for (const fields of wrong) {
      const reply = await panel.post(`${path}/secrets`, fields);
      expect([fields, reply.status, storedKeys()]).toEqual([fields, 422, {}]);
      for (const secret of Object.values(fields)) expect(reply.text).not.toContain(secret);
    }
    panel.clock.now = Date.now() + PROOF_MS + 1000;
    expect((await panel.get(path)).text).toContain('name="proof"');
    const proofs: Record<string, string>[] = [{}, { proof: "wrong password" }];
    for (const proof of proofs) {
      const reply = await panel.post(`${path}/secrets`, { ...typed, ...proof });
      expect([reply.status, storedKeys(), reply.text.includes(KEY)]).toEqual([422, {}, false]);
    }
    const right = await panel.post(`${path}/secrets`, { ...typed, proof: PASSWORD });
    panel.clock.now = Date.now();
    expect([right.status, storedKeys()]).toEqual([303, typed]);
    const other = `${SIGNING}2`;
    expect((await panel.post(`${path}/secrets`, { "webhook-secret": other })).status).toBe(303);
    expect(storedKeys()).toEqual({ "secret-key": KEY, "webhook-secret": other });
    expect((await panel.post(path, { active: "yes" })).status).toBe(303);
  });

  test("are asked about at the provider first, and not stored if it refuses them, unless the operator says so", async () => {
    const before = storedKeys();
    const other = `${KEY.slice(0, -1)}9`;
    const refused = await panel.post(`${path}/secrets`, { "secret-key": other });
    expect([refused.status, refused.text, storedKeys()]).toEqual([
      422,
      expect.stringContaining("The test failed: "),
      before,
    ]);
    expect([refused.text.includes(other), refused.text.includes(KEY)]).toEqual([false, false]);
    for (const fault of FAULTS) {
      local.fail(/^GET/, fault);
      const failed = await panel.post(`${path}/secrets`, { "secret-key": KEY });
      expect([fault, failed.status, failed.text.includes(KEY)]).toEqual([fault, 422, false]);
    }
    local.mend();
    const untested = { "secret-key": other, untested: "yes" };
    expect((await panel.post(`${path}/secrets`, untested)).status).toBe(303);
    expect(storedKeys()).toEqual({ ...before, "secret-key": other });
    expect((await panel.post(`${path}/secrets`, { "secret-key": KEY })).status).toBe(303);
    expect(storedKeys()).toEqual(before);
  });

  test("are on no page and in no address, cookie, log line or audit entry", async () => {
    const made = await panel.confirm("/payment-methods", {
      ...NEW_METHOD,
      kind: "callback",
      id: "secret-program",
    });
    const [, shown = ""] = /<pre id="key">(whsec_[^<]+)</.exec(made.text) ?? [];
    expect(JSON.parse(rowOf("secret-program")!.settings)).toEqual({ secret: shown });
    expect(made.asked).not.toContain("whsec_");
    const secrets = [KEY, SIGNING, shown].map((each) => each.slice(8));
    const seen: string[] = [];
    for (const route of ROUTES) {
      if (route.method !== "GET") continue;
      for (const method of ["secret-card", "secret-program"]) {
        const reply = await panel.get(
          route.path.replace(":method", method).replace(/:\w+/g, "alice"),
        );
        seen.push(reply.text, JSON.stringify([...reply.headers]));
      }
    }
    seen.push(JSON.stringify(panel.logged));
    const rows = panel.query("SELECT * FROM audit");
    seen.push(
      JSON.stringify(rows, (_, value: unknown) =>
        typeof value === "bigint" ? String(value) : value,
      ),
    );
    for (const secret of secrets) {
      expect(seen.filter((text) => text.includes(secret))).toEqual([]);
    }
  });

  test("a program's secret is rotated after a confirmation; the new one is shown once, and counts at once", async () => {
    const before = rowOf("secret-program")!.settings;
    const asked = await panel.post("/payment-methods/secret-program/rotate");
    expect([asked.status, rowOf("secret-program")!.settings]).toEqual([200, before]);
    const made = await panel.confirm("/payment-methods/secret-program/rotate", {});
    const [, shown] = /<pre id="key">(whsec_[^<]+)</.exec(made.text) ?? [];
    const after = rowOf("secret-program")!.settings;
    expect(after).toBe(JSON.stringify({ secret: shown }));
    expect(after).not.toBe(before);
    // A card has no secret that is made here.
    const card = await panel.confirm("/payment-methods/secret-card/rotate", {});
    expect(card.status).toBe(422);
  });

  test("a key of test mode makes no credit by accident: it is marked, confirmed, and not put into a method that is on", async () => {
    await panel.post(path, { active: "no" });
    const test = { "secret-key": TEST_KEY, untested: "yes" };
    expect((await panel.post(`${path}/secrets`, test)).status).toBe(303);
    for (const page of ["/payment-methods", path]) {
      expect((await panel.get(page)).text).toContain("In test mode");
    }
    const asked = await panel.post(path, { active: "yes" });
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining("real credit")]);
    expect(rowOf("secret-card")!.active).toBe(false);
    const onToday = async () =>
      (await panel.get("/")).text.includes("secret-card is on in test mode");
    expect(await onToday()).toBe(false);
    expect((await panel.confirm(path, { active: "yes" })).status).toBe(303);
    expect([rowOf("secret-card")!.active, await onToday()]).toEqual([true, true]);
    expect((await panel.post(`${path}/secrets`, { "secret-key": KEY })).status).toBe(303);
    expect((await panel.post(`${path}/secrets`, test)).status).toBe(422);
    expect([storedKeys()["secret-key"], await onToday()]).toEqual([KEY, false]);
  });
});
