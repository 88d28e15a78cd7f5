// Random commands of every kind, for tests that compare engines. They name orders, keys and users by ids that are the same
// on every engine; `Names` has the numbers that one engine gave them.

import type { SubmissionResult } from "../../../src/domain/delivery/deliveries.ts";
import type { PlaceOrder } from "../../../src/operations/orders/orders.ts";
import { RandomChores, SERVERS } from "./random-chores.ts";
import {
  type Names,
  OPERATOR,
  PROVIDERS,
  type RandomCommand,
  SERVICES,
  USERNAMES,
} from "./random-parts.ts";
import { below } from "./seeded.ts";

const CLAIMS = 25;
const REFERENCES = 30;

/** The extra fields of the types that need some. */
const FIELDS = {
  comments: 'one\n"two"\né\\three',
  usernames: "u\nv",
  keywords: "k",
  hashtags: "#h",
  hashtag: "#h",
  username: "u",
  media: "m",
  answer_number: 2,
  groups: "g",
  country: "US",
  device: "1",
  type_of_traffic: "3",
  google_keyword: "",
  referring_url: "",
};

export class RandomCommands extends RandomChores {
  protected mayAccept = true;

  /** What the others need. */
  first(): RandomCommand[] {
    const commands: RandomCommand[] = [];
    for (const name of PROVIDERS) {
      const provider = { name, protocol: "smm-api", url: "https://p.example", key: "k" };
      commands.push(this.command("createProvider", () => ({ ...provider, actor: OPERATOR })));
    }
    for (const username of USERNAMES.slice(0, 3)) {
      commands.push(this.user(username, null));
      commands.push(this.credit("creditUser", username, 20_000_000));
      commands.push(this.key(username));
    }
    for (const id of SERVICES.slice(0, 3)) {
      const terms = { ...this.terms(id), private: false };
      const provider = { name: PROVIDERS[0]!, service: "7" };
      const input = { ...terms, ...(terms.provider && { provider }), actor: OPERATOR };
      commands.push(this.command("createService", () => input));
    }
    return commands;
  }

  batch(limit: number): RandomCommand[] {
    // Orders that were accepted at one time are polled in no order that is fixed.
    this.mayAccept = true;
    return Array.from({ length: 1 + below(this.random, limit) }, () => this.any());
  }

  protected any(): RandomCommand {
    const kinds = [
      ...Array<() => RandomCommand>(8).fill(() => this.place()),
      ...Array<() => RandomCommand>(6).fill(() => this.placeOnce()),
      ...Array<() => RandomCommand>(3).fill(() => this.placeSeveral()),
      ...Array<() => RandomCommand>(3).fill(() => this.recharge()),
      ...Array<() => RandomCommand>(4).fill(() => this.move()),
      ...Array<() => RandomCommand>(8).fill(() => this.start()),
      ...Array<() => RandomCommand>(8).fill(() => this.finish()),
      ...Array<() => RandomCommand>(4).fill(() => this.report()),
      ...Array<() => RandomCommand>(3).fill(() => this.catalogue()),
      ...Array<() => RandomCommand>(3).fill(() => this.account()),
      ...Array<() => RandomCommand>(2).fill(() => this.keyChange()),
      ...Array<() => RandomCommand>(2).fill(() => this.chore()),
      ...Array<() => RandomCommand>(4).fill(() => this.ask()),
      ...Array<() => RandomCommand>(5).fill(() => this.serveRequest()),
    ];
    return this.pick(kinds)();
  }

  /** An order of a key whose account nobody but the engine knows: that of one of the first users. */
  protected order(
    names: Names,
    of: { username: string; keyId: string; terms: object },
  ): PlaceOrder {
    const resellerAccount = names.accounts.get(of.username.toLowerCase()) ?? 1;
    return { resellerAccount, keyId: of.keyId, ...of.terms } as PlaceOrder;
  }

  protected orderTerms() {
    const service = this.pick(SERVICES);
    const quantity = this.chance(0.1) ? 1 : 2 + below(this.random, 900);
    const reference = this.chance(0.4) ? `r${below(this.random, REFERENCES)}` : null;
    const fed = this.chance(0.2) ? { runs: 1 + below(this.random, 3), interval: 60 } : {};
    const given = this.chance(0.6) ? { given: { ...FIELDS, ...fed } } : {};
    const named = this.chance(0.1) ? null : quantity;
    return { service, link: 'https://x.example/"é\\', quantity: named, reference, ...given };
  }

  protected caller(): { username: string; keyId: string } {
    // The first keys belong to the first users.
    const place = below(this.random, 3);
    return { username: USERNAMES[place]!, keyId: this.keys[place]! };
  }

  /** `kind`: of request, which its hash tells. */
  protected claim(kind: "order" | "orders" | "recharge" | "request") {
    const number = below(this.random, CLAIMS);
    const other = this.chance(0.1) ? "f" : "0";
    return { key: `claim-${number}`, requestHash: `${kind} ${number} `.padEnd(64, other) };
  }

