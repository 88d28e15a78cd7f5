// Checks the invariants of the ledger, of orders, deliveries and users, by queries that return the violations.

import { cancelAfter } from "../../domain/orders/order-requests.ts";
import { DELIVERED_STATUSES, ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { lateTransitionsFrom, transitionsFrom } from "../../domain/orders/order-transitions.ts";
import { OPEN_ORDER_CONDITION, statusList } from "../orders/order-statuses.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import { OPEN_REQUEST_CONDITION } from "../tables/orders.ts";
import { type Check, queryCheck } from "./verify.ts";
import { COST_QUERIES } from "./verify-costs.ts";
import { IMPORT_QUERIES } from "./verify-imports.ts";
import { INVOICE_QUERIES } from "./verify-invoices.ts";
import { PAYMENT_QUERIES } from "./verify-payments.ts";

/**
 * Sums the column `amount` in two halves, because sum() fails when an intermediate sum exceeds 64 bits. The credits
 * of an account with many refunded orders can exceed them, although credits less debits cannot.
 */
const sumOf = (rows: string) =>
  `(SELECT coalesce(sum(amount / 1000000000) * 1000000000 + sum(amount % 1000000000), 0) FROM (${rows}) AS flows)`;

/** Selects the credits of a user's account, and its debits as negative amounts. */
const flows = (condition: string) => `
  SELECT amount_micros AS amount FROM transfers
  WHERE credit_account = users.account AND credit_account > 2 AND ${condition}
  UNION ALL SELECT -amount_micros FROM transfers
  WHERE debit_account = users.account AND debit_account > 2 AND ${condition}`;

/**
 * SQL for the cash account of a user's side and the sales account of an order's side: the live side or the test side.
 */
const CASH = "CASE WHEN test_of IS NULL THEN 1 ELSE -1 END";
const SALES = `CASE WHEN orders.provider_id = ${SANDBOX_PROVIDER} THEN -2 ELSE 2 END`;

/**
 * Selects two sums that must be equal: a side's balances, and what its cash and sales accounts paid less what they
 * received.
 */
const sideOf = (testOf: string, accounts: string) => `
  ${sumOf(`SELECT balance_micros AS amount FROM users WHERE test_of ${testOf}`)} AS balances,
  ${sumOf(`SELECT amount_micros AS amount FROM transfers WHERE debit_account IN ${accounts}
    UNION ALL SELECT -amount_micros FROM transfers WHERE credit_account IN ${accounts}`)} AS paid`;

/** SQL rows of the status before and after each allowed transition. */
const TRANSITIONS = ORDER_STATUSES.flatMap((from) =>
  [...new Set([...transitionsFrom(from), ...lateTransitionsFrom(from)])].map(
    (to) => `('${from}', '${to}')`,
  ),
).join(", ");
const AFTER_LATE_REPORTS = [...new Set(ORDER_STATUSES.flatMap(lateTransitionsFrom))];
const AFTER_CANCELLATIONS = ORDER_STATUSES.filter((status) => cancelAfter(status) === "done");

/** Each query returns a row (subject, problem) for each violation of its rule. */
const QUERIES: Record<string, string> = {
  "balances equal the ledger": `
    SELECT 'user ' || username AS subject,
      'balance is ' || balance_micros || ' micros, its transfers add up to ' || total AS problem
    FROM (SELECT username, balance_micros, ${sumOf(flows("1 = 1"))} AS total FROM users) AS summed
    WHERE balance_micros <> total`,
  "deposits equal the ledger": `
    SELECT 'user ' || username AS subject,
      'deposits are ' || deposited_micros || ' micros, but its credits less its debits are ' || total AS problem
    FROM (
      SELECT username, deposited_micros, ${sumOf(flows("order_id IS NULL"))} AS total FROM users
    ) AS summed WHERE deposited_micros <> total`,
  "every charge is one transfer": `
    SELECT 'order ' || orders.order_id AS subject,
      'charge is ' || charge_micros || ' micros, transferred from its reseller were '
        || coalesce(amount_micros, 0) AS problem
    FROM orders LEFT JOIN transfers
      ON transfers.order_id = orders.order_id AND kind = 'order'
      AND debit_account = reseller_account AND credit_account = ${SALES}
    WHERE charge_micros <> coalesce(amount_micros, 0)`,
  "refunds equal the transfers back": `
    SELECT 'order ' || orders.order_id AS subject,
      'refunded is ' || refunded_micros || ' micros, transferred back were ' || coalesce(total, 0) AS problem
    FROM orders LEFT JOIN (
      SELECT order_id, sum(amount_micros) AS total FROM transfers JOIN orders USING (order_id)
      WHERE kind IN ('refund', 'partial_refund') AND debit_account = ${SALES} AND credit_account = reseller_account
      GROUP BY order_id
    ) AS refunds ON refunds.order_id = orders.order_id
    WHERE refunded_micros <> coalesce(total, 0)`,
  "refunds never exceed the charge": `
    SELECT 'order ' || order_id AS subject,
      'refunded ' || refunded_micros || ' of ' || charge_micros || ' micros' AS problem
    FROM orders WHERE refunded_micros > charge_micros`,
  "transfers of an order are between its reseller and sales": `
    SELECT 'transfer ' || seq AS subject, kind || ' between accounts ' || debit_account || ' and ' || credit_account AS problem
    FROM transfers JOIN orders USING (order_id)
    WHERE NOT CASE kind
      WHEN 'order' THEN debit_account = reseller_account AND credit_account = ${SALES}
      ELSE debit_account = ${SALES} AND credit_account = reseller_account END`,
  "credits and debits are between a user and cash": `
    SELECT 'transfer ' || seq AS subject, kind || ' between accounts ' || debit_account || ' and ' || credit_account AS problem
    FROM transfers
    LEFT JOIN users ON users.account = CASE WHEN debit_account > credit_account THEN debit_account ELSE credit_account END
    WHERE order_id IS NULL AND NOT coalesce(
      (debit_account = ${CASH} AND credit_account > 2)
      OR (kind IN ('adjustment', 'payment_reversal') AND credit_account = ${CASH} AND debit_account > 2), FALSE)`,
  "only test orders are with the sandbox": `
    SELECT 'order ' || order_id AS subject, 'belongs to ' || username || ', its provider is ' || coalesce(provider_id, -1) AS problem
    FROM orders JOIN users ON account = reseller_account
    WHERE (test_of IS NOT NULL) <> (coalesce(provider_id, -1) = ${SANDBOX_PROVIDER})`,
  "a test key belongs to its reseller's test account": `
    SELECT 'key ' || keys.id AS subject, 'belongs to ' || username AS problem
    FROM keys JOIN users ON account = reseller_account
    WHERE coalesce(keys.test_of, 0) <> coalesce(users.test_of, 0)`,
  "every test account belongs to a user": `
    SELECT 'user ' || tests.username AS subject, 'is the test account of ' || users.username AS problem
    FROM users AS tests JOIN users ON users.account = tests.test_of
    WHERE users.test_of IS NOT NULL OR tests.parent_account IS NOT NULL`,
  "the two sides of the ledger match": `
    SELECT side AS subject, 'balances add up to ' || balances || ' micros, but its cash and sales accounts paid ' || paid AS problem
    FROM (SELECT 'the live side' AS side, ${sideOf("IS NULL", "(1, 2)")} UNION ALL
      SELECT 'the test side', ${sideOf("IS NOT NULL", "(-1, -2)")}) AS sides
    WHERE balances <> paid`,
  "the last event of an order matches its status": `
    SELECT 'order ' || order_id AS subject, 'status is ' || status || ', its last event led to ' || to_status AS problem
    FROM orders JOIN order_events USING (order_id)
    WHERE seq = (SELECT max(seq) FROM order_events AS later WHERE later.order_id = orders.order_id)
      AND status <> to_status`,
  "an order whose status changed has an event": `
    SELECT 'order ' || order_id AS subject, 'status is ' || status || ' without an event' AS problem
    FROM orders
    WHERE NOT (${OPEN_ORDER_CONDITION})
      AND NOT EXISTS (SELECT 1 FROM order_events WHERE order_events.order_id = orders.order_id)`,
  "events follow the state table": `
    SELECT 'order ' || order_id AS subject, 'an event moved it from ' || from_status || ' to ' || to_status AS problem
    FROM order_events
    WHERE (from_status, to_status) NOT IN (VALUES ${TRANSITIONS})`,
  "transfer details belong to a transfer of their user": `
    SELECT 'transfer ' || transfer_details.seq AS subject,
      'its details belong to account ' || account || ', but it is between ' || debit_account || ' and ' || credit_account AS problem
    FROM transfer_details JOIN transfers ON transfers.seq = transfer_details.seq
    WHERE account <> CASE WHEN debit_account > credit_account THEN debit_account ELSE credit_account END
      OR (reference IS NOT NULL AND kind <> 'adjustment')`,
  "an accepted late report was applied": `
    SELECT 'order ' || orders.order_id AS subject,
      'a late ' || late_reports.reported || ' was accepted, its status is ' || orders.status AS problem
    FROM late_reports JOIN orders ON orders.order_id = late_reports.order_id
    WHERE decision = 'accepted' AND orders.status NOT IN ${statusList(AFTER_LATE_REPORTS)}`,
  "only resellers have a discount": `
    SELECT 'user ' || username AS subject, 'has a discount of ' || discount_ppm || ' ppm' AS problem
    FROM users WHERE discount_ppm > 0 AND (parent_account IS NOT NULL OR test_of IS NOT NULL)`,
  "every event begins with the status that the event before it ended with": `
    SELECT 'order ' || order_id AS subject, 'an event begins at ' || from_status || ', the one before it ended at ' || before AS problem
    FROM (
      SELECT order_id, from_status, lag(to_status) OVER (PARTITION BY order_id ORDER BY seq) AS before
      FROM order_events
    ) AS steps WHERE before <> from_status`,
  "a completed order has no remains": `
    SELECT 'order ' || order_id AS subject, 'COMPLETED with ' || remains || ' remaining' AS problem
    FROM orders WHERE status = 'COMPLETED' AND remains <> 0`,
  "every order belongs to a reseller": `
    SELECT 'order ' || order_id AS subject, 'belongs to the child user ' || username AS problem
    FROM orders JOIN users ON account = reseller_account WHERE parent_account IS NOT NULL`,
  "an order is sent at most once": `
    SELECT 'order ' || order_id AS subject, 'may have been sent ' || count(*) || ' times' AS problem
    FROM attempts WHERE outcome <> 'not_sent' AND outcome <> 'refused' GROUP BY order_id HAVING count(*) > 1`,
  "an order is sent at most once per route": `
    SELECT 'order ' || order_id AS subject,
      'was sent ' || count(*) || ' times as service ' || provider_service || ' of provider ' || provider_id AS problem
    FROM attempts WHERE outcome <> 'not_sent'
    GROUP BY order_id, provider_id, provider_service HAVING count(*) > 1`,
  "an order's provider matches its attempt": `
    SELECT 'order ' || order_id AS subject,
      'is with provider ' || orders.provider_id || ', was sent to ' || attempts.provider_id AS problem
    FROM attempts JOIN orders USING (order_id)
    WHERE outcome <> 'not_sent' AND outcome <> 'refused'
      AND (orders.provider_id <> attempts.provider_id
        OR orders.provider_service <> attempts.provider_service)`,
  "every attempt has a provider": `
    SELECT 'attempt ' || attempt_id AS subject, 'refers to a missing row of providers' AS problem
    FROM attempts LEFT JOIN providers ON providers.provider_id = attempts.provider_id
    WHERE providers.provider_id IS NULL`,
  "the routes of a service match its provider": `
    SELECT 'service ' || services.id AS subject,
      'its further route to provider ' || routes.provider_id || ' has priority ' || routes.priority
        || ', its first route to provider ' || coalesce(CAST(services.provider_id AS TEXT), '(none)') || ' has '
        || services.provider_priority AS problem
    FROM service_routes AS routes JOIN services ON services.id = routes.service_id
    WHERE services.provider_id IS NULL OR routes.priority < services.provider_priority
      OR (routes.provider_id = services.provider_id AND routes.provider_service = services.provider_service)`,
  "submission states match their attempts": `
    SELECT 'order ' || orders.order_id AS subject,
      'placement is ' || placement || ', the outcome of its attempt is '
        || coalesce(sent.outcome, refused.outcome, 'none') AS problem
    FROM orders LEFT JOIN (
        SELECT order_id, outcome FROM attempts WHERE outcome <> 'not_sent' AND outcome <> 'refused'
      ) AS sent ON sent.order_id = orders.order_id
      LEFT JOIN attempts AS refused ON refused.order_id = orders.order_id AND refused.outcome = 'refused'
        AND refused.provider_id = orders.provider_id AND refused.provider_service = orders.provider_service
    WHERE NOT CASE placement
      WHEN 'sending' THEN coalesce(sent.outcome, '') = 'sending'
      WHEN 'unknown' THEN coalesce(sent.outcome, '') = 'unknown'
      WHEN 'placed' THEN coalesce(sent.outcome, '') IN ('accepted', 'unknown')
      WHEN 'refused' THEN coalesce(sent.outcome, refused.outcome, '') IN ('refused', 'unknown')
      ELSE sent.outcome IS NULL AND refused.outcome IS NULL END`,
  "an order has at most one open request of each kind": `
    SELECT 'order ' || order_id AS subject, count(*) || ' requests to ' || kind || ' are open' AS problem
    FROM order_requests WHERE ${OPEN_REQUEST_CONDITION} GROUP BY order_id, kind HAVING count(*) > 1`,
  "a request belongs to its order's reseller": `
    SELECT 'request ' || request_id AS subject,
      'it belongs to account ' || order_requests.reseller_account || ', its order to ' || orders.reseller_account
        || ', its key to ' || keys.reseller_account AS problem
    FROM order_requests JOIN orders ON orders.order_id = order_requests.order_id JOIN keys ON keys.id = key_id
    WHERE order_requests.reseller_account <> orders.reseller_account
      OR keys.reseller_account <> orders.reseller_account`,
  "a request to cancel ends with its order": `
    SELECT 'request ' || request_id AS subject, 'it is ' || state || ', its order is ' || status AS problem
    FROM order_requests JOIN orders ON orders.order_id = order_requests.order_id
    WHERE kind = 'cancel' AND ((${OPEN_REQUEST_CONDITION} AND NOT (${OPEN_ORDER_CONDITION}))
      OR (state = 'done' AND status NOT IN ${statusList(AFTER_CANCELLATIONS)}))`,
  "only delivered orders are refilled": `
    SELECT 'request ' || request_id AS subject, 'its order was neither ${DELIVERED_STATUSES.join(" nor ")}' AS problem
    FROM order_requests
    WHERE kind = 'refill' AND NOT EXISTS (SELECT 1 FROM order_events
      WHERE order_events.order_id = order_requests.order_id AND to_status IN ${statusList(DELIVERED_STATUSES)})`,
  "every key belongs to a reseller": `
    SELECT 'key ' || keys.id AS subject, 'belongs to the child user ' || username AS problem
    FROM keys JOIN users ON account = reseller_account WHERE parent_account IS NOT NULL`,
  "every parent is a reseller": `
    SELECT 'user ' || child.username AS subject, 'parent ' || parent.username || ' is a child user' AS problem
    FROM users AS child JOIN users AS parent ON parent.account = child.parent_account
    WHERE parent.parent_account IS NOT NULL`,
  "a used idempotency key belongs to the reseller of its effect": `
    SELECT 'used key ' || idempotency.seq AS subject,
      'its reseller is account ' || idempotency.reseller_account || ', its effect belongs to account '
        || coalesce(CAST(coalesce(orders.reseller_account, keys.reseller_account) AS TEXT), '(none)') AS problem
    FROM idempotency LEFT JOIN orders USING (order_id)
      LEFT JOIN transfers ON transfers.seq = transfer_seq AND kind = 'recharge'
      LEFT JOIN keys ON keys.id = key_id
    WHERE coalesce(orders.reseller_account, keys.reseller_account, 0) <> idempotency.reseller_account`,
  "every webhook belongs to a reseller": `
    SELECT 'webhook ' || webhooks.id AS subject, 'belongs to the child user ' || username AS problem
    FROM webhooks JOIN users ON account = reseller_account WHERE parent_account IS NOT NULL`,
  "a webhook event of an order matches an event of that order": `
    SELECT 'event ' || webhook_events.id AS subject,
      'it is number ' || webhook_events.sequence || ' of account ' || webhook_events.reseller_account
        || ', the order has had ' || orders.sequence || ' and is of account ' || orders.reseller_account AS problem
    FROM webhook_events JOIN orders USING (order_id)
    WHERE webhook_events.sequence > orders.sequence OR webhook_events.reseller_account <> orders.reseller_account`,
  "a webhook gets only the events of its own reseller": `
    SELECT 'webhook ' || webhooks.id AS subject,
      'it is sent the event ' || webhook_events.id || ' of another account' AS problem
    FROM webhook_deliveries JOIN webhooks USING (webhook_id) JOIN webhook_events USING (event_id)
    WHERE webhooks.reseller_account IS DISTINCT FROM webhook_events.reseller_account`,
  "no effect has two used idempotency keys": `
    SELECT coalesce('order ' || order_id, 'transfer ' || transfer_seq) AS subject,
      'it was done under ' || count(*) || ' idempotency keys' AS problem
    FROM (
      SELECT order_id, transfer_seq, CASE WHEN results LIKE '{%' THEN results ELSE '' END AS request FROM idempotency
    ) AS effects GROUP BY order_id, transfer_seq, request HAVING count(*) > 1`,
  "an e-mail is for a member of its reseller": `
    SELECT 'e-mail ' || mail_id AS subject, 'is for account ' || mails.account || ', its member is of another' AS problem
    FROM mails JOIN members ON members.id = mails.member WHERE mails.account <> members.account`,
};

export const QUERY_CHECKS: readonly Check[] = Object.entries({
  ...QUERIES,
  ...COST_QUERIES,
  ...IMPORT_QUERIES,
  ...INVOICE_QUERIES,
  ...PAYMENT_QUERIES,
}).map(([name, sql]) => queryCheck(name, sql));
