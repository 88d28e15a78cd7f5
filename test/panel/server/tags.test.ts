// What people type is text: whatever it is, wherever a page shows it, the page has the tags that it has with plain words.
// Every page and every form of the route table is taken, whoever adds it.

import fc from "fast-check";
import { expect, test } from "bun:test";
import { findUser } from "../../../src/db/users/users.ts";
import { ROUTES } from "../../../src/panel/server/routes.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import { openPanel, type Reply, type TestPanel } from "../../support/worlds/panel.ts";
import { seedMethod } from "../../support/seeds/payments.ts";
import { runs } from "../../support/runs.ts";

const RUNS = ENGINE === "sqlite" ? runs(4, 12) : 4;

/** A market in which every text that someone may type is this one. */
async function panelWith(text: string): Promise<{ panel: TestPanel; paths: string[] }> {
  const panel = await openPanel();
  panel.run("createUser", { username: "alice", name: text, parent: null });
  panel.run("createUser", { username: "kid", name: text, parent: "alice" });
  panel.run("creditUser", { username: "alice", amountMicros: 5_000_000, note: text });
  panel.service({ id: "followers", name: text, price: "1", min: 1 });
  const provider = {
    name: "acme",
    protocol: "smm-api",
    url: "http://127.0.0.1:9/",
    key: "k".repeat(20),
  };
  panel.run("createProvider", provider);
  const delivered = { name: "acme", service: "7" };
  panel.service({ id: "likes", name: text, price: "1", min: 1, provider: delivered });
  const key = panel.key("alice", "full").id;
  const url = `https://hooks.example/${encodeURIComponent(text)}`;
  const hook = { username: "alice", url, events: "*", secret: "s", balanceLowBelow: null };
  const webhook = panel.run("createWebhook", hook).id;
  panel.run("createAlertEndpoint", { target: { url }, secret: "s" });
  const alert = { kind: "disk_low", subject: text, message: text } as const;
  panel.run("recordAlerts", { begun: [alert], ended: [] });
  const { account: resellerAccount } = panel.read((reader) => findUser(reader, "alice"))!;
  const order = (service: string) =>
    panel.run("placeOrder", {
      resellerAccount,
      keyId: key,
      service,
      link: `https://example.com/${text}`,
      quantity: 10,
    }).orderId;
  panel.run("updateService", { id: "followers", changes: { cancel: true } });
  const asked = {
    resellerAccount,
    keyId: key,
    kind: "cancel",
    id: String(order("followers")),
  } as const;
  panel.run("makeRequest", asked);
  const declined = { ...asked, id: String(order("followers")) };
  const { id: request } = panel.run("makeRequest", declined);
  panel.run("decideRequest", { id: request, decision: "decline", note: text });
  const orderId = order("likes");
  panel.attempt(orderId, { outcome: "unknown", cause: text });
  panel.run("noteOrder", { id: String(orderId), note: text });
  const names = JSON.stringify({ en: text, es: text });
  seedMethod(panel, "bank", "manual", { names, instructions: names });
  panel.administrator("olga", "operator");
  const session = {
    id: "s".repeat(22),
    hash: "0".repeat(64),
    address: "::1",
    userAgent: text.slice(0, 200),
  };
  panel.run("beginSignIn", {
    site: "panel",
    step: "password",
    name: text,
    address: "::1",
    network: "::1",
    userAgent: session.userAgent,
  });
  panel.query("UPDATE panel_sessions SET user_agent = ?", session.userAgent);
  const parameters: Record<string, string> = {
    name: "olga", user: "alice", order: String(orderId), key, webhook, service: "likes", provider: "acme",
    method: "bank",
  }; // prettier-ignore
  const paths = ROUTES.map(({ path }) =>
    path.replace(/:(\w+)/g, (_, name: string) => parameters[name] ?? "1"),
  );
  return { panel, paths };
}

/** The names of tags and attributes, in the order of the document, as a browser would read it. */
function tagsOf(html: string): string[] {
  const tags: string[] = [];
  new HTMLRewriter()
    .on("*", {
      element: ({ tagName, attributes }) =>
        void tags.push([tagName, ...[...attributes].map(([name]) => name)].join(" ")),
    })
    .transform(html);
  return tags;
}

