// What random commands are made of: choices, ids, and the commands that others need.

import type {
  CommandInput,
  CommandName,
  CommandRequest,
} from "../../../src/operations/batch/commands.ts";
import {
  mayDripFeed,
  SERVICE_TYPES,
  standardUnit,
} from "../../../src/domain/catalogue/service-types.ts";
import { below, type Random } from "./seeded.ts";

export const PROVIDERS = ["acme", "bulk"];
export const USERNAMES = ["anna", "Bert", "carl", "dora", "emil", "frau"];
export const SERVICES = ["likes", "views", "plays", "calls", "shares"];
export const OPERATOR = { keyId: null, operator: "tester" };

/** The numbers of what has an id on every engine. */
export interface Names {
  /** By username in lower case. */
  accounts: ReadonlyMap<string, number>;
  /** By the order's id, in the order of the numbers. */
  orders: ReadonlyMap<string, number>;
  /** The latest attempt of an order, by the order's id. */
  attempts: ReadonlyMap<string, number>;
  providers: ReadonlyMap<string, number>;
  /** Requests for orders. */
  requests: ReadonlyMap<string, number>;
  /** Where each order stands with its provider, by the order's id. */
  placements: ReadonlyMap<string, string>;
  /** The number of the provider that each order is at; null of a manual one. */
  orderProviders: ReadonlyMap<string, number | null>;
}

export type RandomCommand = (names: Names) => CommandRequest;

export class RandomParts {
  protected readonly keys: string[] = [];

  constructor(readonly random: Random) {}

  /** With the keys of another, whose commands made them. */
  callAs(other: RandomParts): void {
    this.keys.push(...other.keys);
  }

  protected pick<T>(values: readonly T[]): T {
    return values[below(this.random, values.length)]!;
  }

  protected chance(share: number): boolean {
    return this.random() < share;
  }

  protected id(): string {
    return Array.from({ length: 24 }, (_, place) =>
      (place === 0 ? 10 + below(this.random, 26) : below(this.random, 36)).toString(36),
    ).join("");
  }

  protected command<Name extends CommandName>(
    name: Name,
    input: (names: Names) => CommandInput<Name>,
    ids: string[] = [],
  ): RandomCommand {
    return (names) => ({ name, input: structuredClone(input(names)), ids: [...ids] });
  }

  protected user(username: string, parent: string | null): RandomCommand {
    const input = { username, name: username, parent, actor: OPERATOR };
    return this.command("createUser", () => input, [this.id()]);
  }

  protected credit(
    name: "creditUser" | "debitUser",
    username: string,
    amountMicros: number,
  ): RandomCommand {
    const texts = {
      note: this.chance(0.5) ? "paid" : null,
      publicNote: this.chance(0.3) ? "told" : null,
    };
    // The same reference may come with another amount: refused.
    const reference = this.chance(0.4) ? `a${below(this.random, 6)}` : null;
    const micros = reference === null || this.chance(0.1) ? amountMicros : 1000;
    const input = { username, amountMicros: micros, reference, ...texts };
    return this.command(name, () => ({ ...input, actor: OPERATOR }));
  }

  protected hash(): { hash: string; start: string } {
    return { hash: `${this.id()}${this.id()}${this.id()}`.slice(0, 64), start: "rk_12345" };
  }

  protected key(username: string): RandomCommand {
    const id = this.id();
    this.keys.push(id);
    const isFirst = this.keys.length <= 3;
    const type =
      isFirst || this.chance(0.8) ? ("full" as const) : this.pick(["order", "recharge"] as const);
    const reach = this.chance(0.5) ? ("all" as const) : ("children" as const);
    const lifetimeMilliseconds =
      !isFirst && this.chance(0.3) ? 1 + below(this.random, 10_000_000) : null;
    const input = { username, type, reach, label: "", lifetimeMilliseconds, ...this.hash() };
    return this.command("createKey", () => ({ ...input, actor: OPERATOR }), [id]);
  }

  protected service(id: string): RandomCommand {
    const ids = [this.id()];
    const input = this.terms(this.chance(0.1) ? null : id);
    return this.command("createService", () => ({ ...input, actor: OPERATOR }), ids);
  }

  protected terms(id: string | null) {
    const names = [...PROVIDERS, ...PROVIDERS, "nobody"];
    const provider = this.chance(0.7) ? { provider: { name: this.pick(names), service: "7" } } : {};
    const type = this.chance(0.6) ? "default" : this.pick(SERVICE_TYPES);
    const per =
      type === "default" ? this.pick(["1", "1000", "order"] as const) : standardUnit(type);
    const dripfeed = mayDripFeed({ type, per }) && this.chance(0.4);
    const priceMicros = below(this.random, 30_000);
    const isPrivate = this.chance(0.2);
    return {
      id,
      name: `s${id}`,
      priceMicros,
      per,
      min: 2,
      max: 900,
      ...(this.chance(0.7) ? { cancel: true, refill: true, refillDays: 400 } : {}),
      private: isPrivate,
      type,
      dripfeed,
      ...provider,
    };
  }
}
