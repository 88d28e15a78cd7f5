// Replies to `cancel`, `refill` and `refill_status` in the forms that panels have: yes, no, or not known.

import { describe, expect, test } from "bun:test";
import type { Reply } from "../../src/providers/call.ts";
import { smmApi } from "../../src/providers/smm-api.ts";

const KEY = "s3cret/key+value=";
const never = new AbortController().signal;
const sent: Record<string, string>[] = [];

function api(reply: Reply) {
  return smmApi((form): Promise<Reply> => {
    sent.push(form);
    return Promise.resolve(reply);
  }, KEY);
}
const json = (body: unknown, status = 200): Reply => ({ kind: "json", status, json: body });
const failure = (kind: "not_sent" | "unanswered" | "unreadable"): Reply => {
  return { kind: "failure", failure: kind, cause: `a cause with ${KEY}` };
};
const request = { providerOrder: "9", requestId: 1, link: "l" };

describe("cancel", () => {
  test.each([
    [json([{ order: 9, cancel: 1 }]), "accepted"],
    [json([{ order: "9", cancel: "1" }]), "accepted"],
    [json({ order: 9, cancel: true }), "accepted"],
    [json({ cancel: 1 }), "accepted"],
    [json([{ order: 9, cancel: { error: "Incorrect order ID" } }]), "refused"],
    [json({ cancel: { error: "no" } }), "refused"],
    [json({ error: "no" }), "refused"],
    [json({ error: "no" }, 400), "refused"],
    [json([{ order: 8, cancel: 1 }]), "unknown"],
    [
      json([
        { order: 9, cancel: 1 },
        { order: 8, cancel: 1 },
      ]),
      "unknown",
    ],
    [json({ cancel: 1, error: "no" }), "unknown"],
    [json({ cancel: 0 }), "unknown"],
    [json({ cancel: { error: "" } }), "unknown"],
    [json({ status: "success" }), "unknown"],
    [json("ok"), "unknown"],
    [json(null), "unknown"],
    [json([]), "unknown"],
    [json({ cancel: 1 }, 500), "unknown"],
    [json({ error: "no" }, 502), "unknown"],
    [failure("not_sent"), "not_sent"],
    [failure("unanswered"), "unknown"],
    [failure("unreadable"), "unknown"],
  ] as const)("%j is %s", async (reply, outcome) => {
    const result = await api(reply).cancel(request, never);
    expect(result.outcome).toBe(outcome);
    expect(JSON.stringify(result)).not.toContain(KEY);
    expect(sent.at(-1)).toEqual({ key: KEY, action: "cancel", orders: "9" });
  });
});

describe("refill", () => {
  test.each([
    [json({ refill: "17" }), "17"],
    [json({ refill: 17 }), "17"],
    [json([{ order: 9, refill: 17 }]), "17"],
  ])("%j is refill %s", async (reply, refill) => {
    expect(await api(reply).refill(request, never)).toEqual({ outcome: "accepted", refill });
    expect(sent.at(-1)).toEqual({ key: KEY, action: "refill", order: "9" });
  });

  test.each([
    [json({ error: "Refill is not possible" }), "refused"],
    [json([{ order: 9, refill: { error: "no" } }]), "refused"],
    [json({ refill: true }), "unknown"],
    [json({ refill: "soon" }), "unknown"],
    [json({ refill: 0 }), "unknown"],
    [json({ refill: 1.5 }), "unknown"],
    [json([{ order: 8, refill: 17 }]), "unknown"],
    [failure("not_sent"), "not_sent"],
  ] as const)("%j is %s", async (reply, outcome) => {
    expect((await api(reply).refill(request, never)).outcome).toBe(outcome);
  });
});

describe("refill_status", () => {
  const words = async (reply: Reply, refills: string[]) => {
    const answer = await api(reply).refillStatus(refills, never);
    if ("failed" in answer) return answer.failed;
    return Object.fromEntries([...answer.reports].map(([refill, { word }]) => [refill, word]));
  };

  test("of one is asked by `refill`, of several by `refills`", async () => {
    expect(await words(json({ status: "Completed" }), ["17"])).toEqual({ "17": "Completed" });
    expect(sent.at(-1)).toEqual({ key: KEY, action: "refill_status", refill: "17" });
    const list = [
      { refill: 17, status: "Rejected" },
      { refill: "18", status: "Pending" },
    ];
    expect(await words(json(list), ["17", "18"])).toEqual({ "17": "Rejected", "18": "Pending" });
    expect(sent.at(-1)).toEqual({ key: KEY, action: "refill_status", refills: "17,18" });
  });

  test("an entry without a status changes nothing, and one for another refill is left out", async () => {
    const list = [
      { refill: 17, status: { error: "Refill not found" } },
      { refill: 99, status: "Completed" },
      "odd",
    ];
    expect(await words(json(list), ["17", "18"])).toEqual({ "17": null });
    expect(await words(json({ status: "Completed", error: "no" }), ["17"])).toEqual({ "17": null });
    expect(await words(json({ status: 3 }), ["17"])).toEqual({ "17": null });
  });

  test("a reply without any of them has failed, without the key in its text", async () => {
    for (const reply of [json("ok"), json([]), json({}, 500), failure("unanswered")]) {
      const failed = await words(reply, ["17", "18"]);
      expect(failed).toBeString();
      expect(failed).not.toContain(KEY);
    }
  });
});

test("a service takes a kind of request only if the list explicitly says yes", async () => {
  const listed = { service: 1, name: "L", type: "Default", rate: "1", min: 1, max: 2 };
  const flags: [unknown, boolean][] = [
    [true, true], [1, true], ["1", true], ["true", true], [false, false], [0, false], ["0", false],
    ["no", false], [null, false], [undefined, false], [{}, false],
  ]; // prettier-ignore
  for (const [flag, wanted] of flags) {
    const [service] = await api(json([{ ...listed, cancel: flag, refill: flag }])).services(never);
    expect([flag, service]).toMatchObject([flag, { cancel: wanted, refill: wanted }]);
  }
});
