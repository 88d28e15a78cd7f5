// Asks providers for our balance: those with a threshold, each at most every BALANCE_INTERVAL_MS, and those that are
// paused, because a reply ends the pause. Also ends pauses whose time is over. The alert about a low balance: domain/alerts/provider-conditions.ts.

import { listProviders, type Provider } from "../db/providers/providers.ts";
import { isBalanceDue } from "../domain/alerts/alerts.ts";
import { isPauseOver } from "../domain/providers/provider-pauses.ts";
import { ProviderFailure } from "../providers/provider.ts";
import { oneAtATime } from "../scheduling/one-at-a-time.ts";
import type { DeliveryDeps } from "./provider-worker.ts";
import type { Tick, Ticker } from "../scheduling/ticker.ts";

const CHECK_MS = 10_000;

export interface BalanceDeps extends Pick<
  DeliveryDeps,
  "store" | "writer" | "log" | "clock" | "connect"
> {
  ticker: Pick<Ticker, "add">;
  /** Whether this server asks the providers on behalf of all servers. */
  isLeader: () => boolean;
}

export interface BalanceService {
  /** Aborts the calls in flight and waits for them. */
  stop(): Promise<void>;
}

export function startProviderBalances(deps: BalanceDeps): BalanceService {
  const { store, writer, log, clock, connect, isLeader } = deps;
  const stop = new AbortController();
  let lookedAt = Number.NEGATIVE_INFINITY;

  const ask = async (provider: Provider): Promise<void> => {
    const { providerId, name } = provider;
    try {
      const { balance, currency } = await connect(provider).balance(stop.signal);
      const reported = { providerId, balance, currency };
      const { isResumed } = await writer.submit("recordProviderBalance", reported);
      if (isResumed)
        log.info({ provider: name }, "submissions continue: the provider reports our balance");
    } catch (error) {
      if (stop.signal.aborted) return;
      // The key is masked in the message.
      const cause = error instanceof ProviderFailure ? error.message : String(error);
      log.warn({ provider: name, cause }, "our balance at a provider is unknown");
    }
  };
  const looking = oneAtATime(async () => {
    try {
      const providers = await store.read(listProviders);
      if (providers.some((provider) => isPauseOver(provider, clock.now()))) {
        const resumed = await writer.submit("endTimedPauses", null);
        for (const provider of resumed) {
          log.info({ provider }, "submissions continue: the time of the pause is over");
        }
      }
      if (!providers.some((provider) => isBalanceDue(provider, clock.now()))) return;
      const due = await writer.submit("takeDueBalances", null);
      await Promise.all(providers.filter(({ providerId }) => due.includes(providerId)).map(ask));
    } catch (error) {
      log.warn({ error: String(error) }, "balances at providers could not be requested yet");
    }
  });
  const tick: Tick = (now) => {
    if (isLeader() && Math.abs(now - lookedAt) >= CHECK_MS) {
      lookedAt = now;
      void looking.run();
    }
    return Promise.resolve(null);
  };
  const endTicks = deps.ticker.add(tick);
  return {
    async stop() {
      endTicks();
      stop.abort();
      await looking.idle();
    },
  };
}
