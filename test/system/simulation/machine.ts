// What a simulated operator is alerted of besides orders: the machine's disk, and balances at providers.

import type { MachineFacts } from "../../../src/domain/alerts/conditions.ts";
import type { Market } from "./market.ts";
import type { World } from "./world.ts";

const GIB = 1024 ** 3;
const PROVIDERS = ["a", "b"];
/** In micros. */
const THRESHOLD = 50_000_000;

export interface Machine {
  facts(): MachineFacts;
  isDiskLow(): boolean;
  setDiskLow(isLow: boolean): void;
  /** Our balance at each provider, by its name; without an entry there is enough. */
  balances: Map<string, number>;
}

export function createMachine(world: World): Machine {
  let isLow = false;
  return {
    facts: () => ({ freeBytes: isLow ? GIB - 1 : 3 * GIB }),
    isDiskLow: () => isLow,
    balances: new Map(),
    setDiskLow(now) {
      isLow = now;
      world.trace(`the disk is ${now ? "low" : "fine"}`);
    },
  };
}

/** The operator's endpoints, and troubles at random times. */
export function addAlerts(market: Market, troubleMs: number): void {
  const { world, run, alertAuditor, machine } = market;
  const { chance } = world;
  const actor = { keyId: null, operator: "sim" };
  const url = "https://operator.test/";
  const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  run("createAlertEndpoint", { target: { url }, secret, actor });
  alertAuditor.registered(url);
  if (chance.happens(0.5)) {
    const telegramChat = "@operator";
    const token = "123456789:AAExample-token_of_a_bot_in_tests_0";
    run("createAlertEndpoint", { target: { telegramChat }, secret: token, actor });
    alertAuditor.registered(telegramChat);
  }
  for (let count = chance.whole(0, 4); count > 0; count -= 1) {
    const at = chance.whole(0, troubleMs);
    world.later(at, null, () => {
      if (machine.isDiskLow()) return;
      machine.setDiskLow(true);
      alertAuditor.began("disk_low", "disk");
      if (chance.happens(0.8)) {
        world.later(chance.whole(1000, 900_000), null, () => machine.setDiskLow(false));
      }
    });
  }
  for (const [index, name] of PROVIDERS.entries()) {
    if (!chance.happens(0.5)) continue;
    run("updateProvider", { name, changes: { markup: "0", syncEvery: 3_600_000 }, actor });
    for (let count = chance.whole(1, 3); count > 0; count -= 1) {
      world.later(chance.whole(0, troubleMs), null, () => {
        world.trace(`a scheduled sync of ${name} is held`);
        run("holdSync", { providerId: index + 1, held: "a price would change" });
        alertAuditor.began("sync_held", name);
      });
    }
  }
  const { balances } = machine;
  for (const name of PROVIDERS) {
    if (!chance.happens(0.5)) continue;
    run("updateProvider", { name, changes: { lowBalanceMicros: THRESHOLD }, actor });
    for (let count = chance.whole(0, 6); count > 0; count -= 1) {
      const balance = chance.whole(1, 100);
      world.later(chance.whole(0, troubleMs), null, () => {
        const wasLow = (balances.get(name) ?? Infinity) * 1_000_000 < THRESHOLD;
        const isLow = balance * 1_000_000 < THRESHOLD;
        balances.set(name, balance);
        run("recordProviderBalance", {
          providerId: PROVIDERS.indexOf(name) + 1,
          balance,
          currency: "USD",
        });
        world.trace(`the balance at ${name} is ${balance}`);
        if (isLow && !wasLow) alertAuditor.began("provider_balance_low", name);
      });
    }
  }
  alertAuditor.truth(() => ({
    disk_low: machine.isDiskLow() ? ["disk"] : [],
    provider_balance_low: PROVIDERS.filter(
      (name) => (balances.get(name) ?? Infinity) * 1_000_000 < THRESHOLD,
    ),
  }));
}
