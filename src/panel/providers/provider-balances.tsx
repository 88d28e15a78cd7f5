// Our balances at providers: as last reported, or asked for now, at one provider or at all at once.

/** @jsxImportSource preact */

import { listProviders, type Provider } from "../../db/providers/providers.ts";
import { counted } from "../../domain/values/text.ts";
import type { ProviderAddress } from "../../providers/protocols.ts";
import { failureText } from "./call-failures.ts";
import { type ProviderBalance, ProviderFailure } from "../../providers/provider.ts";
import { Badge, Cents, Time, Typed } from "../../web/components/shown.tsx";
import type { Redirect } from "../../web/server/results.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";

/** Time limit for a provider when all are asked. */
const ASK_ALL_MS = 10_000;

interface Failure {
  text: string;
  at: number;
}

/** What this server was last told instead of a balance, by provider. Showing a page never calls a provider. */
const failures = new WeakMap<Panel["connect"], Map<number, Failure>>();

export function Balance({ provider, panel }: { provider: Provider; panel: Panel }) {
  const { balanceMicros, balanceCurrency, balanceAt, outOfFundsAt } = provider;
  const failure = failures.get(panel.connect)?.get(provider.providerId);
  return (
    <>
      {balanceMicros === null ? (
        "not asked"
      ) : (
        <>
          <Cents micros={balanceMicros} /> {balanceCurrency} <Time at={balanceAt} />
        </>
      )}
      {isLow(provider) && (
        <>
          {" "}
          <Badge state="low" tone="bad" />
        </>
      )}
      {outOfFundsAt !== null && (
        <>
          {" "}
          <Badge state="out of funds" tone="bad" /> <Time at={outOfFundsAt} />
        </>
      )}
      {failure && (
        <>
          {" "}
          <Badge state="failed" tone="bad" /> <Time at={failure.at} />{" "}
          <small>
            <Typed text={failure.text} />
          </small>
        </>
      )}
    </>
  );
}

function isLow({ balanceMicros, lowBalanceMicros }: Provider): boolean {
  return balanceMicros !== null && lowBalanceMicros !== null && balanceMicros < lowBalanceMicros;
}

/** Asks all active providers at once. What a provider answers instead of a balance is shown beside it. */
export async function refreshBalances(submission: Submission, panel: Panel): Promise<Redirect> {
  const asked = (await submission.read(listProviders)).filter(({ active }) => active);
  const results = await Promise.all(
    asked.map((provider) => askBalance(panel, provider, AbortSignal.timeout(ASK_ALL_MS))),
  );
  const answered = results.filter(({ ok }) => ok).length;
  const failed = results.length - answered;
  return {
    to: "/providers",
    tone: failed === 0 ? "good" : "busy",
    note: `${counted(answered, "balance")} refreshed${failed === 0 ? "" : `, ${failed} failed`}.`,
  };
}

/** Asks for our balance, which tests the address and the key, and records it. */
export async function askBalance(
  panel: Panel,
  provider: ProviderAddress & Pick<Provider, "providerId">,
  stop?: AbortSignal,
): Promise<{ ok: boolean; text: string }> {
  const { providerId } = provider;
  const { balance, text } = await fetchBalance(panel, provider, stop);
  const known = failures.get(panel.connect) ?? new Map<number, Failure>();
  failures.set(panel.connect, known);
  if (!balance) {
    known.set(providerId, { text, at: panel.now() });
    return { ok: false, text: `The test failed: ${text}.` };
  }
  known.delete(providerId);
  await recordBalance(panel, providerId, balance);
  return { ok: true, text: answerText(balance) };
}

export function answerText({ balance, currency }: ProviderBalance): string {
  return `It answers: our balance there is ${`${balance} ${currency}`.trim()}.`;
}

/** Returns the balance, or null and why there is none. */
export async function fetchBalance(
  panel: Panel,
  address: ProviderAddress,
  stop = new AbortController().signal,
): Promise<{ balance: ProviderBalance | null; text: string }> {
  try {
    return { balance: await panel.connect(address).balance(stop), text: "" };
  } catch (error) {
    if (error instanceof ProviderFailure)
      return { balance: null, text: failureText(error.message) };
    if (stop.aborted) return { balance: null, text: `no answer within ${ASK_ALL_MS / 1000} s` };
    throw error;
  }
}

export async function recordBalance(
  panel: Panel,
  providerId: number,
  reported: ProviderBalance,
): Promise<void> {
  await panel.writer.submit("recordProviderBalance", { providerId, ...reported });
}
