// The panel's page that places an order for a reseller, for every type of service.

import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  SERVICE_TYPES,
  type ServiceType,
  type TypeField,
  typeTerms,
} from "../../../src/domain/catalogue/service-types.ts";
import { LINE_FIELDS, MAY_BE_EMPTY } from "../../../src/domain/orders/order-fields.ts";
import { smmClientOf } from "../../support/http/smm-client.ts";
import type { TestDatabase } from "../../support/databases/test-database.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";

let panel: TestPanel;
let service: TestService;
let smm: ReturnType<typeof smmClientOf>;

beforeAll(async () => {
  [panel, service] = await Promise.all([openPanel(), openService()]);
  for (const world of [panel, service]) {
    world.user("alice", "1000");
    for (const type of SERVICE_TYPES) world.service({ id: type, type, min: 1, max: 100 });
  }
  smm = smmClientOf(service.url, service.key("alice", "full").text);
});
afterAll(() => Promise.all([panel.stop(), service.stop()]));

const DIGITS: ReadonlySet<TypeField> = new Set(["answer_number", "type_of_traffic"]);

/** Returns the filled-in fields of an order of each combination: those that may be empty are filled in or not. */
function filledIn(type: ServiceType): Record<string, string>[] {
  const { quantity, fields } = typeTerms(type);
  let orders: Record<string, string>[] = [{ link: "x" }];
  if (quantity === "named") orders[0]!["quantity"] = "30";
  for (const field of fields) {
    const values = DIGITS.has(field) ? ["1", "2", "3"] : [LINE_FIELDS.has(field) ? "a\nb" : "a"];
    orders = orders.flatMap((order) => [
      ...values.map((value) => ({ ...order, [field]: value })),
      ...(MAY_BE_EMPTY.has(field) ? [order] : []),
    ]);
  }
  return orders;
}

/** Returns the names of the fields that the page asks for. */
async function namesOn(path: string): Promise<string[]> {
  const { text } = await panel.get(path);
  const [form] = /<form[^>]*action="[^"]*\/order\/[^]*?<\/form>/.exec(text) ?? [""];
  return [...form.matchAll(/<(?:input|textarea)[^>]*? name="([^"]*)"/g)].map(([, name]) => name!);
}

/** Returns the last order without what differs between two databases. */
function lastOrder(world: TestDatabase): object {
  const [order] = world.query(
    "SELECT service_id, link, quantity, charge_micros, extra, status FROM orders ORDER BY order_id DESC LIMIT 1",
  );
  return order!;
}

const orderCount = (world: TestDatabase) => world.query("SELECT order_id FROM orders").length;

const CASES = SERVICE_TYPES.flatMap((type, index) =>
  filledIn(type).map((fields) => {
    const given = Object.entries(fields).map(
      ([name, value]) => `${name}=${value.split("\n").join()}`,
    );
    return { type, number: String(index + 1), fields, given: given.join(" ") };
  }),
);

test.each(CASES)(
  "$type with $given is the same order by the page and by /api/v2",
  async ({ type, number, fields }) => {
    const before = [orderCount(panel), orderCount(service)];
    const path = `/users/alice/order/${type}`;
    // A browser sends every field of the form, also those that were left empty.
    const names = await namesOn(path);
    const empty = Object.fromEntries(names.map((name) => [name, ""]));
    expect(names).toEqual(expect.arrayContaining(Object.keys(fields)));
    const { status } = await panel.confirm(path, { ...empty, ...fields });
    const { body } = await smm("add", { service: number, ...fields });
    const isPlaced = body.order !== undefined;
    if (typeTerms(type).fields.every((field) => field in fields)) expect(isPlaced).toBe(true);
    expect(status).toBe(isPlaced ? 303 : 422);
    const placed = isPlaced ? 1 : 0;
    expect([orderCount(panel), orderCount(service)]).toEqual(before.map((count) => count + placed));
    if (isPlaced) expect(lastOrder(panel)).toEqual(lastOrder(service));
  },
);
