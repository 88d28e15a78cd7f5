// A list of services as this reseller pays them: the price list, and the choice of a service to order.

/** @jsxImportSource preact */

import type { NumberedService } from "../../db/catalogue/services.ts";
import { List } from "../../web/components/lists.tsx";
import { Typed } from "../../web/components/shown.tsx";
import { boundsText, priceText, usualTime } from "../parts/shown.tsx";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";

/** `hasTerms`: with types, and what is possible after the delivery. Who may order is led to the order's form. */
export function ServiceList({
  caption,
  hasTerms = false,
  visitor,
  services,
  times,
}: {
  caption: string;
  hasTerms?: boolean;
  visitor: Visitor;
  services: readonly NumberedService[];
  times: Portal["completionTimes"];
}) {
  const { t } = visitor;
  const mayOrder = visitor.may("order");
  return (
    <List
      caption={caption}
      rows={services}
      empty={t("newOrder.none")}
      compact
      columns={[
        {
          heading: t("orders.number"),
          cell: ({ number }) => String(number),
          place: "first",
          named: true,
        },
        {
          heading: t("orders.service"),
          cell: ({ name, number }) =>
            mayOrder ? (
              <a href={`/new-order/${number}`}>
                <Typed text={name} />
              </a>
            ) : (
              <Typed text={name} />
            ),
          title: ({ name }) => name,
          grow: true,
          place: "title",
        },
        {
          heading: t("newOrder.category"),
          cell: ({ category }) => <Typed text={category} />,
          widest: true,
        },
        ...(hasTerms
          ? [
              {
                heading: t("services.type"),
                cell: ({ type }: NumberedService) => t(`type.${type}`),
                widest: true,
              },
            ]
          : []),
        {
          heading: t("newOrder.price"),
          number: true,
          cell: (service) => priceText(visitor, service),
          place: "end",
        },
        {
          heading: t("orders.quantity"),
          number: true,
          cell: (service) => boundsText(visitor, service),
          place: "second",
        },
        ...(hasTerms
          ? [
              {
                heading: t("services.after"),
                cell: ({ refill, cancel }: NumberedService) =>
                  [refill && t("services.refill"), cancel && t("services.cancel")]
                    .filter(Boolean)
                    .join(", ") || <span class="none">–</span>,
                place: "foot" as const,
                named: true,
              },
            ]
          : []),
        {
          heading: t("services.time"),
          cell: ({ number }) => usualTime(visitor, times.of(number)),
          place: "foot",
          named: true,
        },
      ]}
    />
  );
}
