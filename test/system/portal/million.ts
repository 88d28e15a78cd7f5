// Measures the portal's pages with a million orders in the database: `bun test/system/portal/million.ts`.

import { ROUTES } from "../../../src/portal/server/routes.ts";
import { fillInBulk } from "../../support/databases/bulk.ts";
import { openPortal } from "../../support/worlds/portal.ts";

const ORDERS = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = 20;

const portal = await openPortal();
fillInBulk(portal, ORDERS, 20, "1760000000000 + n");
const cookie = portal.session(portal.member("bulk0", "ann@alice.example"));
const hook = { username: "bulk0", url: "https://hooks.example/", events: "*", secret: "s" };
const webhook = portal.run("createWebhook", { ...hook, balanceLowBelow: null }).id;
const order = String(ORDERS - (ORDERS % 1000));
for (const { method, path, role } of ROUTES) {
  if (method !== "GET" || role === "anyone" || path.endsWith(".csv")) continue;
  const asked = path.replace(":order", order).replace(":service", "1").replace(":webhook", webhook);
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    const { status } = await portal.get(asked, cookie);
    took.push(performance.now() - begun);
    if (status !== 200) throw new Error(`${asked}: ${status}`);
  }
  const sorted = took.toSorted((a, b) => a - b);
  console.log(
    asked,
    `median ${sorted[ROUNDS / 2]!.toFixed(1)} ms`,
    `slowest ${sorted.at(-1)!.toFixed(1)} ms`,
  );
}
await portal.stop();
