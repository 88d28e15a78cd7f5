// Notices for all members: who may change them, their end and their limit.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listNotices } from "../../../src/db/members/notices.ts";
import { authorOf, mayAct, ROLES } from "../../../src/domain/administrators/administrators.ts";
import { NOTICES_LIMIT } from "../../../src/domain/members/notices.ts";
import { DAY_MS } from "../../../src/domain/values/spans.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import {
  freshDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";

const NOW = Date.UTC(2026, 10, 28);
const texts = { en: "Refills are slow today", es: "Hoy las reposiciones son lentas" };
let shop: TestDatabase;
beforeAll(() => (shop = freshDatabase()));
afterAll(() => shop.close());

const list = () => shop.read(listNotices);
const add = (untilAt: number | null, now = NOW, actor = OPERATOR) =>
  shop.execute("addNotice", { texts, untilAt, actor }, now);
const audited = () =>
  shop.query("SELECT action, operator FROM audit WHERE action LIKE 'notice.%' ORDER BY seq");

test("only administrators from the role operator on, and the command line, change notices; each change is audited once", () => {
  let made = 0;
  for (const role of ROLES) {
    const invitationHash = String((made += 1)).padStart(64, "0");
    shop.run("inviteAdministrator", { name: role, role, invitationHash });
  }
  const authors = ROLES.map((role) => [authorOf(role), mayAct(role, "operator")] as const);
  for (const [operator, may] of [...authors, [OPERATOR.operator, true] as const]) {
    const actor = { keyId: null, operator };
    const [before, entries] = [list(), audited().length];
    const added = refusalCode(() =>
      shop.execute("addNotice", { texts, untilAt: null, actor }, NOW),
    );
    expect([operator, added]).toEqual([operator, may ? null : "administrator_not_allowed"]);
    expect(list().length - before.length).toBe(may ? 1 : 0);
    const id = add(null);
    const removed = refusalCode(() => shop.execute("removeNotice", { id, actor }, NOW));
    expect([operator, removed]).toEqual([operator, may ? null : "administrator_not_allowed"]);
    expect(list().some((notice) => notice.id === id)).toBe(!may);
    if (!may) shop.execute("removeNotice", { id, actor: OPERATOR }, NOW);
    expect(audited().length - entries).toBe(may ? 3 : 2);
    for (const notice of list())
      shop.execute("removeNotice", { id: notice.id, actor: OPERATOR }, NOW);
  }
});

test("a notice that would have ended, or is one too many, is refused, and those that have ended make room", () => {
  expect(refusalCode(() => add(NOW - 1))).toBe("notice_ended");
  for (let count = 0; count < NOTICES_LIMIT; count++) add(NOW + DAY_MS);
  expect(refusalCode(() => add(null))).toBe("notices_limit");
  expect(refusalCode(() => add(null, NOW + DAY_MS))).toBe("notices_limit");
  expect(list()).toHaveLength(NOTICES_LIMIT);
  const later = NOW + DAY_MS + 1;
  const id = add(null, later);
  expect(list()).toEqual([{ id, texts, untilAt: null, createdAt: later }]);
  shop.execute("removeNotice", { id, actor: OPERATOR }, later);
  const again = () => shop.execute("removeNotice", { id, actor: OPERATOR }, later);
  expect(refusalCode(again)).toBe("notice_not_found");
});
