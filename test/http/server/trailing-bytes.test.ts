// Bytes that follow a write on its connection: a committed order gets its 200, whatever they are.

import { afterAll, beforeAll, describe, test } from "bun:test";
import { micros } from "../../support/databases/test-database.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { CASES, expectAnswered, type Write } from "../../support/http/trailing.ts";

let service: TestService;
let key: string;

beforeAll(async () => {
  service = await openService();
  service.user("anna", "1000");
  service.service({ id: "s", price: "0.01" });
  key = service.key("anna", "full").text;
});
afterAll(() => service.stop());

const count = (sql: string, ...values: (string | number)[]) =>
  service.query<{ count: number }>(sql, ...values)[0]!.count;
const ordersOf = (mark: string) =>
  count("SELECT count(*) AS count FROM orders WHERE link = ?", mark);
const order = (link: string) => ({ service: "s", link, quantity: 10 });

/** Every route that writes. */
const WRITES: Record<string, Omit<Write, "key">> = {
  "POST /orders": {
    path: "/api/v1/orders",
    body: (mark) => JSON.stringify(order(mark)),
    done: ordersOf,
  },
  "POST /orders/batch": {
    path: "/api/v1/orders/batch",
    body: (mark) => JSON.stringify({ orders: [order(mark)] }),
    done: ordersOf,
  },
  "POST /recharge": {
    path: "/api/v1/recharge",
    // An amount of its own tells it from the others.
    body: (mark) => `{"username":"anna","amount":${amountOf(mark)}}`,
    done: (mark) =>
      count(
        "SELECT count(*) AS count FROM transfers WHERE kind = 'recharge' AND amount_micros = ?",
        micros(amountOf(mark)),
      ),
  },
};

function amountOf(mark: string): string {
  return `0.${mark.split("-")[1]!.padStart(6, "0")}`;
}

describe.each(Object.keys(WRITES))(
  "%s is done and gets its response, whatever follows it",
  (route) => {
    test.each(CASES)("in the same segment: $name", async (each) => {
      await expectAnswered(service.url, { ...WRITES[route]!, key }, each);
    });

    test.each(CASES)("before its commit: $name", async (each) => {
      const commit = service.holdWrites();
      let isHeld = true;
      const release = () => {
        if (isHeld) commit();
        isHeld = false;
      };
      await expectAnswered(service.url, { ...WRITES[route]!, key }, each, async (sendRest) => {
        await seen();
        sendRest();
        await seen();
        release();
      }).finally(release);
    });
  },
);

/** Once a later connection gets a response, the server has read what was sent before. */
async function seen(): Promise<void> {
  for (let calls = 0; calls < 2; calls++) await fetch(`${service.url}/livez`);
}
