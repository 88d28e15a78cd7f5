// Adding funds in the portal, over real HTTP: what is shown before anything happens, the payment's page, and files.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ATTACHMENT_LIMIT_BYTES } from "../../../src/domain/payments/attachments.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { seedMethod } from "../../support/seeds/payments.ts";
import { hiddenFields } from "../../support/worlds/panel.ts";
import { openPortal, type Reply, type TestPortal } from "../../support/worlds/portal.ts";
import { openService } from "../../support/worlds/service.ts";

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const JPEG = [0xff, 0xd8, 0xff, 0xe0];
const PDF = [...new TextEncoder().encode("%PDF-1.7\n")];

let portal: TestPortal;
let [owner, viewer, bob] = ["", "", ""];
beforeAll(async () => {
  portal = await openPortal();
  portal.user("alice", "10");
  portal.user("bob", "10");
  owner = portal.session(portal.member("alice", "owner@alice.example"));
  viewer = portal.session(portal.member("alice", "viewer@alice.example", "viewer"));
  bob = portal.session(portal.member("bob", "owner@bob.example"));
  seedMethod(portal, "bank", "manual", {
    names: JSON.stringify({ en: "Bank transfer", es: "Transferencia" }),
    instructions: JSON.stringify({ en: "Account 123\nName Nova <b>" }),
    minMicros: 5_000_000,
    maxMicros: 1_000_000_000,
    feePpm: 29_000,
    feeFixedMicros: 300_000,
    bonusSteps: JSON.stringify([{ fromMicros: 100_000_000, ppm: 30_000 }]),
  });
  const settings = JSON.stringify({
    secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
    "pay-url": "https://pay.example/?p={payment}&a={amount}&c={currency}",
  });
  seedMethod(portal, "program", "callback", { settings });
});
afterAll(() => portal.stop());

const review = (fields: Record<string, string>) => portal.post("/add-funds", owner, fields);
const textIn = (html: string) => html.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");

/** Asks for a payment as a member does; returns its path. */
async function ask(method: string, amount: string): Promise<string> {
  const { text } = await review({ method, amount });
  const reply = await portal.post("/add-funds", owner, hiddenFields(text));
  expect(reply.status).toBe(303);
  return reply.headers.get("location")!;
}

async function send(path: string, cookie: string, file: number[] | null, reference = "T-1") {
  const body = new FormData();
  body.set("reference", reference);
  if (file) body.set("file", new Blob([new Uint8Array(file)], { type: "image/png" }), "x.png");
  return portal.ask(`${path}/claim`, {
    method: "POST",
    body,
    headers: { cookie, origin: portal.url },
  });
}

const payments = () => portal.query("SELECT * FROM payments").length;
const rowOf = (path: string) =>
  portal.query<Record<string, unknown>>(
    `SELECT * FROM payments WHERE id = '${path.split("/").at(-1)}'`,
  )[0]!;

test("fee, credit, bonus and the balance after it are shown, and nothing is written before that is confirmed", async () => {
  const before = payments();
  const { status, text } = await review({ method: "bank", amount: "200" });
  expect(status).toBe(200);
  for (const shown of ["Bank transfer", "$206.10", "$6.10", "$200.00", "$6.00", "$216.00"]) {
    expect([shown, textIn(text).includes(shown)]).toEqual([shown, true]);
  }
  expect(payments()).toBe(before);
  // The same form twice is one payment.
  const fields = hiddenFields(text);
  const replies = await Promise.all([1, 2, 3].map(() => portal.post("/add-funds", owner, fields)));
  expect(new Set(replies.map(({ headers }) => headers.get("location"))).size).toBe(1);
  expect(payments()).toBe(before + 1);
});

test.each([
  ["less than the least", { method: "bank", amount: "4.99" }, "from 5 USD to 1000 USD"],
  ["more than the most", { method: "bank", amount: "1000.01" }, "from 5 USD to 1000 USD"],
  ["parts of a cent", { method: "bank", amount: "10.001" }, "at most 2 decimals"],
  ["no amount", { method: "bank", amount: "" }, ""],
  ["no number", { method: "bank", amount: "ten" }, ""],
  ["an unknown method", { method: "none", amount: "10" }, "not available"],
])("%s is refused beside its field, and what was typed stays", async (_, fields, words) => {
  const before = payments();
  const { status, text } = await review(fields);
  expect([422, 404]).toContain(status);
  expect(textIn(text)).toContain(words);
  if (status === 422 && fields.amount !== "") expect(text).toContain(`value="${fields.amount}"`);
  expect(payments()).toBe(before);
});

