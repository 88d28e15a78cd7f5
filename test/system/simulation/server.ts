// A process of the service on a market's database, whose commits and answers take time: so it can die before, between and
// after them, and a connection can be lost in the middle.

import { OutcomeUnknownError } from "../../../src/db/port/port.ts";
import { listSandboxOrders, listSandboxRefills } from "../../../src/db/orders/sandbox.ts";
import { Refusal, refusal } from "../../../src/domain/values/error-table.ts";
import { type DeliveryService, startDelivery } from "../../../src/delivery/delivery.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
} from "../../../src/operations/batch/commands.ts";
import type { SandboxDeps } from "../../../src/providers/provider.ts";
import { sandbox } from "../../../src/providers/sandbox.ts";
import { smmApi } from "../../../src/providers/smm-api.ts";
import type { Writer } from "../../../src/writer/writer.ts";
import { startProviderBalances } from "../../../src/delivery/provider-balances.ts";
import { startAlerts } from "../../../src/alerts/alerts.ts";
import { startWebhooks } from "../../../src/webhooks/worker.ts";
import { Finding } from "./auditor.ts";
import { PAUSE_AFTER } from "./auditor.ts";
import type { Market } from "./market.ts";
import { request } from "./orders.ts";
import type { SimulatedProvider } from "./upstream.ts";
import type { Life } from "./world.ts";

/** Only what the world does takes time. */
const NO_TURN = () => Promise.resolve();
const SETTINGS = {
  placeWaitMs: 10_000,
  placeRetryMs: 15 * 60_000,
  pollIntervalMs: 20_000,
  pauseAfter: PAUSE_AFTER,
};
/** How often a connection to the database is lost in a COMMIT that was made. */
const OUTCOME_UNTOLD = 0.003;
/** How often a reseller asks to cancel an order while it is being sent, and how soon. */
const CANCELS_IN_FLIGHT = 0.1;
const IN_FLIGHT_MS = 80;
/** Commands that mostly find nothing to do. */
const UNTRACED: ReadonlySet<CommandName> = new Set([
  "takeDuePolls",
  "takeDueBalances",
  "takeDueRefills",
  "takeDueWebhookDeliveries",
]);

export interface Process {
  life: Life;
  writer: Pick<Writer, "submit">;
  delivery: DeliveryService | null;
}

/** Starts a process on the market's database, as `serve` does. */
export function begin(market: Market, isCalm: () => boolean): Process {
  const { world, store } = market;
  const life: Life = { dead: false };
  const process: Process = {
    life,
    writer: writerOf(market, life, isCalm, () => process.delivery?.ticker.wake()),
    delivery: null,
  };
  world.trace("the process starts");
  const log = {
    info: (fields: object, message: string) =>
      world.trace(`info ${message} ${JSON.stringify(fields)}`),
    warn: (fields: object, message: string) =>
      world.trace(`warn ${message} ${JSON.stringify(fields)}`),
    error: (fields: object, message: string) =>
      world.trace(`error ${message} ${JSON.stringify(fields)}`),
  };
  const deps = {
    store,
    serverId: `start ${(market.starts += 1)}`,
    writer: process.writer,
    log,
    clock: world.clockOf(life),
    random: () => world.chance.number(),
    settings: SETTINGS,
    connect: ({ name, key, protocol }: { name: string; key: string; protocol: string }) =>
      protocol === "sandbox"
        ? sandbox(sandboxOf(market))
        : smmApi(trackSends(market, process, market.providers.get(name)!.send(life)), key, NO_TURN),
  };
  const start = () =>
    startDelivery(deps).then(
      (delivery) => {
        process.delivery = delivery;
        const { ticker } = delivery;
        const send = market.receivers.send(life);
        startWebhooks({ ...deps, ticker, send });
        startProviderBalances({ ...deps, ticker, isLeader: () => true });
        startAlerts({
          ...deps,
          ticker,
          send,
          writer: { ...process.writer, isWritable: () => true },
          isLeader: () => true,
          machine: () => market.machine.facts(),
          lateness: () => delivery.lateness(),
        });
      },
      // The database was not there yet: a supervisor starts it again.
      () => world.later(1000, life, start),
    );
  void start();
  return process;
}

/** The service's own: it is no provider outside. */
function sandboxOf({ world, store }: Market): SandboxDeps {
  return {
    now: () => world.now(),
    orders: async (numbers) => store.read((reader) => listSandboxOrders(reader, numbers)),
    refills: async (numbers) => store.read((reader) => listSandboxRefills(reader, numbers)),
  };
}

function trackSends(
  market: Market,
  process: Process,
  send: ReturnType<SimulatedProvider["send"]>,
): ReturnType<SimulatedProvider["send"]> {
  const { sentAt, world, testAuditor } = market;
  return (form, options) => {
    testAuditor.sent(form);
    const link = form["link"];
    if (form["action"] === "add" && link !== undefined) {
      sentAt.set(link, world.elapsed());
      world.trace(`add ${link} for ${form["quantity"]}`);
      if (world.chance.happens(CANCELS_IN_FLIGHT)) {
        const cancel = () => void request(market, process, link).catch(world.fail);
        world.later(world.chance.whole(0, IN_FLIGHT_MS), null, cancel);
      }
    }
    // The service takes what is found here for an internal error.
    const reply = send(form, options);
    void reply.catch(world.fail);
    return reply;
  };
}

/** A writer whose commits and answers take time, so that the process can die before, between and after them. */
function writerOf(
  market: Market,
  life: Life,
  isCalm: () => boolean,
  onCommit: () => void,
): Pick<Writer, "submit"> {
  const { world } = market;
  const { chance } = world;
  return {
    submit: (name, input) =>
      new Promise((resolve, reject) => {
        world.later(chance.whole(0, 5), life, () => {
          const answer = commit(market, name, input, !isCalm() && chance.happens(0.01));
          const isUntold = !isCalm() && chance.happens(OUTCOME_UNTOLD);
          world.later(chance.whole(0, 5), life, () => {
            onCommit();
            if (answer instanceof Error) reject(answer);
            else if (isUntold) reject(new OutcomeUnknownError(name));
            else resolve(answer.output);
          });
        });
      }),
  };
}

function commit<Name extends CommandName>(
  { run, fail, world }: Market,
  name: Name,
  input: CommandInput<Name>,
  isUnavailable: boolean,
): { output: CommandOutput<Name> } | Error {
  const text = JSON.stringify(input);
  const copy = () => JSON.parse(text) as CommandInput<Name>;
  try {
    if (isUnavailable) {
      fail(name, copy());
      return refusal("service_unavailable");
    }
    const output = run(name, copy());
    if (!UNTRACED.has(name)) world.trace(`committed ${name} ${text.slice(0, 200)}`);
    return { output: JSON.parse(JSON.stringify(output)) as CommandOutput<Name> };
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw new Finding(`${name} broke: ${String(error)}`);
  }
}

/** Ends the process where it stands, and starts another one after a while. */
export function crash(
  market: Market,
  process: Process,
  isCalm: () => boolean,
  started: (process: Process) => void,
): Process {
  const { world } = market;
  process.life.dead = true;
  world.trace("CRASH");
  world.later(world.chance.whole(100, 120_000), null, () => {
    // Calm has begun meanwhile, and with it another process.
    if (!isCalm()) started(begin(market, isCalm));
  });
  return process;
}
