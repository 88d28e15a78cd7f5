// When the last use of a key is recorded.

import { expect, test } from "bun:test";
import { findKey } from "../../src/db/keys.ts";
import { freshDatabase } from "../support/service.ts";

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
