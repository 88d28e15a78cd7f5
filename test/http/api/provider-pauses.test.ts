// A provider whose front end answers orders with an error page: few become unknown, the others wait. docs/specification/delivery.md#provider-pauses.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

const PAGE = { status: 502, body: "<html>502 Bad Gateway</html>" };

let upstream: Upstream;
let market: TestService;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
  market = await openService({ settings: { providerPauseAfter: 3, placeWait: 600_000 } });
  market.user("anna", "1000");
  const { url } = upstream;
  market.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  market.service({ id: "likes", price: "2", provider: { name: "acme", service: "7" } });
  key = market.key("anna", "full").text;
});

afterAll(async () => {
  await upstream.stop();
  await market.stop();
});

let links = 0;
async function order(): Promise<string> {
  links += 1;
  const body = { service: "likes", link: `https://example.com/${links}`, quantity: 100 };
  const answer = await market.call("POST", "/orders", key, body);
  return answer.body.order.status;
}

const count = (placement: string) =>
  market.query<{ orders: number }>(
    "SELECT count(*) AS orders FROM orders WHERE placement = ?",
    placement,
  )[0]!.orders;

test("30 orders answered with a page of 502: three are unknown, 27 are answered at once and wait", async () => {
  upstream.always("add", PAGE);
  for (let orders = 0; orders < 30; orders += 1) expect(await order()).toBe("PENDING");
  expect([count("unknown"), count("queued")]).toEqual([3, 27]);
  expect(upstream.adds()).toHaveLength(3);
});

test("after a balance call they are sent one at a time: another page pauses again, an answer sends all", async () => {
  const actor = { keyId: null, operator: "tester" };
  // Its balance is asked for at once.
  market.run("updateProvider", { name: "acme", changes: { lowBalanceMicros: 1 }, actor } as never);
  const tell = () => {
    market.run("takeDueBalances", null);
    return market.run("recordProviderBalance", { providerId: 1, balance: 5, currency: "USD" });
  };
  tell();
  await until(() => count("unknown") === 4);
  expect([count("queued"), upstream.adds().length]).toEqual([26, 4]);
  upstream.always("add", null);
  market.run("setProviderPaused", { name: "acme", paused: false, actor } as never);
  await until(() => count("placed") === 26);
  expect([count("queued"), count("unknown")]).toEqual([0, 4]);
});
