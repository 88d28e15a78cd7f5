// Random commands about users, keys, the catalogue and what a server does by itself.

import type { CommandInput } from "../../../src/operations/batch/commands.ts";
import {
  OPERATOR,
  PROVIDERS,
  type RandomCommand,
  RandomParts,
  SERVICES,
  USERNAMES,
} from "./random-parts.ts";
import { below } from "./seeded.ts";

export const SERVERS = ["a", "b", "c"].map((letter) => letter.repeat(24));
/** When the tests begin. */
export const LONG_AGO = 40 * 24 * 3_600_000;

export class RandomChores extends RandomParts {
  protected catalogue(): RandomCommand {
    const id = this.pick(SERVICES);
    const username = this.pick(USERNAMES);
    const actor = OPERATOR;
    switch (below(this.random, 12)) {
      case 0:
        return this.service(id);
      case 6: {
        const route = {
          id,
          provider: this.pick(PROVIDERS),
          providerService: this.pick(["7", "8"]),
        };
        const priority = this.chance(0.5) ? below(this.random, 4) : null;
        return this.command("putRoute", () => ({ ...route, priority, actor }));
      }
      case 7: {
        const route = {
          id,
          provider: this.pick(PROVIDERS),
          providerService: this.pick(["7", "8"]),
        };
        return this.command("removeRoute", () => ({ ...route, actor }));
      }
      case 1: {
        const priceMicros = below(this.random, 30_000);
        const changes = this.chance(0.5) ? { priceMicros } : { min: 1 + below(this.random, 950) };
        return this.command("updateService", () => ({ id, changes, actor }));
      }
      case 2: {
        const active = this.chance(0.7);
        return this.command("setServiceActive", () => ({ id, active, actor }));
      }
      case 3: {
        const priceMicros = this.chance(0.7) ? below(this.random, 30_000) : null;
        return this.command("grantService", () => ({ id, username, priceMicros, actor }));
      }
      case 4:
        return this.command("revokeService", () => ({ id, username, actor }));
      case 5: {
        const name = this.pick(PROVIDERS);
        const active = this.chance(0.8);
        return this.command("setProviderActive", () => ({ name, active, actor }));
      }
      case 8: {
        // Rarely one that has neither orders nor grants.
        const gone = this.chance(0.5) ? id : `${id}-${below(this.random, 9)}`;
        return this.command("deleteService", () => ({ id: gone, actor }));
      }
      case 9: {
        const priceMicros = below(this.random, 30_000);
        const rows = [
          { id, priceMicros },
          { id: `${id}-${below(this.random, 9)}`, max: 1 + below(this.random, 2000) },
        ];
        return this.command("importServices", () => ({ services: rows, update: true, actor }));
      }
      case 10: {
        const grants = [id, this.pick(SERVICES)].map((each) => ({
          id: each,
          username,
          priceMicros: this.chance(0.7) ? below(this.random, 30_000) : null,
        }));
        return this.command("importGrants", () => ({ grants, actor }));
      }
      default: {
        // Some of them break off after the first of them was written.
        const services = [this.terms(`${id}-${below(this.random, 9)}`), this.terms(id)];
        return this.command("importServices", () => ({ services, actor }), [this.id()]);
      }
    }
  }

  protected account(): RandomCommand {
    const username = this.pick(USERNAMES);
    if (this.chance(0.3)) {
      const parent = this.chance(0.7) ? this.pick(USERNAMES).toUpperCase() : null;
      return this.user(username, parent);
    }
    if (this.chance(0.2)) {
      const discountPpm = this.pick([0, 1, 333_333, 1_000_000]);
      return this.command("setDiscount", () => ({ username, discountPpm, actor: OPERATOR }));
    }
    const amountMicros = 1 + below(this.random, 2_000_000);
    return this.credit(this.chance(0.7) ? "creditUser" : "debitUser", username, amountMicros);
  }

  protected keyChange(): RandomCommand {
    const id = this.pick(this.keys);
    const actor = OPERATOR;
    switch (below(this.random, 7)) {
      case 0:
        return this.key(this.pick(USERNAMES));
      case 4: {
        const lifetimeMilliseconds = this.chance(0.5) ? null : 5_000_000;
        const label = `l${below(this.random, 5)}`;
        const limit = () => this.pick([null, 300_000, 900_000]);
        const changes = this.pick<CommandInput<"updateKey">["changes"]>([
          { label },
          { lifetimeMilliseconds },
          { rechargeLimitMicros: limit() },
          { rechargeDailyMicros: limit() },
        ]);
        return this.command("updateKey", () => ({ id, changes, actor }));
      }
      case 1: {
        const active = this.chance(0.8);
        return this.command("setKeyActive", () => ({ id, active, actor }));
      }
      case 2: {
        // Rarely one that callers use.
        const old = this.chance(0.1) ? id : this.keys.at(-1)!;
        const replacement = this.id();
        this.keys.push(replacement);
        const graceMilliseconds = this.chance(0.5) ? 0 : 5_000_000;
        const input = { id: old, graceMilliseconds, ...this.hash(), actor };
        return this.command("rotateKey", () => input, [replacement]);
      }
      case 3:
        return this.command("endExpiredKeys", () => null);
      case 5: {
        const day = below(this.random, 100);
        const counts = [...new Set([id, this.pick(this.keys)])].map((each, errors) => ({
          id: each,
          requests: 1 + below(this.random, 5),
          errors,
        }));
        return this.command("countKeyRequests", () => ({ day, counts }));
      }
      default: {
        const uses = [id, this.pick(this.keys)].map((each) => ({
          id: each,
          usedAt: LONG_AGO + below(this.random, 100_000_000),
        }));
        return this.command("recordKeyUsage", () => ({ uses }));
      }
    }
  }

  protected chore(): RandomCommand {
    const server = this.pick(SERVERS);
    switch (below(this.random, 8)) {
      case 0:
        return this.command("markInterruptedUnknown", () => ({ cause: "killed", server }));
      case 1: {
        const schedules = { pollIntervalMs: 1e9, submitBackoffLimitMs: 100 };
        return this.command("clampSchedules", () => schedules);
      }
      case 2: {
        const providerId = this.chance(0.8) ? null : 999_999;
        const name = this.pick(PROVIDERS);
        return this.command("noteProviderSuccess", ({ providers }) => ({
          providerId: providerId ?? providers.get(name)!,
        }));
      }
      case 3:
        // All of them: which of one age go first is nowhere said.
        return this.command("expireIdempotencyRecords", () => ({ limit: 100_000 }));
      case 4: {
        const milliseconds = 100_000_000;
        const seen = below(this.random, 4) * milliseconds;
        return this.command("addUptime", () => ({ milliseconds, seen }));
      }
      case 5:
        return this.command("endLease", () => ({ id: server }));
      case 6:
        return this.command("probe", () => undefined);
      default: {
        // As it was never seen: what it takes for ended has renewed its lease since.
        const ended = this.chance(0.2) ? [{ id: this.pick(SERVERS), leaseUntil: 1 }] : [];
        return this.command("renewLease", () => ({ id: server, name: server, ended }));
      }
    }
  }
}