interface Shown {
  /** The tags of each page. */
  pages: [path: string, tags: string[]][];
  /** Those of lists that are filtered by the text and of forms that were sent with it: what is shown depends on it. */
  others: [path: string, tags: string[]][];
}

const NAMES = [
  "user", "subject", "by", "action", "status", "service", "provider", "reference", "link", "next", "from", "below",
  "name", "note", "amount", "session", "code", "token", "proof", "label", "username", "price", "reason", "numbers",
]; // prettier-ignore

async function shownWith(text: string): Promise<Shown> {
  const { panel, paths } = await panelWith(text);
  const fields = new URLSearchParams(NAMES.map((name) => [name, text]));
  const shown: Shown = { pages: [], others: [] };
  const isPage = ({ headers }: Reply) => headers.get("content-type")?.startsWith("text/html");
  for (const [at, { method }] of ROUTES.entries()) {
    if (method !== "GET") continue;
    let page = await panel.get(paths[at]!);
    if (!isPage(page)) continue;
    while (page.text.includes("being counted")) page = await panel.get(paths[at]!);
    shown.pages.push([paths[at]!, tagsOf(page.text)]);
    const filtered = await panel.get(`${paths[at]}?${fields}`);
    shown.others.push([`${paths[at]}?`, tagsOf(filtered.text)]);
  }
  for (const [at, { method, role }] of ROUTES.entries()) {
    if (method === "GET" || role === "anyone") continue;
    const reply = await panel.post(paths[at]!, Object.fromEntries(fields));
    shown.others.push([`POST ${paths[at]}`, tagsOf(reply.text)]);
  }
  await panel.stop();
  return shown;
}

/** What parsers stumble over, and any other text. */
const NASTY = [
  "</textarea></title></script><img src=x onerror=alert(1)>",
  "\"'><svg onload=alert(1)>",
  "<!-- --><![CDATA[ ]]> &lt;b&gt; &#60;b&#62; &amp",
  "\u202e\u2066\u200b\ufeff\u2028\u2029\u0085 \u0000\u0001\u001b[31m\u007f",
  "`${1}`\r\n\t<style>*{}</style>",
  'https://example.com/"><script>alert(1)</script>',
  "javascript:alert(1)//<a href=",
  "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 👩‍👩‍👧 Z͑ͫ̓ͪa̡͊͠͝lgo",
];
const anyText = fc
  .oneof(
    fc.constantFrom(...NASTY),
    fc.string({ unit: "binary", minLength: 1, maxLength: 150 }),
    fc.string({
      unit: fc.constantFrom("<", ">", '"', "'", "&", "=", "/", "!", "-", "a", " ", "\n"),
      minLength: 1,
      maxLength: 60,
    }),
  )
  // PostgreSQL's text has no NUL. A column of SQLite takes no lone surrogate unchanged.
  .map((text) => text.toWellFormed().replaceAll("\0", "") || "-");

/** Some seconds on a quiet machine; ends a run that hangs. */
const LIMIT_MS = 600_000;

test(
  "any Unicode in any field changes no page's tags",
  async () => {
    const plain = await shownWith("plain words");
    expect(plain.pages.length).toBeGreaterThan(8);
    // With what is refused, too: errors have tags of their own.
    const odd = await shownWith("\u0001");
    // What is an identifier is refused by fewer fields.
    const identifier = await shownWith("-");
    const known = new Set(
      [...plain.pages, ...plain.others, ...odd.others, ...identifier.others].flatMap(
        ([, tags]) => tags,
      ),
    );
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const { pages, others } = await shownWith(text);
        for (const [at, [path, tags]] of pages.entries()) {
          expect([path, tags]).toEqual([path, plain.pages[at]![1]]);
        }
        for (const [path, tags] of others) {
          expect([path, tags.filter((tag) => !known.has(tag))]).toEqual([path, []]);
        }
      }),
      { numRuns: RUNS, examples: NASTY.slice(0, 6).map((text) => [text.replaceAll("\0", "")]) },
    );
  },
  LIMIT_MS,
);
