// What resellers order in a simulated market, and what they ask of their orders.

import { OutcomeUnknownError } from "../../../src/db/port/port.ts";
import type { Order } from "../../../src/db/orders/orders.ts";
import { placementOf } from "../../../src/domain/delivery/deliveries.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import type { Asked } from "./auditor.ts";
import { type Catalogue, CATALOGUE, type Market, RESELLERS } from "./market.ts";
import { makeRequest } from "./request-actors.ts";
import type { Process } from "./server.ts";
import { pickTyped, type TypedOrder, typedOrder } from "./typed-market.ts";

/** How often an order is of a service that is not one of the first four. */
const TYPED = 0.4;
/** A market in which one question cannot name all open orders. */
const CROWD_ORDERS = 160;

type AskedOf = Asked & { service: string; request: TypedOrder["request"] };

/** Plans what resellers order, and when. */
export function planOrders(
  market: Market,
  crowded: boolean,
  troubleMs: number,
  process: () => Process,
): number {
  const { chance, later } = market.world;
  const count = crowded ? CROWD_ORDERS : chance.whole(5, 35);
  for (let index = 1; index <= count; index += 1) {
    const sold = chance.happens(TYPED) ? pickTyped(chance) : chance.pick(CATALOGUE.slice(0, 4));
    const service: Catalogue = crowded ? CATALOGUE[0]! : sold;
    const { request, units, form } = typedOrder(chance, service);
    const asked: AskedOf = {
      link: `t${index}`,
      reseller: chance.pick(RESELLERS),
      service: service.id,
      quantity: units,
      request,
      form,
      priceMicros: service.priceMicros,
      per: service.per,
      manual: service.routes.length === 0,
    };
    const at = crowded ? chance.whole(0, 30_000) : chance.whole(0, troubleMs);
    later(at, null, () => void order(market, process(), asked).catch(market.world.fail));
  }
  return count;
}

async function order(
  { world, auditor, keyIds }: Market,
  { life, writer, delivery }: Process,
  asked: AskedOf,
): Promise<void> {
  // Nobody answers a caller while there is no process.
  if (life.dead || !delivery) return;
  auditor.asks(asked);
  const { link, service, request, reseller } = asked;
  const account = auditor.accountOf(reseller);
  const keyId = keyIds.get(reseller)!;
  try {
    const input = { resellerAccount: account, keyId, service, link, ...request };
    const placed = await writer.submit("placeOrder", input);
    const answered: Order = await delivery.awaitProvider(placed);
    world.trace(`${link} is answered ${answered.status} (${placementOf(answered.delivery)})`);
    auditor.answered(link, answered.status);
  } catch (error) {
    if (error instanceof OutcomeUnknownError)
      return world.trace(`${link} has an error for an answer`);
    if (!(error instanceof Refusal)) throw error;
    world.trace(`${link} is refused: ${error.code}`);
  }
}

/** A reseller asks for an order, or to cancel this one; nobody answers while there is no process. */
export async function request(
  market: Market,
  { life, writer, delivery }: Process,
  cancels?: string,
): Promise<void> {
  if (life.dead || !delivery) return;
  const keyOf = (reseller: string) => ({
    keyId: market.keyIds.get(reseller)!,
    resellerAccount: market.auditor.accountOf(reseller),
  });
  const wish = cancels === undefined ? {} : { cancels };
  await makeRequest(market, { writer, keyOf, resellers: RESELLERS, ...wish });
}
