// A user with a live key and a test key, and services that are delivered by hand and by a provider.

import type { CommandInput } from "../../../src/operations/batch/commands.ts";
import { OPERATOR } from "../databases/test-database.ts";
import type { Answer } from "../http/api.ts";
import type { ClockedService } from "../worlds/service.ts";

export interface Sandbox extends ClockedService {
  /** Keys of anna, who has 100 USD, and of her test account, which has 1,000 USD. */
  live: string;
  test: string;
  /** Places 1,000 of `likes` (10 USD per 1,000) with the test key. */
  order(link: string, fields?: object): Promise<Answer>;
  /** As `GET /orders/:id` has it, with the test key. */
  shown(orderId: number): Promise<Record<string, unknown>>;
  /** In USD, with the test key. */
  testBalance(): Promise<number>;
}

/** `likes` is manual, `views` delivered by a provider where nobody listens. */
export function seedSandbox(service: ClockedService): Sandbox {
  service.user("anna", "100");
  service.user("bert", "50");
  service.user("cleo", "7", "anna");
  service.service({ id: "likes", price: "10" });
  const provider = { name: "acme", protocol: "smm-api", url: "http://127.0.0.1:1/", key: "secret" };
  service.run("createProvider", provider);
  service.service({ id: "views", price: "10", provider: { name: "acme", service: "7" } });
  const live = service.key("anna", "full").text;
  const test = service.key("anna", "full", "all", true).text;
  return Object.assign(service, {
    live,
    test,
    order: (link: string, fields?: object) =>
      service.call("POST", "/orders", test, { service: "likes", link, quantity: 1000, ...fields }),
    shown: async (orderId: number) =>
      (await service.call("GET", `/orders/${orderId}`, test)).body.order,
    testBalance: async () => (await service.call("GET", "/balance", test)).body.balance,
  });
}

/** The operator's command, at the clock's time. */
export function operate<Name extends "settleOrder" | "transitionOrder">(
  sandbox: Sandbox,
  name: Name,
  input: Omit<CommandInput<Name>, "actor">,
): void {
  const given = { ...input, actor: OPERATOR } as CommandInput<Name>;
  sandbox.execute(name, given, sandbox.clock.now());
}
