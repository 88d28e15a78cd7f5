// The first page of the portal: notices of the operator, balance, open and last orders, and the spend.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { LANGUAGES } from "../../../src/domain/members/languages.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { HOUR_MS } from "../../../src/domain/values/spans.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
beforeAll(async () => {
  portal = await openPortal();
  portal.user("alice", "100");
});
afterAll(() => portal.stop());

test("a notice is shown in the member's language, else in English, until its end or until it is removed", async () => {
  const texts = { en: "Slow <b>today</b>", es: "Hoy lento", ru: "Сегодня медленно" };
  const untilAt = portal.clock.now + HOUR_MS;
  portal.run("addNotice", { texts: { en: "Merry holidays" }, untilAt });
  const id = portal.run("addNotice", { texts, untilAt: null });
  let asked = 0;
  const shown = async () =>
    Promise.all(
      LANGUAGES.map(async (language) => {
        const email = `${language.toLowerCase()}${(asked += 1)}@alice.example`;
        const cookie = portal.session(portal.member("alice", email, "viewer", language));
        const { text } = await portal.get("/", cookie);
        return [...text.matchAll(/<p class="notice quiet"[^>]*><bdi[^>]*>(.*?)<\/bdi>/g)]
          .map(([, each]) => each!)
          .toSorted();
      }),
    );
  const own = { es: "Hoy lento", ru: "Сегодня медленно" } as Partial<Record<string, string>>;
  const english = "Slow &lt;b>today&lt;/b>";
  const all = LANGUAGES.map((language) => [own[language] ?? english]);
  expect(await shown()).toEqual(all.map((each) => [...each, "Merry holidays"].toSorted()));
  portal.clock.now = untilAt;
  expect((await shown()).map(({ length }) => length)).toEqual(LANGUAGES.map(() => 2));
  portal.clock.now = untilAt + 1;
  expect(await shown()).toEqual(all);
  portal.run("removeNotice", { id });
  expect(await shown()).toEqual(LANGUAGES.map(() => []));
});

test("the chart has a column for each day with spend, and the table every number, in the member's language", async () => {
  const { account } = portal.read((reader) => findUser(reader, "alice")!);
  const { id: keyId } = portal.key("alice", "order");
  portal.service({ id: "likes", price: "10" });
  const DAY = 86_400_000;
  const { now } = portal.clock;
  const place = (ago: number) => {
    const terms = { resellerAccount: account, keyId, service: "likes", reference: null };
    const order = { ...terms, link: "https://example.com/a", quantity: 1000 };
    return portal.execute("placeOrder", order, now - ago * DAY).orderId;
  };
  const cookie = portal.session(portal.member("alice", "chart@alice.example", "viewer", "es"));
  expect((await portal.get("/", cookie)).text).not.toContain("<svg");
  const [old] = [place(40), place(3), place(1), place(1)];
  // More was given back on this day than was spent.
  const refund = { id: String(old), to: "CANCELLED", note: null, actor: OPERATOR } as const;
  portal.execute("transitionOrder", refund, now - 2 * DAY);
  while (portal.run("countDailyTotals", { limit: 1000 }) !== "done");
  const { text } = await portal.get("/", cookie);
  expect(text.match(/<rect /g)).toHaveLength(2);
  expect([...text.matchAll(/height="(-[^"]*)"/g)]).toEqual([]);
  const numbers = [...text.matchAll(/<td class="number" data-label="[^"]*">([^<]+)<\/td>/g)];
  const cells = numbers.map(([, each]) => each!.replaceAll("\u00a0", " ")).slice(-30);
  expect(cells.slice(-4)).toEqual(["10,00 $", "-10,00 $", "20,00 $", "0,00 $"]);
  expect(cells.slice(0, -4)).toEqual(Array(26).fill("0,00 $"));
});
