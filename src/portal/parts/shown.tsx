// How the portal shows times and the states of orders.

/** @jsxImportSource preact */

import type { PriceUnit } from "../../domain/catalogue/services.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { Badge, timeText } from "../../web/components/shown.tsx";
import type { Visitor } from "../server/visitor.ts";

/**
 * A time in the member's time zone, with the time in UTC while the pointer is on it. `isDay`: only its day, where there
 * is little room.
 */
export function Time({
  at,
  visitor: { formats },
  isDay = false,
}: {
  at: number | null;
  visitor: Pick<Visitor, "formats">;
  isDay?: boolean;
}) {
  if (at === null) return <span class="none">–</span>;
  return (
    <time datetime={new Date(at).toISOString()} title={`${timeText(at)} UTC`} data-zoned>
      {isDay ? formats.date(at) : formats.time(at)}
    </time>
  );
}

const TONES = {
  PENDING: "busy",
  PROCESSING: "busy",
  COMPLETED: "good",
  PARTIAL: "quiet",
  CANCELLED: "quiet",
  REFUNDED: "quiet",
  FAILED: "bad",
} as const;

export function Status({ status, visitor }: { status: OrderStatus; visitor: Pick<Visitor, "t"> }) {
  return <Badge state={visitor.t(`status.${status}`)} tone={TONES[status]} />;
}

/** Returns what a service costs, with the unit. */
export function priceText(
  { t, formats }: Pick<Visitor, "t" | "formats">,
  { priceMicros, per }: { priceMicros: number; per: PriceUnit },
): string {
  const price = formats.money(priceMicros);
  if (per === "order") return t("newOrder.perOrder", { price });
  return per === "1" ? t("newOrder.per1", { price }) : t("newOrder.per1000", { price });
}

/** Returns the median time to completion of a service; without one, that there are too few orders. */
export function usualTime(
  { t, formats }: Pick<Visitor, "t" | "formats">,
  milliseconds: number | null,
): string {
  return milliseconds === null ? t("services.tooFew") : formats.span(milliseconds);
}

/** Returns the smallest and the largest quantity of an order; one number if there is no choice. */
export function boundsText(
  { t, formats }: Pick<Visitor, "t" | "formats">,
  { min, max }: { min: number; max: number },
): string {
  if (min === max) return formats.number(min);
  return t("newOrder.bounds", { min: formats.number(min), max: formats.number(max) });
}
