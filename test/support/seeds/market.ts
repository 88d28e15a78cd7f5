// Two resellers, each with a child user and a key of every type, and requests as bytes to their service.

import { BALANCE_LIMIT_MICROS, formatMicros } from "../../../src/domain/ledger/money.ts";
import { KEY_TYPES, type KeyReach, type KeyType } from "../../../src/domain/users/keys.ts";
import { openRaw, type RawConnection, rawRequest } from "../http/raw.ts";
import type { TestService } from "../worlds/service.ts";
import { OPERATOR } from "../databases/test-database.ts";

/** In every request that expectRefusal makes: no answer may hold it. */
export const MARKER = "zqx7marker";

export interface Market extends TestService {
  /** A public service: 10 to 10000, 2.32 per 1000. */
  serviceId: string;
  /** The text of a key of `anna`, or of another reseller. */
  keyOf(type: KeyType, reach?: KeyReach, reseller?: string): string;
  inactiveKey: string;
  inactiveRechargeKey: string;
}

/** anna (100 USD) and bert (50 USD); their children cleo and dora; `rich` has a balance at its limit. */
export function seedMarket(service: TestService): Market {
  service.user("anna", "100");
  service.user("bert", "50");
  service.user("cleo", "7", "anna");
  service.user("dora", "8", "bert");
  service.user("rich");
  fill(service, "rich");
  const keys = new Map<string, string>();
  for (const reseller of ["anna", "bert"]) {
    for (const type of KEY_TYPES) {
      for (const reach of ["all", "children"] as const) {
        keys.set(`${reseller} ${type} ${reach}`, service.key(reseller, type, reach).text);
      }
    }
  }
  const inactive = (type: KeyType) => {
    const { id, text } = service.key("anna", type);
    service.run("setKeyActive", { id, active: false });
    return text;
  };
  return {
    ...service,
    serviceId: service.service(),
    keyOf: (type, reach = "all", reseller = "anna") => keys.get(`${reseller} ${type} ${reach}`)!,
    inactiveKey: inactive("full"),
    inactiveRechargeKey: inactive("recharge"),
  };
}

/** Credits a user up to the largest balance a credit may lead to. */
export function fill(service: TestService, username: string): void {
  for (let missing = BALANCE_LIMIT_MICROS / 1e6 - service.balance(username) / 1e6; missing > 0;) {
    const amount = Math.min(missing, 1_000_000_000);
    service.run("creditUser", {
      username,
      amountMicros: amount * 1e6,
      note: null,
      actor: OPERATOR,
    });
    missing -= amount;
  }
  const balance = formatMicros(service.balance(username));
  if (balance !== "9000000000") throw new Error(`balance of ${username} is ${balance}`);
}

/** A request that leaves the connection open. */
export function request(method: string, target: string, fields: string[] = [], body = ""): string {
  return rawRequest(method, target, fields, body).replace("connection: close\r\n", "");
}

/** Requests to a market as bytes, several on one connection. */
export function rawRequests(market: Market) {
  const key = market.keyOf("full");

  const jsonFields = () => [`x-api-key: ${key}`, "content-type: application/json"];

  const balance = () => request("GET", "/api/v1/balance", [`x-api-key: ${key}`]);

  const order = (link: string, fields: string[] = []) => {
    const body = JSON.stringify({ service: market.serviceId, link, quantity: 10 });
    const length = `content-length: ${Buffer.byteLength(body)}`;
    return request("POST", "/api/v1/orders", [...jsonFields(), length, ...fields], body);
  };

  const ordersOf = (link: string) =>
    market.query("SELECT id FROM orders WHERE link = ?", link).length;

  /** A new connection on which the bytes were sent. */
  const sent = async (bytes: string | Uint8Array): Promise<RawConnection> => {
    const connection = await openRaw(market.url);
    connection.send(bytes);
    return connection;
  };

  return { key, jsonFields, balance, order, ordersOf, sent };
}
