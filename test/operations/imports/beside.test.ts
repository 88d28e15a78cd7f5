// An import by a command beside servers that take orders all the while.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { ENGINE } from "../../support/databases/engine.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";
import { openService } from "../../support/worlds/service.ts";
import { optionsOf, reseller } from "../../support/worlds/shop.ts";
import { OLD_PANEL_MAP, oldKeyOf, writeOldPanelDump } from "../../support/seeds/old-panel.ts";

const SIZE = { users: 40, services: 12, orders: 2000, openEvery: 20 };
/** On PostgreSQL several servers use one database. */
const SERVERS = ENGINE === "postgres" ? 2 : 1;

test("orders that are placed meanwhile, by imported keys too, get numbers of their own, and the ledger adds up", async () => {
  const database = freshDatabase();
  const url = "http://127.0.0.1:9/";
  database.run("createProvider", { name: "upstream", protocol: "smm-api", url, key: "k" });
  database.user("ann", "1000");
  const service = database.service({ id: "own" });
  const { text: key } = database.key("ann", "order");
  const servers = await Promise.all(
    Array.from({ length: SERVERS }, (_, index) =>
      openService({ database, settings: { server: `server-${index}` } }),
    ),
  );
  const folder = freshFolder();
  const map = join(folder, "map.toml");
  writeFileSync(map, OLD_PANEL_MAP);
  const dump = writeOldPanelDump(folder, SIZE);
  const run = () => {
    const files = ["--format", "smartpanel", "--dump", dump, "--map", map];
    const flags = ["--yes", "--skip-refused", "--json", ...optionsOf(database)];
    return reseller("admin", "import", "panel", ...files, ...flags);
  };
  let isDone = false;
  const importing = run().finally(() => (isDone = true));
  await until(() => isDone || database.query("SELECT * FROM panel_import").length > 0);
  const numbers: number[] = [];
  const place = async (index: number): Promise<void> => {
    for (let count = 0; !isDone || count < 5; count += 1) {
      const order = { service, link: `https://example.com/${index}/${count}`, quantity: 10 };
      const { status, body } = await servers[index % SERVERS]!.call("POST", "/orders", key, order);
      expect(status).toBe(200);
      numbers.push(body.order.orderId);
    }
  };
  await Promise.all([0, 1, 2, 3].map(place));
  const { json, stderr } = await importing;
  // The service that was here keeps its number.
  expect([stderr, json.services, json.users]).toMatchObject([
    "",
    { new: 11, refused: 1 },
    { new: 40 },
  ]);
  expect(Math.min(...numbers)).toBe(SIZE.orders + 1);
  expect(new Set(numbers).size).toBe(numbers.length);
  const balance = await servers[0]!.call("GET", "/balance", oldKeyOf(1));
  expect(balance.status).toBe(200);
  expect(await verifyStore(database)).toEqual([]);
  const again = await run();
  expect(again.json).toMatchObject({ users: { new: 0 }, orders: { new: 0 }, keys: { new: 0 } });
  await Promise.all(servers.map((server) => server.stop()));
}, 120_000);
