// Overview: the balance, open orders, the spend of 30 days, and the last orders.

/** @jsxImportSource preact */

import { listNotices } from "../../db/members/notices.ts";
import { listOrdersBelow } from "../../db/orders/order-lists.ts";
import { readSpendByDay } from "../../db/reports/reseller-spend.ts";
import { countOpenOrders } from "../../db/users/reseller-limits.ts";
import { isShown, noticeText } from "../../domain/members/notices.ts";
import { Chart } from "../../web/components/chart.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import { Typed } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import { AddFunds } from "../payments/payments.tsx";
import { OrderList } from "../orders/orders.tsx";
import type { Call } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";

/** Number of last orders that are shown. */
const SHOWN = 10;
const DAYS = 30;
/** Open orders of each status are counted up to this number. */
const COUNTED = 1000;
const MICROS = 1_000_000;

export async function overviewPage(call: Call, { now }: Portal): Promise<View> {
  const { visitor } = call;
  const { t, formats, reseller, account } = visitor;
  const all = { resellerAccount: account, status: null, service: null, window: ALWAYS };
  const { last, notices, open, spend } = await call.read((reader) => ({
    last: listOrdersBelow(reader, all, Number.MAX_SAFE_INTEGER, SHOWN).rows,
    notices: listNotices(reader).filter((notice) => isShown(notice, now())),
    open: countOpenOrders(reader, account, COUNTED + 1),
    // Totals of days leave the test side out.
    spend: visitor.isTest ? [] : readSpendByDay(reader, account, DAYS, now()),
  }));
  const spent = spend.reduce((sum, { micros }) => sum + micros, 0n);
  const series = {
    name: t("overview.spent"),
    values: spend.map(({ micros }) => Number(micros) / MICROS),
  };
  return {
    title: t("overview.title"),
    body: (
      <>
        <PageHead title={t("overview.title")}>
          <span class="inline end">
            <AddFunds visitor={visitor} />
            {visitor.may("order") && (
              <a class="button primary" href="/new-order">
                {t("nav.newOrder")}
              </a>
            )}
          </span>
        </PageHead>
        {notices.map(({ texts }) => (
          <p class="notice quiet" lang={texts[visitor.language] === undefined ? "en" : undefined}>
            <Typed text={noticeText(texts, visitor.language)} />
          </p>
        ))}
        <div class="tiles">
          <div class="card tile">
            {t("site.balance")} <strong>{formats.cents(reseller.balanceMicros)}</strong>
          </div>
          <div class="card tile">
            {t("overview.openOrders")}{" "}
            <strong>
              {formats.number(Math.min(open, COUNTED))}
              {open > COUNTED && "+"}
            </strong>
          </div>
          {!visitor.isTest && (
            <div class="card tile">
              {t("overview.spentIn", { days: DAYS })} <strong>{formats.cents(spent)}</strong>
            </div>
          )}
        </div>
        <h2>{t("overview.lastOrders")}</h2>
        <OrderList visitor={visitor} rows={last} />
        <p>
          <a href="/orders">{t("overview.allOrders")}</a>
        </p>
        {spent > 0n && (
          <Chart
            title={t("overview.spentIn", { days: DAYS })}
            labels={spend.map(({ at }) => formats.utcDay(at))}
            series={[series]}
            format={(dollars) => formats.cents(Math.round(dollars * MICROS))}
          />
        )}
      </>
    ),
  };
}

const ALWAYS = { from: null, to: null };
