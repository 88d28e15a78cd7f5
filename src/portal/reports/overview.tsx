// Overview: the balance, and the last orders.

/** @jsxImportSource preact */

import { listOrdersBelow } from "../../db/orders/order-lists.ts";
import type { View } from "../../web/server/results.ts";
import { OrderList } from "../orders/orders.tsx";
import type { Call } from "../server/call.ts";

/** Number of last orders that are shown. */
const SHOWN = 10;

export async function overviewPage(call: Call): Promise<View> {
  const { visitor } = call;
  const { t, formats, reseller, account } = visitor;
  const all = { resellerAccount: account, status: null, service: null, window: NO_WINDOW };
  const { rows } = await call.read((reader) =>
    listOrdersBelow(reader, all, Number.MAX_SAFE_INTEGER, SHOWN),
  );
  return {
    title: t("overview.title"),
    body: (
      <>
        <h1>{t("overview.title")}</h1>
        <div class="tiles">
          <div class="tile">
            <h2>{t("site.balance")}</h2>
            <p class="figure">{formats.cents(reseller.balanceMicros)}</p>
          </div>
        </div>
        <h2>{t("overview.lastOrders")}</h2>
        <OrderList visitor={visitor} rows={rows} />
        <p>
          <a href="/orders">{t("overview.allOrders")}</a>
        </p>
      </>
    ),
  };
}

const NO_WINDOW = { from: null, to: null };
