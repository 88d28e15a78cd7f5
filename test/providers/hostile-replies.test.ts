// Replies made to keep the server from its work: they are refused before anything walks them, or read in slices.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseWithLongNumbers } from "../../src/domain/values/json-numbers.ts";
import { createSender } from "../../src/providers/call.ts";
import { ENTRIES_LIMIT, parseList, startOfList } from "../../src/providers/reply-json.ts";
import { smmApi } from "../../src/providers/smm-api.ts";

const NEVER_MS = 600_000;
const never = new AbortController().signal;
const ORDERS = ["1", "2"];
/** A text of JSON with one of them in place of another character is often no JSON any more. */
const CHARACTERS = ["[", "]", "{", "}", ",", ":", '"', "\\", " ", "1", "n", "\n"];

/** Every call of the protocol; each resolves with what the operator is shown. */
const CALLS: Record<string, (api: ReturnType<typeof smmApi>) => Promise<unknown>> = {
  submit: (api) =>
    api.submit({ service: "1", link: "x", fields: {}, orderId: 1, createdAt: 0 }, never),
  "status of one": (api) => api.status(["1"], never),
  "status of many": (api) => api.status(ORDERS, never),
  cancel: (api) => api.cancel({ providerOrder: "1", requestId: 1, link: "" }, never),
  refill: (api) => api.refill({ providerOrder: "1", requestId: 1, link: "" }, never),
  "refill_status of one": (api) => api.refillStatus(["1"], never),
  "refill_status of many": (api) => api.refillStatus(ORDERS, never),
  services: (api) => api.services(never).catch((error: Error) => error.message),
  balance: (api) => api.balance(never).catch((error: Error) => error.message),
};

/** What each call says of a reply, from a real server. */
async function said(reply: string): Promise<string[]> {
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(reply) });
  const api = smmApi(createSender(server.url.href, NEVER_MS), "provider-key");
  const results = Object.values(CALLS).map((call) => call(api));
  return (await Promise.all(results)).map((result) => JSON.stringify(result));
}

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("a reply that is nested deeply is refused unread by every call", () => {
  test.each<[string, string]>([
    ["lists", nested(30_000)],
    ["lists that do not end", "[".repeat(60_000)],
    ["objects", `${'{"order":'.repeat(6000)}1${"}".repeat(6000)}`],
    ["in an error", `{"error":${nested(30_000)}}`],
    ["in an order's entry", `{"1":{"status":"Pending","x":${nested(30_000)}},"2":{}}`],
    ["one level too deep", nested(33)],
  ])("%s", async (_, reply) => {
    for (const text of await said(reply)) expect(text).toContain("nested too deeply");
  });

  test("brackets in a text are not nesting", async () => {
    const error = `"\\"${"[{".repeat(2000)}`;
    for (const text of await said(JSON.stringify({ error }))) {
      expect(text).not.toContain("nested too deeply");
    }
  });
});

test("a list of many megabytes is read with hundreds of turns for other work between", async () => {
  const entry = { service: 1, name: "Likes", type: "Default", rate: "0.9", min: 1, max: 10 };
  const list = Array.from({ length: 60_000 }, (_, index) => ({ ...entry, service: index }));
  const reply = Buffer.from(JSON.stringify(list));
  let turns = 0;
  let isReading = true;
  const count = () => {
    turns += 1;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);
  const api = smmApi(async () => {
    return { kind: "json", status: 200, json: await parseList(reply) };
  }, "provider-key");
  expect(await api.services(never)).toHaveLength(list.length);
  isReading = false;
  // Without slices there are a few.
  expect(turns).toBeGreaterThan(20);
});

test("a list of too many entries, or with one that is too long, is refused", async () => {
  const tooMany = Buffer.from(`[${"1,".repeat(ENTRIES_LIMIT)}1]`);
  expect(await parseList(tooMany).catch(String)).toContain("too long a list");
  for (const text of [
    `["${"x".repeat(70_000)}"]`,
    `["${"x".repeat(70_000)}`,
    `[1]${" ".repeat(70_000)}`,
  ]) {
    expect(await parseList(Buffer.from(text)).catch(String)).toContain("too long");
  }
});

test("a list is read entry by entry exactly as one reply reads it whole", async () => {
  const spaces = fc.constantFrom("", " ", "\n\t", "\r\n");
  const lists = fc.tuple(fc.array(fc.json({ maxDepth: 4 })), spaces).map(([entries, space]) => {
    return `${space}[${space}${entries.join(`${space},${space}`)}${space}]${space}`;
  });
  // A character in place of another makes most of them invalid, and a few another list.
  const changed = fc
    .tuple(lists, fc.nat(), fc.constantFrom(...CHARACTERS))
    .map(([text, place, character]) => {
      const at = place % text.length;
      return `${text.slice(0, at)}${character}${text.slice(at + 1)}`;
    });
  await fc.assert(
    fc.asyncProperty(fc.oneof(lists, changed), async (text) => {
      const bytes = Buffer.from(text);
      let whole: unknown;
      try {
        whole = parseWithLongNumbers(text);
      } catch {
        whole = "not JSON";
      }
      const inSlices =
        startOfList(bytes) < 0 ? whole : await parseList(bytes).catch(() => "not JSON");
      expect(inSlices).toEqual(whole);
    }),
    { numRuns: 2000 },
  );
});
