// A market whose requests are sent as bytes, several on one connection.

import { openMarket } from "./market.ts";
import { openRaw, type RawConnection, rawRequest } from "./raw.ts";

/** A request that leaves the connection open. */
export function request(method: string, target: string, fields: string[] = [], body = ""): string {
  return rawRequest(method, target, fields, body).replace("connection: close\r\n", "");
}

export async function openRawMarket() {
  const market = await openMarket();
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

  return { market, key, jsonFields, balance, order, ordersOf, sent };
}
