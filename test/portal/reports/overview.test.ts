// The first page of the portal: notices of the operator, balance, open and last orders, and the spend.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { LANGUAGES } from "../../../src/domain/members/languages.ts";
import { HOUR_MS } from "../../../src/domain/values/spans.ts";
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