  protected place(): RandomCommand {
    const of = { ...this.caller(), terms: this.orderTerms() };
    const name = this.chance(0.5) ? "placeOrder" : "placeOrderForResponse";
    return this.command(name, (names) => this.order(names, of), [this.id()]);
  }

  protected placeOnce(): RandomCommand {
    const of = { ...this.caller(), terms: this.orderTerms() };
    const claim = this.claim("order");
    if (this.chance(0.3)) {
      const response = { status: 200, body: '{"status":"late"}' };
      return this.command("recordResponse", (names) => {
        const { resellerAccount } = this.order(names, of);
        return { resellerAccount, key: claim.key, response };
      });
    }
    const input = (names: Names) => ({ order: this.order(names, of), claim });
    const name = this.chance(0.5) ? "placeOrderOnce" : "placeOrderOnceForResponse";
    return this.command(name, input, [this.id()]);
  }

  protected placeSeveral(): RandomCommand {
    const caller = this.caller();
    const several = Array.from({ length: 1 + below(this.random, 4) }, () => this.orderTerms());
    const ids = several.flatMap(() => [this.id()]);
    const entriesOf = (names: Names) => [
      ...several.map((terms) => ({ order: this.order(names, { ...caller, terms }) })),
      { refused: "field_missing" as const, details: { field: "link" } },
    ];
    const { keyId } = caller;
    if (this.chance(0.5))
      return this.command("placeOrders", (names) => ({ keyId, entries: entriesOf(names) }), ids);
    const claim = this.claim("orders");
    return this.command(
      "placeOrdersOnce",
      (names) => {
        const resellerAccount = names.accounts.get(caller.username.toLowerCase())!;
        return { keyId, entries: entriesOf(names), resellerAccount, claim };
      },
      ids,
    );
  }

  protected recharge(): RandomCommand {
    const caller = this.caller();
    const rest = { username: this.pick(USERNAMES), amountMicros: 1 + below(this.random, 900_000) };
    const claim = this.chance(0.5) ? this.claim("recharge") : null;
    const inputOf = (names: Names) => {
      const resellerAccount = names.accounts.get(caller.username.toLowerCase())!;
      return { keyId: caller.keyId, resellerAccount, ...rest };
    };
    if (claim === null) return this.command("recharge", inputOf);
    return this.command("rechargeOnce", (names) => ({ recharge: inputOf(names), claim }));
  }

  /** The id of an order, mostly of a recent one, and of one with that placement where there is any. */
  protected anyOrder(placement: string | null = null): (names: Names) => string {
    const [share, unknown] = [this.random(), this.id()];
    const isAny = placement === null || this.chance(0.1);
    return ({ placements }) => {
      const all = [...placements].filter((each) => isAny || each[1] === placement);
      const recent = all.slice(-12);
      return recent[Math.floor(share * (recent.length + 0.2))]?.[0] ?? unknown;
    };
  }

