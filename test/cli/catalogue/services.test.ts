// `admin service …` with a provider.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openShop } from "../../support/worlds/shop.ts";
import { seedProvider } from "../../support/seeds/shop-orders.ts";
import { startUpstream, type Upstream } from "../../support/peers/upstream.ts";

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

const shopOf = () => seedProvider(openShop(), upstream);

test("provider and provider service are set together when a service is made, changed or imported", async () => {
  const shop = shopOf();
  const terms = ["--name", "N", "--price", "1", "--min", "1", "--max", "2"];
  const create = (...more: string[]) =>
    shop.cli("admin", "service", "create", ...terms, "--json", ...more);
  const { json: made } = await create("--provider", "acme", "--provider-service", "9");
  expect(made).toMatchObject({ provider: "acme", providerService: "9" });
  expect((await create("--provider", "acme")).code).toBe(2);
  expect((await create("--provider-service", "9")).code).toBe(2);
  expect((await create("--provider", "nobody", "--provider-service", "9")).code).toBe(1);
  const update = (id: string, ...more: string[]) =>
    shop.cli("admin", "service", "update", id, "--json", ...more);
  expect((await update(made.id, "--provider-service", "10")).json).toMatchObject({
    providerService: "10",
  });
  expect((await update("followers", "--provider-service", "10")).code).toBe(1);
  expect(
    (await update("followers", "--provider", "acme", "--provider-service", "8")).json,
  ).toMatchObject({
    provider: "acme",
    providerService: "8",
  });
  const file = `${shop.folder}/catalogue.csv`;
  const importing = async (rows: string) => {
    await Bun.write(file, `name,price,min,max,provider,providerService\n${rows}`);
    return shop.cli("admin", "service", "import", file);
  };
  expect((await importing("A,1,1,2,acme,5\nB,1,1,2,,\n")).code).toBe(0);
  const nobody = await importing("C,1,1,2,,\nD,1,1,2,nobody,5\n");
  expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining("line 3")]);
  expect((await importing("C,1,1,2,acme,\n")).code).toBe(1);
});
