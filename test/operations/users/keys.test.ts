// When the last use of a key is recorded, and what is done to many keys at once.

import { expect, test } from "bun:test";
import { createId } from "../../../src/db/port/ids.ts";
import { findKey, listKeys } from "../../../src/db/users/keys.ts";
import { freshDatabase, OPERATOR } from "../../support/databases/test-database.ts";

test("a use is recorded if it differs by a minute or more from the recorded one, also after the clock was put back", () => {
  const database = freshDatabase();
  database.user("anna");
  const { id } = database.key("anna", "full");
  const MINUTE = 60_000;
  const YEAR = 365 * 24 * 60 * MINUTE;
  const noted = (usedAt: number) => {
    database.run("recordKeyUsage", { uses: [{ id, usedAt }] });
    return database.read((reader) => findKey(reader, id))!.lastUsedAt;
  };
  expect(noted(YEAR)).toBe(YEAR);
  expect(noted(YEAR + MINUTE - 1)).toBe(YEAR);
  expect(noted(YEAR + MINUTE)).toBe(YEAR + MINUTE);
  expect(noted(YEAR + 1)).toBe(YEAR + MINUTE);
  expect(noted(MINUTE)).toBe(MINUTE);
  database.close();
});

test("the uses of hundreds of keys are recorded by one command, and their ends by another", () => {
  const database = freshDatabase();
  database.user("anna");
  const key = { username: "anna", type: "full", reach: "all", label: "", start: "rk_" };
  const requests = Array.from({ length: 250 }, (_, index) => ({
    name: "createKey" as const,
    input: { ...key, hash: String(index).padStart(64, "0"), actor: OPERATOR },
    ids: [createId()],
  }));
  database.batch(requests, 1);
  const ids = requests.map((request) => request.ids[0]!);
  database.run("recordKeyUsage", { uses: ids.map((id) => ({ id, usedAt: 77 })) });
  database.query("UPDATE keys SET expires_at = 100");
  expect(database.run("endExpiredKeys", null).toSorted()).toEqual(ids.toSorted());
  const states = database.read((reader) => listKeys(reader));
  expect(states.map(({ lastUsedAt }) => lastUsedAt)).toEqual(Array<number>(250).fill(77));
  expect(database.run("endExpiredKeys", null)).toEqual([]);
  database.close();
});