  protected move(): RandomCommand {
    const order = this.anyOrder();
    const unknown = this.anyOrder("unknown");
    const placed = this.anyOrder("placed");
    const actor = OPERATOR;
    switch (below(this.random, 5)) {
      case 3: {
        const remains = this.chance(0.5) ? below(this.random, 500) : null;
        const texts = { note: null, publicNote: this.chance(0.3) ? "told" : null };
        return this.command("acceptLateReport", (names) => ({
          id: order(names),
          remains,
          ...texts,
          actor,
        }));
      }
      case 4:
        return this.command("dismissLateReports", (names) => ({
          id: order(names),
          note: "n",
          actor,
        }));
      case 0: {
        const to = this.pick(["COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "REFUNDED"] as const);
        const remains = to === "PARTIAL" ? { remains: below(this.random, 500) } : {};
        return this.command("transitionOrder", (names) => ({
          id: order(names),
          to,
          ...remains,
          note: "n",
          actor,
        }));
      }
      case 1: {
        const startCount = this.chance(0.5) ? below(this.random, 500) : null;
        const remains = this.chance(0.5) ? below(this.random, 500) : null;
        return this.command("progressOrder", (names) => ({
          id: order(names),
          startCount,
          remains,
          actor,
        }));
      }
      default: {
        const isPlaced = this.mayAccept && this.chance(0.5);
        if (isPlaced) this.mayAccept = false;
        const isCorrection = isPlaced && this.chance(0.4);
        const providerOrder = isPlaced ? String(1 + below(this.random, 60)) : null;
        return this.command("settleOrder", (names) => ({
          id: isCorrection ? placed(names) : unknown(names),
          providerOrder,
          actor,
        }));
      }
    }
  }

  protected start(): RandomCommand {
    const order = this.anyOrder("queued");
    const server = this.pick(SERVERS);
    const isOther = this.chance(0.05);
    if (this.chance(0.05)) {
      return this.command("moveToNextRoute", (names) => ({
        orderId: names.orders.get(order(names)) ?? 999_999,
        providerId: names.orderProviders.get(order(names)) ?? 999_999,
      }));
    }
    return this.command("startAttempt", (names) => ({
      orderId: names.orders.get(order(names)) ?? 999_999,
      // Mostly the one that the order is queued for.
      providerId: isOther ? 999_999 : (names.orderProviders.get(order(names)) ?? 999_999),
      server,
      placeRetryMs: 3_600_000,
    }));
  }

  protected finish(): RandomCommand {
    const order = this.anyOrder("sending");
    const result = this.result();
    return this.command("finishAttempt", (names) => ({
      orderId: names.orders.get(order(names)) ?? 999_999,
      attemptId: names.attempts.get(order(names)) ?? 999_999,
      result,
      placeRetryMs: 3_600_000,
      backoffMs: 1000,
    }));
  }

  protected result(): SubmissionResult {
    const kind = below(this.random, 6);
    if (kind < 3 && this.mayAccept) {
      this.mayAccept = false;
      return { outcome: "accepted", providerOrder: String(1 + below(this.random, 60)) };
    }
    if (kind === 3) return { outcome: "refused", cause: "no", outOfFunds: this.chance(0.5) };
    return { outcome: kind === 4 ? "not_sent" : "unknown", cause: "a broken connection" };
  }

  /** A request for an order, or for several, of the caller or of another. */
  protected ask(): RandomCommand {
    const { username, keyId } = this.caller();
    const kind = this.pick(["cancel", "cancel", "refill"] as const);
    const [order, other] = [this.anyOrder(), this.anyOrder("queued")];
    const of = (names: Names) => {
      return { resellerAccount: names.accounts.get(username.toLowerCase())!, keyId, kind };
    };
    if (this.chance(0.3)) {
      const idsOf = (names: Names) => [order(names), other(names), "x"];
      const input = (names: Names) => ({ ...of(names), ids: idsOf(names) });
      return this.command("makeRequests", input, [this.id(), this.id(), this.id()]);
    }
    const claim = this.chance(0.4) ? this.claim("request") : null;
    const request = (names: Names) => ({ ...of(names), id: order(names) });
    if (claim === null) return this.command("makeRequest", request, [this.id()]);
    const once = (names: Names) => ({ request: request(names), claim });
    return this.command("makeRequestOnce", once, [this.id()]);
  }

  /** What providers and the operator do with requests. */
  protected serveRequest(): RandomCommand {
    const [share, unknown] = [this.random(), this.id()];
    const idOf = ({ requests }: Names) => {
      const recent = [...requests.keys()].slice(-12);
      return recent[Math.floor(share * recent.length)] ?? unknown;
    };
    const numberOf = (names: Names) => names.requests.get(idOf(names)) ?? 999_999;
    const server = this.pick(SERVERS);
    const kind = below(this.random, 5);
    if (kind < 2) {
      const providerId = below(this.random, 3);
      const input = (names: Names) => ({
        requestId: numberOf(names),
        providerId,
        server,
        placeRetryMs: 1e9,
      });
      return this.command("startRequest", input);
    }
    if (kind === 2) {
      const decision = this.pick(["approve", "decline", "complete"] as const);
      const input = (names: Names) => ({ id: idOf(names), decision, note: null, actor: OPERATOR });
      return this.command("decideRequest", input);
    }
    const outcome = this.pick(["accepted", "refused", "not_sent", "unknown"] as const);
    const result =
      outcome === "accepted"
        ? { outcome, refill: null }
        : { outcome, cause: "a broken connection" };
    const times = { backoffMs: 1000, pollIntervalMs: 60_000 };
    const input = (names: Names) => ({ requestId: numberOf(names), result, ...times });
    return this.command("finishRequest", input);
  }

  protected report(): RandomCommand {
    const provider = this.pick(PROVIDERS);
    const pollIntervalMs = 60_000;
    const jitter = this.random();
    if (this.chance(0.4)) {
      return this.command("takeDuePolls", ({ providers }) => ({
        providerId: providers.get(provider)!,
        limit: 1000,
        pollIntervalMs,
        jitter,
      }));
    }
    const reports = Array.from({ length: 1 + below(this.random, 12) }, () => ({
      order: this.anyOrder("placed"),
      isThere: this.chance(0.9),
      report: {
        word: this.pick(["In progress", "Completed", "Partial", "Canceled", "Failed", "odd"]),
        startCount: this.chance(0.5) ? below(this.random, 900) : null,
        remains: this.chance(0.7) ? below(this.random, 900) : null,
        text: "{}",
      },
      isUnrecognized: this.chance(0.15),
    }));
    // Sometimes names a provider that does not exist, so that the command fails after its writes.
    const isBroken = this.chance(0.1);
    return this.command("recordReports", (names) => ({
      providerId: isBroken ? 999_999 : names.providers.get(provider)!,
      // Only an order that its provider has gets reports.
      reports: reports
        .map(({ order, isThere, isUnrecognized, report }) => ({
          id: isThere ? order(names) : "",
          report: isUnrecognized
            ? { ...report, word: null, isUnrecognized: true as const }
            : report,
        }))
        .filter(({ id }) => id === "" || names.placements.get(id) === "placed")
        .map(({ id, report }) => ({ orderId: names.orders.get(id) ?? 999_999, report })),
      pollIntervalMs,
      jitter,
    }));
  }
}
