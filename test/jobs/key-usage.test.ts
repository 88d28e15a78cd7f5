// Requests with keys are counted in memory and stored at intervals: each once, also after a refusal and at a stop.

import { expect, test } from "bun:test";
import { firstShownDay, readKeyRequests } from "../../src/db/users/key-requests.ts";
import { DAY_MS } from "../../src/domain/values/spans.ts";
import { refusal } from "../../src/domain/values/error-table.ts";
import { startKeyUsage } from "../../src/jobs/key-usage.ts";
import type { Writer } from "../../src/writer/writer.ts";
import { freshDatabase, type TestDatabase } from "../support/databases/test-database.ts";
import { until } from "../support/until.ts";

const DAY = 20_000;
const NEVER = 1_000_000_000;

function usageOf(database: TestDatabase, { interval = NEVER, isFull = (): boolean => false } = {}) {
  const submitted: string[] = [];
  const submit = async (name: string, input: unknown) => {
    submitted.push(name);
    if (isFull()) throw refusal("service_unavailable");
    return database.run(name as never, input as never);
  };
  const writer = { submit } as Pick<Writer, "submit">;
  const log = { error: (fields: object) => expect(fields).toEqual({}) };
  const intervals = { interval: NEVER, countInterval: interval };
  return { submitted, usage: startKeyUsage(writer, log, () => DAY * DAY_MS + 5, intervals) };
}

const countsOf = (database: TestDatabase, ...ids: string[]) =>
  database.read((reader) => ids.map(readKeyRequests(reader, ids, DAY)));

test("every request is stored once at a stop, beside those of other servers", async () => {
  const database = freshDatabase();
  database.user("anna");
  const [one, two] = [database.key("anna", "full").id, database.key("anna", "order").id];
  const first = usageOf(database);
  const second = usageOf(database);
  for (let at = 0; at < 5; at++) first.usage.count(one, at === 3);
  second.usage.count(one, true);
  second.usage.count(two, false);
  await Promise.all([first.usage.stop(), second.usage.stop()]);
  expect(countsOf(database, one, two)).toEqual([
    { requests: 6, errors: 2 },
    { requests: 1, errors: 0 },
  ]);
  database.close();
});

test("counts that cannot be stored are stored with later ones", async () => {
  const database = freshDatabase();
  database.user("anna");
  const { id } = database.key("anna", "full");
  let isFull = true;
  const { usage, submitted } = usageOf(database, { interval: 1, isFull: () => isFull });
  usage.count(id, true);
  await until(() => submitted.length > 0);
  isFull = false;
  usage.count(id, false);
  await usage.stop();
  expect(countsOf(database, id)).toEqual([{ requests: 2, errors: 1 }]);
  database.close();
});

test("a key that does not exist is skipped, old days of a key in use are deleted, and 30 days are shown", () => {
  const database = freshDatabase();
  database.user("anna");
  const [one, two] = [database.key("anna", "full").id, database.key("anna", "order").id];
  const count = (day: number, ...ids: string[]) =>
    database.run("countKeyRequests", {
      day,
      counts: ids.map((id) => ({ id, requests: 2, errors: 1 })),
    });
  count(DAY, one, two, "nobody");
  count(DAY + 62, one);
  const days = () =>
    database.query<{ key_id: string; day: number }>("SELECT key_id, day FROM key_requests");
  expect(days()).toHaveLength(3);
  count(DAY + 63, one);
  expect(
    days()
      .filter(({ key_id }) => key_id === one)
      .map(({ day }) => Number(day)),
  ).toEqual([DAY + 62, DAY + 63]);
  expect(days()).toHaveLength(3);
  expect(firstShownDay((DAY + 29) * DAY_MS)).toBe(DAY);
  database.close();
});
