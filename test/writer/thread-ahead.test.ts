// The writer's thread, started before the writer.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findUser } from "../../src/db/users/users.ts";
import { startThreadAhead, type ThreadAhead } from "../../src/writer/thread-ahead.ts";
import { startWriter } from "../../src/writer/writer.ts";
import { bundledThread } from "../support/bundles.ts";
import { freshDatabase } from "../support/databases/test-database.ts";
import { freshFolder } from "../support/folders.ts";
import { until } from "../support/until.ts";

/** Places an order by a writer whose thread may have been started ahead. Returns the order numbers in the database. */
async function ordersAfterOne(ahead: ThreadAhead): Promise<unknown[]> {
  const database = freshDatabase();
  database.user("anna", "1000");
  const { account: resellerAccount } = findUser(database.connection.store.reader, "anna")!;
  const order = { service: database.service(), link: "x", quantity: 100 };
  const keyId = database.key("anna", "full").id;
  const { path } = database.connection;
  const thread = await bundledThread();
  const writer = await startWriter({ path, thread, ahead, onFatal() {} });
  await writer.submit("placeOrder", { resellerAccount, keyId, ...order });
  await writer.close();
  return database.query("SELECT order_id FROM orders").map(({ order_id }) => order_id);
}

test("a thread that was started ahead runs the writer's commands", async () => {
  const ahead = startThreadAhead(await bundledThread());
  const worker = ahead.take();
  expect(await ordersAfterOne(ahead)).toEqual([1]);
  await until(() => ahead.take() === null, "the end of the thread that the writer used");
  expect(worker).not.toBeNull();
});

test("a thread that ended before the writer was started is replaced", async () => {
  const file = join(freshFolder(), "ends.ts");
  writeFileSync(file, "process.exit(1);");
  const ahead = startThreadAhead(pathToFileURL(file));
  await until(() => ahead.take() === null, "the end of the thread");
  expect(await ordersAfterOne(ahead)).toEqual([1]);
});
