// A command over hundreds of rows: PostgreSQL gives up on one that asks for something new in every round.

import { expect, test } from "bun:test";
import { execute } from "../../../src/operations/batch/execute.ts";
import { ENGINES, freshStore } from "../../support/databases/stores.ts";

const ROWS = 500;

for (const engine of ENGINES) {
  test(`an import of hundreds of services is applied and sent to a webhook, or refused for its first taken id, on ${engine}`, async () => {
    const store = await freshStore(engine);
    const terms = { priceMicros: 1, per: "1", min: 1, max: 10, private: false } as const;
    const services = Array.from({ length: ROWS }, (_, index) => ({
      ...terms,
      id: `s${index}`,
      name: `Service ${index}`,
    }));
    const run = async () =>
      execute(store, "importServices", { services, actor: { keyId: null, operator: "o" } }, 1);
    const actor = { keyId: null, operator: "o" };
    await execute(store, "createUser", { username: "u", name: "u", parent: null, actor }, 1);
    const hook = { url: "https://shop.example/", events: "*", balanceLowBelow: null };
    await execute(store, "createWebhook", { ...hook, username: "u", secret: "s", actor }, 1);
    expect(await run()).toEqual({ created: ROWS, updated: 0, unchanged: 0 });
    const [events] = await store.query("SELECT count(*) AS n FROM webhook_events");
    expect(Number(events!["n"])).toBe(ROWS);
    const taken = await run().catch((error: unknown) => error);
    expect(taken).toMatchObject({ code: "import_id_taken", details: { index: 0 } });
    expect(await store.query("SELECT count(*) AS n FROM services")).toEqual([
      { n: engine === "sqlite" ? ROWS : String(ROWS) },
    ]);
    await store.close();
  });
}