test("a payment by hand: instructions, the claim with a file, and once approved the balance", async () => {
  const path = await ask("bank", "50");
  const page = await portal.get(path, owner);
  expect(textIn(page.text)).toContain("Account 123");
  expect(page.text).not.toContain("<b>");
  expect((await send(path, owner, PNG)).headers.get("location")).toBe(path);
  expect(rowOf(path)).toMatchObject({
    state: "pending",
    awaits: "claim",
    customer_reference: "T-1",
  });
  const [file] = portal.query("SELECT type, bytes FROM payment_attachments");
  expect(file).toMatchObject({ type: "image/png", bytes: PNG.length });
  // A later claim replaces it, and keeps the file if it has none.
  await send(path, owner, PDF, "T-2");
  await send(path, owner, null, "T-3");
  expect(rowOf(path)["customer_reference"]).toBe("T-3");
  expect(portal.query("SELECT type FROM payment_attachments")).toEqual([
    { type: "application/pdf" },
  ]);
  const before = portal.balance("alice");
  const id = path.split("/").at(-1)!;
  portal.run("approvePayment", { id, receivedMicros: 51_750_000, creditMicros: null });
  expect(portal.balance("alice") - before).toBe(50_000_000);
  const paid = textIn((await portal.get(path, owner)).text);
  for (const word of ["Paid", "$51.75", "$50.00"]) expect(paid).toContain(word);
  expect(textIn((await portal.get("/balance", owner)).text)).toContain("Payments");
  expect((await send(path, owner, PNG)).status).toBe(422);
});

describe("a file is told by its content", () => {
  test.each([
    ["a JPEG", JPEG, true],
    ["a PDF", PDF, true],
    ["a PNG at the limit", [...PNG, ...Array<number>(ATTACHMENT_LIMIT_BYTES - PNG.length).fill(1)], true],
    ["a PNG above the limit", [...PNG, ...Array<number>(ATTACHMENT_LIMIT_BYTES - PNG.length + 1).fill(1)], false],
    ["a page named x.png", [...new TextEncoder().encode("<html><script>alert(1)</script>")], false],
    ["an SVG", [...new TextEncoder().encode("<svg xmlns='http://www.w3.org/2000/svg'/>")], false],
    ["a program", [0x7f, 0x45, 0x4c, 0x46], false],
  ])("%s", async (_, content, isTaken) => {
    const path = await ask("bank", "5");
    const reply = await send(path, owner, content);
    expect(reply.status).toBe(isTaken ? 303 : 422);
    expect(rowOf(path)["awaits"]).toBe(isTaken ? "claim" : null);
    const id = path.split("/").at(-1)!;
    portal.run("rejectPayment", { id, reason: "Nothing arrived" });
    expect(textIn((await portal.get(path, owner)).text)).toContain("Nothing arrived");
  });
}); // prettier-ignore

test("who may not order sees payments and changes none; another reseller sees nothing", async () => {
  const path = await ask("bank", "7");
  expect((await portal.get(path, viewer)).status).toBe(200);
  expect((await portal.get("/add-funds", viewer)).status).toBe(403);
  expect((await send(path, viewer, null)).status).toBe(403);
  const none = await portal.get(`/payments/${"x".repeat(24)}`, bob);
  const foreign = await portal.get(path, bob);
  expect([foreign.status, foreign.text]).toEqual([none.status, none.text]);
  expect((await send(path, bob, null)).status).toBe(404);
  expect(rowOf(path)["awaits"]).toBe(null);
});

test("a payment of a program leads to its page with id, amount and currency", async () => {
  const path = await ask("program", "12.5");
  const { text } = await portal.get(path, owner);
  const id = path.split("/").at(-1)!;
  expect(text).toContain(`href="https://pay.example/?p=${id}&amp;a=12.5&amp;c=USD"`);
  expect(text).not.toContain("/claim");
  expect((await send(path, owner, null)).status).toBe(422);
});

test("a method that is off, removed, or for other resellers is not offered", async () => {
  const offered = async (cookie: string) =>
    (await portal.get("/add-funds", cookie)).text.includes('value="program"');
  const set = (changes: object, resellers?: string[] | null) =>
    portal.run("updatePaymentMethod", { methodId: "program", changes, known: [], ...(resellers === undefined ? {} : { resellers }) });
  expect([await offered(owner), await offered(bob)]).toEqual([true, true]);
  set({}, ["bob"]);
  expect([await offered(owner), await offered(bob)]).toEqual([false, true]);
  expect((await review({ method: "program", amount: "5" })).status).toBe(422);
  set({ active: false }, null);
  expect([await offered(owner), await offered(bob)]).toEqual([false, false]);
  set({ active: true });
}); // prettier-ignore

test("below a prefix on the API's listener a file of a megabyte is taken, and the API keeps its limit", async () => {
  const service = await openService({ settings: { portal: true } });
  try {
    const body = new FormData();
    body.set("file", new Blob([new Uint8Array(ATTACHMENT_LIMIT_BYTES)]), "x");
    const headers = { origin: service.url };
    const post = async (path: string): Promise<Pick<Reply, "status">> =>
      fetch(service.url + path, { method: "POST", body, headers, redirect: "manual" });
    // Without a session it leads to sign-in: it was read, and not refused for its length.
    expect((await post(`/portal/payments/${"x".repeat(24)}/claim`)).status).toBe(303);
    expect((await post("/api/v1/orders")).status).toBe(401);
    expect((await post("/payments/callback/none")).status).toBe(413);
  } finally {
    await service.stop();
  }
});

test.each([
  ["a NUL", "a%00b"],
  ["an id of nobody", "x".repeat(24)],
  ["SQL", "%27%3B--"],
])("a payment whose id is %s is not found", async (_, id) => {
  expect((await portal.get(`/payments/${id}`, owner)).status).toBe(404);
  expect((await portal.post(`/payments/${id}/claim`, owner, { reference: "T" })).status).toBe(404);
});

test("all of it adds up", async () => {
  expect(await verifyStore(portal)).toEqual([]);
});
