// A short run of what `bun run fuzz` does at length against the binary.

import { expect, test } from "bun:test";
import { fuzz } from "../../support/random/fuzz.ts";
import { openService } from "../../support/worlds/service.ts";

const REQUESTS = 1500;

test("any bytes: a response or a closed connection, no 500, no change without a 200", async () => {
  const service = await openService();
  service.user("anna", "1000000");
  service.user("cleo", "0.01", "anna");
  const { text: key } = service.key("anna", "full");
  service.service({ id: "s", price: "1", min: 1, max: 10 });
  const target = {
    url: service.url,
    key,
    service: "s",
    username: "cleo",
    database: service,
  };
  const seed = Date.now() % 2 ** 31;
  const { statuses, changes } = await fuzz(target, REQUESTS, seed);
  expect([seed, changes > 0, Object.keys(statuses).length > 5]).toEqual([seed, true, true]);
  await service.stop();
});
