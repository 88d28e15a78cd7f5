// What both peers share: the market they start with, and the shapes they answer with.

import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

export const market = JSON.parse(readFileSync(process.env.MARKET, "utf8"));

export const services = Array.from({ length: market.services }, (_, index) =>
  index === 0
    ? {
        id: market.service,
        name: market.service,
        price: Math.round(market.price * 1e6),
        min: 1,
        max: 1000,
      }
    : {
        id: `service-${index}`,
        name: `Service ${index} of a catalogue`,
        price: index * 1e6 + 500_000,
        min: 10,
        max: 10_000,
      },
);

export function hashKey(text) {
  return createHash("sha256").update(text).digest("hex");
}

export function newId() {
  return randomBytes(12).toString("hex");
}

export function chargeOf(price, quantity) {
  return Math.ceil((price * quantity) / 1000);
}

/** The text of what is wrong with an order's body, or null. */
export function faultOf(body) {
  const { service, link, quantity } = body ?? {};
  if (typeof service !== "string" || service === "") return "service is required";
  if (typeof link !== "string" || link.trim() === "" || link.length > 2048)
    return "link is required";
  if (!Number.isInteger(quantity) || quantity < 1) return "quantity must be a whole number";
  return null;
}

export function orderShape(order) {
  return {
    id: order.id,
    orderId: Number(order.order_id),
    service: order.service_name,
    link: order.link,
    quantity: order.quantity,
    charge: Number(order.charge) / 1e6,
    status: order.status,
    createdAt: new Date(Number(order.created_at)).toISOString(),
  };
}

export function serviceShape({ id, name, price, min, max }) {
  return { id, name, price: Number(price) / 1e6, min, max };
}
