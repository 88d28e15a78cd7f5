// Two servers of one PostgreSQL database that get the same events of Stripe at the same time.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestService } from "../support/worlds/service.ts";
import type { Service } from "../../src/server/serve.ts";
import { type Market, openMarket } from "./stripe-cases/world.ts";

let market: Market;
let other: Service;
beforeAll(async () => {
  market = await openMarket();
  const { location } = market.service;
  const settings = { portal: true, stripeApi: market.local.url, server: "second" };
  other = await startTestService({ ...location, ...settings });
});
afterAll(async () => {
  await other.stop();
  await market.stop();
});

test("credit a payment once, and count its refunds and disputes once", async () => {
  const { local, service } = market;
  const urls = [service.url, other.url];
  for (let round = 0; round < 20; round += 1) {
    const world = await market.world();
    const everywhere = async (type: string) => {
      const event = local.event(type);
      const address = local.to.endpoint!;
      const { pathname } = new URL(address.url);
      const deliveries = urls.flatMap((url) => [0, 1].map(() => ({ url: url + pathname })));
      const answers = await Promise.all(
        deliveries.map((delivery) => local.deliver(event, { path: delivery.url })),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    };
    local.account.payByCard(world.reference);
    await everywhere("checkout.session.completed");
    const credited = { state: "paid", balance: 25, transfers: { payment: 25 } };
    expect(await world.outcome()).toMatchObject(credited);
    local.account.refund(world.reference, 1000);
    await everywhere("charge.refunded");
    local.account.dispute(world.reference, { amount: 500 });
    await everywhere("charge.dispute.created");
    const reversed = { state: "disputed", balance: 25, refunded: 10, disputed: 5 };
    expect(await world.outcome()).toMatchObject(reversed);
  }
  const credits = service.query<{ credits: number }>(
    "SELECT count(*) AS credits FROM payment_transfers WHERE kind = 'payment'",
  );
  expect(Number(credits[0]!.credits)).toBe(20);
});
