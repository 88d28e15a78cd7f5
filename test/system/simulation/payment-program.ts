// A payment program that reports what it received by signed notices, often twice, late, with other amounts or currencies,
// and sometimes under an id that it has used before.

import { createHmac } from "node:crypto";
import type { World } from "./world.ts";

const HOUR_MS = 3_600_000;
export const PROGRAM_SECRET = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;

export interface Report {
  payment: string;
  programId: string;
  amountMicros: number;
  currency: string;
  /** Whether a server answered that it is recorded, or that it is no money of this payment, or its second. */
  isAcknowledged: boolean;
  isConflict: boolean;
}

export interface ProgramNotice {
  body: string;
  headers: Headers;
  report: Report | null;
}

export interface PaymentProgram {
  reports: readonly Report[];
  /** A customer comes to pay. */
  visit(payment: { id: string; dueMicros: number }): void;
}

export function createProgram(world: World, send: (notice: ProgramNotice) => void): PaymentProgram {
  const { chance } = world;
  const reports: Report[] = [];
  let numbers = 0;
  const tell = (report: Report, secret = PROGRAM_SECRET) => {
    const { payment, programId: id, amountMicros, currency } = report;
    const amount = (amountMicros / 1_000_000).toFixed(6);
    const body = JSON.stringify({ type: "payment.paid", data: { payment, id, amount, currency } });
    const at = String(Math.floor(world.now() / 1000));
    numbers += 1;
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key)
      .update(`n${numbers}.${at}.${body}`)
      .digest("base64");
    const headers = new Headers({
      "webhook-id": `n${numbers}`,
      "webhook-timestamp": at,
      "webhook-signature": `v1,${signature}`,
    });
    send({ body, headers, report: secret === PROGRAM_SECRET ? report : null });
  };
  const receive = (payment: { id: string; dueMicros: number }) => {
    const kind = chance.number();
    const cents = chance.whole(1, Math.floor((2 * payment.dueMicros) / 10_000));
    const earlier = reports.length > 0 && chance.happens(0.05) ? chance.pick(reports) : null;
    const report: Report = {
      payment: payment.id,
      programId: earlier?.programId ?? `t${reports.length + 1}`,
      amountMicros: kind < 0.8 ? payment.dueMicros : cents * 10_000,
      currency: kind > 0.92 ? "EUR" : "USD",
      isAcknowledged: false,
      isConflict: false,
    };
    reports.push(report);
    world.trace(`the program received ${JSON.stringify(report)}`);
    const times = chance.whole(1, 3);
    for (let time = 0; time < times; time += 1) {
      world.later(chance.whole(0, HOUR_MS), null, () => tell(report));
    }
    if (chance.happens(0.1)) tell({ ...report, amountMicros: 1e12 }, `whsec_${"A".repeat(44)}`);
  };
  return {
    reports,
    visit(payment) {
      if (chance.happens(0.2)) return;
      // Up to ten days: some come when the payment has expired here.
      const latest = chance.happens(0.1) ? 240 * HOUR_MS : 3 * HOUR_MS;
      world.later(chance.whole(0, latest), null, () => receive(payment));
      if (chance.happens(0.06)) world.later(chance.whole(0, latest), null, () => receive(payment));
    },
  };
}
