// Simulated receivers of webhooks, which fail in every way there is. They report to the auditor what reached them and
// which of their replies was a success.

import type { SendWebhook, WebhookFailure, WebhookReply } from "../../../src/webhooks/sender.ts";
import type { WebhookAuditor } from "./webhook-auditor.ts";
import type { Life, World } from "./world.ts";

const LATENCY_MS = 80;
const EXCHANGE_MS = 15_000;

export interface ReceiversSetup {
  world: World;
  auditor: Pick<WebhookAuditor, "received" | "accepted"> & {
    /** It was replied to with a 410. */
    gone(url: string): void;
  };
  /** How often something goes wrong, 0 to 1; asked anew each time. */
  faults: () => number;
}

/** `dead`: the URL of a receiver that never replies, when all others do too. */
export function createReceivers({ world, auditor, faults }: ReceiversSetup, dead: Set<string>) {
  const { chance } = world;
  const downUntil = new Map<string, number>();
  const goes = (fault: number) => chance.happens(fault * faults());

  /** For one run of the process; what belongs to a dead one never happens. */
  const send =
    (life: Life): SendWebhook =>
    ({ url: address, eventId, body, alert }, stop) =>
      new Promise((resolve) => {
        const url = alert?.telegramChat ?? address;
        let isOver = false;
        const end = (reply: WebhookReply) => {
          if (isOver || life.dead) return;
          isOver = true;
          resolve(reply);
        };
        stop.addEventListener("abort", () => end(failed("stopped")));
        if (goes(0.04)) downUntil.set(url, world.elapsed() + chance.whole(1000, 1_200_000));
        if (faults() > 0 && world.elapsed() < (downUntil.get(url) ?? 0)) {
          const word = chance.pick(["connection", "tls", "dns", "blocked_address"] as const);
          world.later(chance.whole(1, LATENCY_MS), life, () => end(failed(word)));
          return;
        }
        world.later(EXCHANGE_MS, life, () => end(failed("timeout")));
        // Bytes that have left arrive, or not, whether or not the sender still lives.
        const isLost = goes(0.05);
        world.later(chance.whole(1, LATENCY_MS), null, () => {
          if (isLost) return;
          auditor.received(url, eventId, body);
          const reply = dead.has(url) || goes(0.06) ? null : replyTo();
          if (!reply) return;
          if (reply.error === null) auditor.accepted(url, eventId);
          if (reply.httpStatus === 410) auditor.gone(url);
          const latency = chance.whole(1, goes(0.1) ? 20_000 : LATENCY_MS);
          world.later(latency, life, () => end(reply));
        });
      });

  const replyTo = (): WebhookReply => {
    if (!goes(0.2)) return replied(chance.pick([200, 201, 204, 299]), null);
    const retryAfterSeconds = chance.happens(0.5) ? chance.whole(0, 7200) : null;
    const status = chance.pick([400, 404, 429, 500, 502, 503, 410, 301, 308]);
    const error = status < 400 ? "redirect" : "status";
    return { ...replied(status, error), retryAfterSeconds };
  };
  return { send };
}

function replied(httpStatus: number, error: WebhookFailure | null): WebhookReply {
  return { httpStatus, error, response: "ok", retryAfterSeconds: null };
}

function failed(error: WebhookFailure): WebhookReply {
  return { httpStatus: null, error, response: null, retryAfterSeconds: null };
}
