// What a simulated provider does with requests for its orders: it takes them on or not, cancels at once, late or never,
// finishes refills or rejects them, and numbers some of them twice.

import type { RequestAuditor } from "./request-auditor.ts";
import type { World } from "./world.ts";

/** An order as far as it can be cancelled. */
export interface Cancellable {
  link: string;
  placedAt: number;
  endsAfter: number;
  end: string;
}

interface Refill {
  link: string;
  endsAt: number;
  isRejected: boolean;
}

export type Answer = { body: unknown; heard: () => void };

export function createUpstreamRequests(
  world: World,
  auditor: RequestAuditor,
  goes: (fault: number) => boolean,
) {
  const { chance } = world;
  const refills = new Map<string, Refill[]>();
  const firstNumber = chance.whole(1, 9) * 1000;
  const nothing = () => {};

  const cancel = (number: string, order: Cancellable | undefined): Answer => {
    if (!order)
      return {
        body: [{ order: Number(number), cancel: { error: "Incorrect order ID" } }],
        heard: nothing,
      };
    const { link } = order;
    auditor.received(link, "cancel");
    if (chance.happens(0.3)) {
      const error = "Cancel is not possible";
      const body = chance.happens(0.5) ? { error } : [{ order: number, cancel: { error } }];
      return { body, heard: () => auditor.heard(link, "cancel", "refused") };
    }
    const age = world.elapsed() - order.placedAt;
    // A third of them complete anyway.
    if (age < order.endsAfter && chance.happens(0.7)) {
      order.end = chance.pick(["CANCELLED", "CANCELLED", "PARTIAL"]);
      order.endsAfter = age + chance.whole(0, 1_200_000);
    }
    const entry = { order: Number(number), cancel: chance.pick<unknown>([1, "1"]) };
    return {
      body: chance.happens(0.7) ? [entry] : entry,
      heard: () => auditor.heard(link, "cancel", "accepted"),
    };
  };

  const refill = (order: Cancellable | undefined): Answer => {
    if (!order) return { body: { error: "Incorrect order ID" }, heard: nothing };
    const { link } = order;
    auditor.received(link, "refill");
    if (chance.happens(0.3)) {
      return {
        body: { error: "Refill is not possible" },
        heard: () => auditor.heard(link, "refill", "refused"),
      };
    }
    const number = String(firstNumber + Math.max(1, refills.size + (chance.happens(0.1) ? 0 : 1)));
    const taken: Refill = {
      link,
      endsAt: world.elapsed() + chance.whole(0, 2_400_000),
      isRejected: chance.happens(0.3),
    };
    refills.set(number, [...(refills.get(number) ?? []), taken]);
    return {
      body: { refill: chance.happens(0.5) ? number : Number(number) },
      heard: () => auditor.heard(link, "refill", "accepted"),
    };
  };

  const statusOf = (number: string): { word: unknown; heard: () => void } => {
    const found = refills.get(number);
    const [first] = found ?? [];
    if (!found || !first) return { word: { error: "Refill not found" }, heard: nothing };
    if (goes(0.2)) return { word: chance.pick<unknown>(["Half way", 3, null, ""]), heard: nothing };
    if (world.elapsed() < first.endsAt) {
      return { word: chance.pick(["Pending", "In progress", "in_progress"]), heard: nothing };
    }
    const what = first.isRejected ? "rejected" : "completed";
    const word = first.isRejected ? chance.pick(["Rejected", "canceled"]) : "Completed";
    return {
      word,
      heard() {
        for (const { link } of found) auditor.heard(link, "refill", what);
      },
    };
  };

  const refillStatus = (form: Record<string, string>): Answer => {
    const single = form["refill"];
    if (single !== undefined) {
      const { word, heard } = statusOf(single);
      return { body: { status: word }, heard };
    }
    const heards: (() => void)[] = [];
    const body = form["refills"]!.split(",").flatMap((number) => {
      if (goes(0.05)) return [];
      const { word, heard } = statusOf(number);
      heards.push(heard);
      return { refill: Number(number), status: word };
    });
    return {
      body,
      heard() {
        for (const heard of heards) heard();
      },
    };
  };

  return {
    /** Returns null unless the action is a request. `find`: an order by its number. */
    answer(
      form: Record<string, string>,
      find: (number: string) => Cancellable | undefined,
    ): Answer | null {
      switch (form["action"]) {
        case "cancel":
          return cancel(form["orders"]!, find(form["orders"]!));
        case "refill":
          return refill(find(form["order"]!));
        case "refill_status":
          return refillStatus(form);
        default:
          return null;
      }
    },
    hasEnded: (number: string) =>
      world.elapsed() >= (refills.get(number)?.[0]?.endsAt ?? Number.POSITIVE_INFINITY),
  };
}
