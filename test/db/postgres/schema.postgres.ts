// The two schemas are one: the same columns, and the same rows refused. And migrations, with several servers at once.

import { describe, expect, test } from "bun:test";
import { SchemaError } from "../../../src/db/postgres/connection/errors.ts";
import { migrate, MIGRATIONS } from "../../../src/db/postgres/schema/migrate.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { query } from "../../../src/db/port/query.ts";
import { number } from "../../../src/db/port/table-definition.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { createPostgresWriter } from "../../../src/writer/postgres-writer.ts";
import { cluster, freshPostgres } from "../../support/databases/postgres.ts";
import { requiredStatusLists, statusListsIn } from "../../support/databases/schema-statuses.ts";
import {
  freshStore,
  insertKey,
  insertService,
  insertUser,
} from "../../support/databases/stores.ts";

/** Takes the locks of its tables in another order than a migration may. */
const JOINED = query({
  columns: { n: number },
  text: `SELECT count(*) AS "n" FROM users JOIN orders ON reseller_account = account JOIN transfers USING (order_id)
    JOIN services ON services.id = service_id`,
});
const CUID = "abcdefghijklmnopqrstuvwx";
const ORDER =
  "order_id, id, reseller_account, service_id, service_name, price_micros, per, link, quantity, charge_micros, refunded_micros, status, start_count, remains, created_at, placement, provider_id, provider_service, provider_order, reported, next_submit_at, next_poll_at, polled_at, changed_at, reference, extra";

/** An order's row with some of its values changed. */
function order(changes: Record<string, string>): string {
  const values: Record<string, string> = {
    order_id: "50", id: `'${CUID.replace("a", "z")}'`, reseller_account: "3", service_id: "'service'", service_name: "'s'",
    price_micros: "1", per: "'1'", link: "'l'", quantity: "10", charge_micros: "10", refunded_micros: "0",
    status: "'PROCESSING'", start_count: "0", remains: "10", created_at: "1", placement: "'manual'", ...changes,
  }; // prettier-ignore
  const row = ORDER.split(", ").map((column) => values[column] ?? "NULL");
  return `INSERT INTO orders (${ORDER}) VALUES (${row.join(", ")})`;
}

const transfer = (values: string) =>
  `INSERT INTO transfers (seq, debit_account, credit_account, amount_micros, kind, order_id, created_at, balance_after_micros) VALUES (${values})`;
const idempotency = (values: string) =>
  `INSERT INTO idempotency (seq, reseller_account, key, request_hash, order_id, transfer_seq, response_status, response_body, results, created_at) VALUES (${values})`;
const HASH = `'${"a".repeat(64)}'`;

const webhook = (changes: Record<string, string>) => {
  const values = {
    webhook_id: "1", id: `'${CUID}'`, reseller_account: "3", url: "'https://x.example/'", events: "'*'", secret: "'s'",
    active: "1", created_at: "1", ...changes,
  }; // prettier-ignore
  return `INSERT INTO webhooks (${Object.keys(values).join()}) VALUES (${Object.values(values).join()})`;
};
const OTHER = { webhook_id: "9", id: `'${CUID.replace("a", "q")}'` };
const EVENT = (digit: number) => `'evt_${String(digit).padStart(24, "0")}'`;
const event = (values: string) =>
  `INSERT INTO webhook_events (event_id, id, reseller_account, type, order_id, sequence, body, created_at) VALUES (${values})`;
const delivery = (values: string) =>
  `INSERT INTO webhook_deliveries (delivery_id, webhook_id, event_id, state, due_at, server, failures, tries) VALUES (${values})`;
const webhookAttempt = (values: string) =>
  `INSERT INTO webhook_attempts (seq, delivery_id, webhook_id, attempt, at, duration_ms, http_status, error) VALUES (${values})`;

const limitUse = (values: string) =>
  `INSERT INTO limit_use (account, minute, day, month, minute_orders, day_start_micros, month_start_micros, open_orders) VALUES (${values})`;

/** A request for an order with some of its values changed. */
const request = (changes: Record<string, string>) => {
  const values = {
    request_id: "30", id: `'${CUID}'`, order_id: "50", reseller_account: "3", kind: "'cancel'", state: "'requested'",
    key_id: "(SELECT min(id) FROM keys)", created_at: "1", changed_at: "1", ...changes,
  }; // prettier-ignore
  return `INSERT INTO order_requests (${Object.keys(values).join()}) VALUES (${Object.values(values).join()})`;
};
const OTHER_REQUEST = { request_id: "31", id: `'${CUID.replace("a", "r")}'` };

/** An invoice with some of its values changed. */
const invoice = (changes: Record<string, string>) => {
  const values = {
    invoice_id: "9", prefix: "'A-'", number: "9", kind: "'invoice'", account: "3", corrects: "NULL", issued_at: "1",
    month: "NULL", total_micros: "12", tax_micros: "2", tax_ppm: "200000", tax_text: "'VAT'", seller_name: "'s'",
    seller_address: "'a'", seller_tax_id: "''", buyer_name: "'b'", buyer_address: "''", buyer_tax_id: "''",
    lines: "'[]'", carried_over: "0", ...changes,
  }; // prettier-ignore
  return `INSERT INTO invoices (${Object.keys(values).join()}) VALUES (${Object.values(values).join()})`;
};
const CORRECTION = { kind: "'correction'", corrects: "1", total_micros: "-12", tax_micros: "-2" };

const credit = (seq: number) =>
  `INSERT INTO transfers (seq, debit_account, credit_account, amount_micros, kind, operator, created_at, balance_after_micros) VALUES (${seq}, 1, 3, 5, 'adjustment', 'o', 1, 5)`;

/** Statements about invoices that both must accept. */
const INVOICES = [
  "UPDATE invoice_settings SET mode = 'month', seller_name = 's', seller_address = 'a', next_number = 7",
  "INSERT INTO billing_details (account, name, address, tax_id, tax_ppm, tax_text) VALUES (3, 'n', '', '', 0, 'reverse charge')",
  invoice({ invoice_id: "1", number: "1" }),
  invoice({ ...CORRECTION, invoice_id: "2", number: "2" }),
  invoice({
    invoice_id: "3",
    number: "1",
    prefix: "''",
    account: "NULL",
    carried_over: "1",
    month: "683",
    corrects: "1",
  }),
  credit(73),
  credit(74),
  "INSERT INTO invoice_items (seq, account, month, created_at, amount_micros) VALUES (73, 3, 1, 1, 5)",
  "INSERT INTO invoice_items (seq, account, month, created_at, amount_micros, invoice_id) VALUES (74, 3, 1, 1, 5, 3)",
];

/** A row with some of its values changed. */
const rowOf = (table: string, values: Record<string, string>) =>
  `INSERT INTO ${table} (${Object.keys(values).join()}) VALUES (${Object.values(values).join()})`;
const method = (changes: Record<string, string>) =>
  rowOf("payment_methods", {
    method_id: "'bank'", kind: "'manual'", names: "'{}'", instructions: "'{}'", min_micros: "1", max_micros: "9",
    fee_ppm: "0", fee_fixed_micros: "0", fee_payer: "'customer'", bonus_steps: "'[]'", currency: "'USD'",
    rate_to_usd: "'1'", settings: "'{}'", resellers: "'all'", active: "1", created_at: "1", ...changes,
  }); // prettier-ignore
const payment = (changes: Record<string, string>) =>
  rowOf("payments", {
    payment_id: "1", id: `'${CUID}'`, account: "3", method_id: "'bank'", request_key: "'k'", state: "'created'",
    asked_micros: "10", fee_micros: "2", due_micros: "12", currency: "'USD'", terms: "'{}'", credit_micros: "10",
    bonus_micros: "1", created_at: "1", changed_at: "1", ...changes,
  }); // prettier-ignore
const NEXT = { payment_id: "2", id: `'${CUID.replace("a", "o")}'`, request_key: "'l'" };
const PAID = { state: "'paid'", paid_at: "2", received_micros: "12", received_currency: "'USD'" };
const paymentTransfer = (values: string) =>
  `INSERT INTO payment_transfers (seq, payment_id, account, kind) VALUES (${values})`;
const moneyIn = (seq: number, kind: string) =>
  `INSERT INTO transfers (seq, debit_account, credit_account, amount_micros, kind, created_at, balance_after_micros) VALUES (${seq}, 1, 3, 5, '${kind}', 1, 5)`;
const attachment = (changes: Record<string, string>) =>
  rowOf("payment_attachments", {
    payment_id: "1", account: "3", type: "'image/png'", bytes: "3", sha256: HASH, data: "'AAAA'", created_at: "1", ...changes,
  }); // prettier-ignore
const surplus = (changes: Record<string, string>) =>
  rowOf("payment_surpluses", {
    surplus_id: "1", payment_id: "1", account: "3", method_id: "'bank'", cause: "'paid_again'", reference: "'r1'",
    currency: "'USD'", amount_micros: "5", left_micros: "5", created_at: "1", ...changes,
  }); // prettier-ignore
const paymentEvent = (seq: number, changes: Record<string, string> = {}) =>
  rowOf("payment_events", {
    seq: String(seq), payment_id: "1", account: "3", event: "'paid'", from_state: "'created'", to_state: "'paid'",
    created_at: "1", ...changes,
  }); // prettier-ignore

/** Statements about payments that both must accept. */
const PAYMENTS = [
  method({}),
  method({ method_id: "'old'", active: "0" }),
  "UPDATE payment_methods SET removed_at = 5 WHERE method_id = 'old'",
  "INSERT INTO payment_method_resellers (method_id, account) VALUES ('bank', 3)",
  payment({}),
  payment({ ...NEXT, state: "'pending'", awaits: "'claim'", method_reference: "'r'" }),
  "UPDATE payments SET state = 'pending' WHERE payment_id = 1",
  "UPDATE payments SET state = 'paid', paid_at = 2, received_micros = 12, received_currency = 'USD' WHERE payment_id = 1",
  "UPDATE payments SET refunded_micros = 3, state = 'refunded' WHERE payment_id = 1",
  "UPDATE payments SET refunded_micros = 0, state = 'paid' WHERE payment_id = 1",
  "UPDATE payments SET refunded_micros = 3, reported_refund_micros = 3, netted_micros = 3, state = 'refunded' WHERE payment_id = 1",
  surplus({}),
  surplus({ surplus_id: "2", cause: "'dispute_won'", reference: "NULL" }),
  surplus({ surplus_id: "3", cause: "'refund_failed'", reference: "NULL", left_micros: "0" }),
  "UPDATE payment_surpluses SET amount_micros = 9, left_micros = 8 WHERE surplus_id = 2",
  "UPDATE payment_surpluses SET left_micros = 4 WHERE surplus_id = 1",
  "UPDATE payment_surpluses SET settled_at = 7 WHERE surplus_id = 1",
  moneyIn(80, "payment"),
  moneyIn(81, "payment_bonus"),
  "INSERT INTO transfers (seq, debit_account, credit_account, amount_micros, kind, created_at, balance_after_micros) VALUES (82, 3, 1, 5, 'payment_reversal', 1, 5), (83, 3, 1, 5, 'payment_reversal', 1, 5)",
  paymentTransfer("80, 1, 3, 'payment'"),
  paymentTransfer("81, 1, 3, 'payment_bonus'"),
  paymentTransfer("82, 1, 3, 'payment_reversal'"),
  paymentTransfer("83, 1, 3, 'payment_reversal'"),
  paymentEvent(1),
  attachment({}),
  "UPDATE payment_attachments SET data = 'AAAB'",
];

const WRONG_METHODS: readonly Record<string, string>[] = [
  { method_id: "'bank'" },
  { method_id: "''" },
  { names: "'[]'" },
  { names: "'{'" },
  { min_micros: "0" },
  { min_micros: "10" },
  { max_micros: "1000000000000001" },
  { fee_ppm: "1000001" },
  { fee_fixed_micros: "-1" },
  { fee_payer: "'nobody'" },
  { bonus_steps: "'{}'" },
  { currency: "'US'" },
  { settings: "'[]'" },
  { resellers: "'some'" },
  { active: "2" },
  { removed_at: "5" },
  { active: "0", removed_at: "5", settings: `'{"a":"b"}'` },
];
const WRONG_PAYMENTS: readonly Record<string, string>[] = [
  { payment_id: "1" },
  { id: `'${CUID}'` },
  { id: "'short'" },
  { account: "999" },
  { method_id: "'none'" },
  { member_id: "'none'" },
  { request_key: "'k'" },
  { request_key: "''" },
  { state: "'lost'" },
  { awaits: "'claim'" },
  { state: "'pending'", awaits: "'rain'" },
  { asked_micros: "0" },
  { due_micros: "9" },
  { due_micros: "13" },
  { bonus_micros: "11" },
  { credit_micros: "-1" },
  { method_reference: "'r'" },
  { method_reference: "''" },
  { received_micros: "5" },
  { received_currency: "'USD'" },
  { reversed_micros: "12" },
  { refunded_micros: "-1" },
  { reads: "-1" },
  { reported: "2" },
  { reported_refund_micros: "-1" },
  { netted_micros: "-1" },
  { paid_at: "5" },
  { state: "'paid'" },
  { ...PAID, received_micros: "NULL", received_currency: "NULL" },
  { ...PAID, credit_micros: "0", bonus_micros: "0" },
];

const WRONG_SURPLUSES: readonly Record<string, string>[] = [
  { surplus_id: "1" },
  { payment_id: "9" },
  { account: "999" },
  { method_id: "'none'" },
  { cause: "'rain'" },
  { cause: "'dispute_won'" },
  { reference: "NULL" },
  { reference: "'r1'" },
  { reference: "''" },
  { currency: "'US'" },
  { amount_micros: "0" },
  { left_micros: "-1" },
  { left_micros: "6" },
];

const WRONG_INVOICES: readonly Record<string, string>[] = [
  { invoice_id: "1" },
  { number: "1" },
  { number: "0" },
  { kind: "'receipt'" },
  { account: "999" },
  { corrects: "99" },
  { corrects: "9" },
  { total_micros: "0", tax_micros: "0" },
  { total_micros: "-12" },
  { tax_micros: "13" },
  { tax_ppm: "1000001" },
  { seller_name: "''" },
  { seller_address: "''" },
  { buyer_name: "''" },
  { lines: "'{}'" },
  { lines: "'['" },
  { carried_over: "2" },
  { ...CORRECTION, corrects: "NULL" },
  { ...CORRECTION, total_micros: "12", tax_micros: "2" },
];

const WRONG_REQUESTS: readonly Record<string, string>[] = [
  { kind: "'other'" },
  { state: "'odd'" },
  { provider_id: "1" },
  { next_at: "1" },
  { unknown: "1" },
  { server: "'s'" },
  { provider_refill: "'7'" },
  { state: "'sent'" },
  { sent_at: "1" },
  { order_id: "9999" },
  { reseller_account: "999" },
  { key_id: "'nobody'" },
  { provider_id: "99", next_at: "1" },
  { tries: "-1" },
];

/** Statements that both must take, in this order. */
const TAKEN = [
  order({}),
  order({ order_id: "51", id: `'${CUID.replace("a", "y")}'`, reference: "'mine'" }),
  order({ order_id: "53", id: `'${CUID.replace("a", "v")}'`, extra: `'{"type":"seo","keywords":"a"}'` }),
  order({ order_id: "54", id: `'${CUID.replace("a", "u")}'`, status: "'COMPLETED'" }),
  "UPDATE orders SET link = 'm' WHERE order_id = 50",
  "INSERT INTO resent_orders (order_id, resent_as) VALUES (51, 54)",
  "INSERT INTO provider_balances (provider_id, at, balance_micros, currency) VALUES (1, 5, -1, NULL), (1, 6, 0, 'USD')",
  "INSERT INTO category_order (category, position) VALUES ('A', 1), ('a', 1)",
  "INSERT INTO user_contacts (account, email, note) VALUES (3, 'a@b.cc', 'n')",
  "UPDATE user_contacts SET email = NULL, note = NULL",
  "INSERT INTO key_requests (key_id, day, requests, errors) SELECT id, 20000, 5, 5 FROM keys LIMIT 1",
  "UPDATE providers SET round_prices = 'x.x9', category_markups = '{}'",
  "INSERT INTO administrators (name, role, active, created_at, time_zone) VALUES ('ann', 'owner', 1, 1, 'Europe/Berlin')",
  "INSERT INTO saved_views (administrator, name, query) VALUES ('ann', 'v', 'user=a')",
  request({}),
  request({ ...OTHER_REQUEST, kind: "'refill'", provider_id: "1", next_at: "5" }),
  "UPDATE order_requests SET state = 'sent', server = 's', sent_at = 6, next_at = NULL WHERE request_id = 31",
  "UPDATE order_requests SET state = 'requested', server = NULL, sent_at = NULL, next_at = 7 WHERE request_id = 31",
  "UPDATE order_requests SET state = 'sent', unknown = 1, sent_at = 8, next_at = NULL WHERE request_id = 31",
  "UPDATE services SET cancel = 1, refill = 1, refill_days = 3650",
  "UPDATE services SET dripfeed = 1",
  "UPDATE keys SET type = 'full', recharge_limit_micros = 1, recharge_daily_micros = 1000000000000000, origin_id = id, recharge_refused_at = 1",
  "INSERT INTO key_recharges (key_id, day, recharged_micros) SELECT id, 20000, 9000000000000000001 FROM keys LIMIT 1",
  "INSERT INTO reseller_limits (account, rate_limit, open_orders) VALUES (3, '10/s', 0)",
  "UPDATE reseller_limits SET rate_limit = NULL, spend_per_day_micros = 1000000000000000",
  limitUse("3, 1, 1, 1, 0, 0, 9000000000000000001, NULL"),
  "UPDATE limit_use SET open_orders = 5",
  "INSERT INTO hourly_spend (hour, account, charged_micros, refunded_micros) VALUES (1, 3, 5, 9000000000000000001)",
  "INSERT INTO money_totals (day, flow, kind, source, transfers, amount_micros) VALUES (1, 'credit', 'recharge', '', 1, 5)",
  ...INVOICES,
  ...PAYMENTS,
  "UPDATE services SET dripfeed = 0, type = 'poll', per = '1000'",
  order({
    order_id: "52", id: `'${CUID.replace("a", "x")}'`, status: "'PENDING'", placement: "'queued'", provider_id: "1",
    provider_service: "'9'", next_submit_at: "1",
  }),
  transfer("70, 3, 2, 5, 'order', 50, 1, 5"),
  "INSERT INTO transfers (seq, debit_account, credit_account, amount_micros, kind, key_id, created_at, balance_after_micros) SELECT 72, 1, 3, 5, 'recharge', id, 1, 5 FROM keys LIMIT 1",
  idempotency(`80, 3, 'k', ${HASH}, 50, NULL, NULL, NULL, NULL, 1`),
  idempotency(`81, 3, 'l', ${HASH}, 51, NULL, 200, '{}', NULL, 1`),
  "INSERT INTO order_events (seq, order_id, from_status, to_status, created_at) VALUES (90, 50, 'a', 'b', 1)",
  "INSERT INTO attempts (attempt_id, order_id, outcome, started_at, provider_id, provider_service) VALUES (95, 52, 'sending', 1, 1, '9')",
  "INSERT INTO audit (seq, created_at, operator, action, subject, after) VALUES (99, 1, 'o', 'a', 's', '{}')",
  "UPDATE orders SET status = 'COMPLETED', remains = 0 WHERE order_id = 51",
  "UPDATE orders SET status = 'REFUNDED', refunded_micros = 10 WHERE order_id = 51",
  webhook({}),
  webhook({ webhook_id: "2", id: `'${CUID.replace("a", "p")}'`, active: "0", disabled_reason: "'gone'", disabled_at: "1" }),
  event(`1, ${EVENT(1)}, 3, 'order.completed', 50, 1, '{}', 1`),
  event(`2, ${EVENT(2)}, 3, 'webhook.test', NULL, NULL, '{}', 1`),
  delivery("1, 1, 1, 'waiting', 5, NULL, 0, 10"),
  delivery("2, 1, 2, 'sending', 5, 'server', 0, 10"),
  webhookAttempt("1, 1, 1, 1, 5, 0, NULL, 'dns'"),
  "UPDATE webhook_deliveries SET state = 'failed', due_at = NULL, failures = 10 WHERE delivery_id = 1",
  "UPDATE webhooks SET failures = 1, failing_since = 5 WHERE webhook_id = 1",
]; // prettier-ignore

/** Statements that both must refuse. */
const REFUSED = [
  ...WRONG_INVOICES.map(invoice),
  ...WRONG_METHODS.map((changes) => method({ method_id: "'next'", ...changes })),
  ...WRONG_PAYMENTS.map((changes) =>
    payment({ payment_id: "3", id: `'${CUID.replace("a", "n")}'`, request_key: "'m'", ...changes }),
  ),
  ...WRONG_SURPLUSES.map((changes) => surplus({ surplus_id: "4", reference: "'r4'", ...changes })),
  "DELETE FROM payment_surpluses",
  "UPDATE payment_surpluses SET left_micros = 3 WHERE surplus_id = 1",
  "UPDATE payment_surpluses SET settled_at = NULL WHERE surplus_id = 1",
  "UPDATE payment_surpluses SET amount_micros = 8, left_micros = 8 WHERE surplus_id = 2",
  "UPDATE payment_surpluses SET currency = 'EUR' WHERE surplus_id = 2",
  "UPDATE payment_surpluses SET payment_id = 2 WHERE surplus_id = 2",
  "UPDATE payment_surpluses SET reference = 'r5' WHERE surplus_id = 1",
  "DELETE FROM payment_methods",
  "UPDATE payment_methods SET kind = 'other' WHERE method_id = 'bank'",
  "UPDATE payment_methods SET currency = 'EUR' WHERE method_id = 'bank'",
  "UPDATE payment_methods SET active = 1, removed_at = NULL WHERE method_id = 'old'",
  "INSERT INTO payment_method_resellers (method_id, account) VALUES ('bank', 3)",
  "INSERT INTO payment_method_resellers (method_id, account) VALUES ('none', 3)",
  "DELETE FROM payments",
  "UPDATE payments SET asked_micros = 9 WHERE payment_id = 2",
  "UPDATE payments SET terms = '{ }' WHERE payment_id = 2",
  "UPDATE payments SET credit_micros = 9 WHERE payment_id = 1",
  "UPDATE payments SET received_micros = 11 WHERE payment_id = 1",
  "UPDATE payments SET paid_at = 3 WHERE payment_id = 1",
  "UPDATE payments SET state = 'pending', paid_at = NULL WHERE payment_id = 1",
  "UPDATE payments SET state = 'created', awaits = NULL WHERE payment_id = 2",
  paymentTransfer("84, 1, 3, 'payment_reversal'"),
  paymentTransfer("80, 2, 3, 'payment_reversal'"),
  paymentTransfer("73, 1, 3, 'payment'"),
  paymentTransfer("73, 2, 3, 'adjustment'"),
  paymentTransfer("73, 9, 3, 'payment'"),
  "UPDATE payment_transfers SET kind = 'payment_bonus' WHERE seq = 82",
  "DELETE FROM payment_transfers",
  paymentEvent(2, { payment_id: "9" }),
  paymentEvent(2, { detail: "''" }),
  "UPDATE payment_events SET detail = 'x'",
  "DELETE FROM payment_events",
  attachment({}),
  attachment({ payment_id: "2", type: "'text/html'" }),
  attachment({ payment_id: "2", bytes: "1048577" }),
  attachment({ payment_id: "2", sha256: "'a'" }),
  attachment({ payment_id: "2", data: "''" }),
  attachment({ payment_id: "9" }),
  moneyIn(85, "gift"),
  "UPDATE invoices SET reason = 'x'",
  "DELETE FROM invoices",
  "UPDATE invoice_items SET amount_micros = 6 WHERE seq = 73",
  "UPDATE invoice_items SET invoice_id = 1 WHERE seq = 74",
  "DELETE FROM invoice_items",
  "INSERT INTO invoice_items (seq, account, month, created_at, amount_micros) VALUES (9999, 3, 1, 1, 5)",
  "UPDATE invoice_settings SET mode = 'week'",
  "UPDATE invoice_settings SET mode = 'month', seller_name = ''",
  "UPDATE invoice_settings SET next_number = 0",
  "INSERT INTO invoice_settings SELECT 2, mode, prefix, 1, 1, '', '', '', 0, '' FROM invoice_settings",
  "INSERT INTO billing_details (account, name, address, tax_id) VALUES (3, 'n', '', '')",
  "INSERT INTO billing_details (account, name, address, tax_id) VALUES (999, 'n', '', '')",
  "UPDATE billing_details SET name = ''",
  "UPDATE billing_details SET tax_ppm = 1000001",
  ...["recharge_limit_micros", "recharge_daily_micros"].flatMap((column) => [
    `UPDATE keys SET ${column} = 0`,
    `UPDATE keys SET ${column} = -1`,
    `UPDATE keys SET type = 'order', ${column} = 5`,
  ]),
  "UPDATE keys SET origin_id = 'none'",
  "INSERT INTO key_recharges (key_id, day, recharged_micros) SELECT id, 20000, 1 FROM keys LIMIT 1",
  "INSERT INTO key_recharges (key_id, day, recharged_micros) SELECT id, 20001, 0 FROM keys LIMIT 1",
  "INSERT INTO key_recharges (key_id, day, recharged_micros) VALUES ('none', 1, 1)",
  "INSERT INTO reseller_limits (account) VALUES (3)",
  "INSERT INTO reseller_limits (account) VALUES (999)",
  ...["orders_per_minute", "spend_per_day_micros", "spend_per_month_micros", "open_orders"].map(
    (column) => `UPDATE reseller_limits SET ${column} = -1`,
  ),
  "UPDATE reseller_limits SET rate_limit = ''",
  limitUse("999, 1, 1, 1, 0, 0, 0, NULL"),
  "UPDATE limit_use SET minute_orders = -1",
  "INSERT INTO hourly_spend (hour, account, charged_micros, refunded_micros) VALUES (1, 3, 5, 5)",
  "INSERT INTO money_totals (day, flow, kind, source, transfers, amount_micros) VALUES (1, 'gift', 'recharge', '', 1, 5)",
  "UPDATE limit_use SET day_start_micros = -1",
  "UPDATE limit_use SET open_orders = -1",
  "INSERT INTO category_order (category, position) VALUES ('A', 2)",
  "INSERT INTO user_contacts (account) VALUES (3)",
  "INSERT INTO user_contacts (account) VALUES (999)",
  "UPDATE user_contacts SET email = 'a'",
  "UPDATE user_contacts SET note = ''",
  "INSERT INTO key_requests (key_id, day, requests, errors) SELECT id, 20000, 1, 0 FROM keys LIMIT 1",
  "INSERT INTO key_requests (key_id, day, requests, errors) VALUES ('none', 1, 1, 0)",
  "UPDATE key_requests SET requests = 0, errors = 0",
  "UPDATE key_requests SET errors = 6",
  "UPDATE key_requests SET errors = -1",
  "INSERT INTO category_order (category, position) VALUES ('', 2)",
  "INSERT INTO category_order (category, position) VALUES ('B', 0)",
  "UPDATE administrators SET time_zone = ''",
  "INSERT INTO saved_views (administrator, name, query) VALUES ('nobody', 'v', 'user=a')",
  "INSERT INTO saved_views (administrator, name, query) VALUES ('ann', '', 'user=a')",
  "INSERT INTO saved_views (administrator, name, query) VALUES ('ann', 'w', '')",
  "UPDATE providers SET round_prices = '0.5'",
  "UPDATE providers SET category_markups = ''",
  "UPDATE users SET balance_micros = -1 WHERE account = 3",
  "UPDATE users SET id = id || 'x' WHERE account = 3",
  "UPDATE users SET parent_account = 3 WHERE account = 3",
  "DELETE FROM users WHERE account = 3",
  "INSERT INTO users (account, id, username, name, created_at) VALUES (2, 'abcdefghijklmnopqrstuvw1', 'uSeR', 'n', 1)",
  "INSERT INTO users (account, id, username, name, created_at) VALUES (999, 'abcdefghijklmnopqrstuvw1', 'n', 'n', 1)",
  "INSERT INTO users (account, id, username, name, created_at, parent_account) VALUES (2, 'abcdefghijklmnopqrstuvw1', 'n', 'n', 1, 999)",
  "INSERT INTO users (account, id, username, name, created_at) VALUES (2, 'short', 'n', 'n', 1)",
  `INSERT INTO accounts (account, kind) VALUES (900, 'other')`,
  "UPDATE keys SET active = 2",
  "UPDATE keys SET type = 'none'",
  "UPDATE keys SET expires_at = 0",
  "UPDATE services SET min = 11, max = 10",
  "UPDATE services SET per = '7'",
  "UPDATE services SET delisted = 1",
  "UPDATE services SET provider_id = 1",
  "UPDATE providers SET url = 'ftp://x'",
  "INSERT INTO providers (provider_id, name, protocol, url, key, created_at) VALUES (9, 'ACME', 'p', 'http://x', 'k', 1)",
  "INSERT INTO catalogue_version (id, version) VALUES (2, 1)",
  order({ order_id: "0" }),
  order({ order_id: "60", id: `'${CUID.replace("a", "w")}'`, extra: "'[]'" }),
  `UPDATE orders SET extra = '{"type":"seo"}' WHERE order_id = 51`,
  "UPDATE orders SET extra = NULL WHERE order_id = 53",
  request({ request_id: "32", id: `'${CUID.replace("a", "s")}'` }),
  request({ ...OTHER_REQUEST, order_id: "51" }),
  request({ request_id: "32", id: "'short'", order_id: "51" }),
  ...WRONG_REQUESTS.map((changes) =>
    request({ request_id: "32", id: `'${CUID.replace("a", "s")}'`, order_id: "51", ...changes }),
  ),
  "UPDATE order_requests SET kind = 'refill' WHERE request_id = 30",
  "UPDATE order_requests SET unknown = 0 WHERE request_id = 31",
  "UPDATE order_requests SET state = 'requested', unknown = 0, sent_at = NULL, next_at = 1 WHERE request_id = 31",
  "DELETE FROM order_requests",
  "UPDATE services SET refill_days = 0",
  "UPDATE services SET cancel = 2",
  "UPDATE services SET type = 'subscriptions'",
  "UPDATE services SET type = 'package'",
  "UPDATE services SET dripfeed = 2",
  "UPDATE services SET type = 'seo', dripfeed = 1",
  "UPDATE services SET type = 'seo', per = 'order'",
  order({ order_id: "60", id: `'${CUID.replace("a", "w")}'`, remains: "11" }),
  order({ order_id: "60", id: `'${CUID.replace("a", "w")}'`, refunded_micros: "1" }),
  order({ order_id: "60", id: `'${CUID.replace("a", "w")}'`, status: "'LOST'" }),
  order({ order_id: "60", id: `'${CUID.replace("a", "w")}'`, status: "'FAILED'" }),
  order({ order_id: "60", id: `'${CUID.replace("a", "w")}'`, placement: "'queued'" }),
  order({ order_id: "60", id: `'${CUID.replace("a", "w")}'`, reference: "'mine'" }),
  order({ order_id: "60", id: `'${CUID.replace("a", "w")}'`, service_id: "'none'" }),
  order({ order_id: "60", id: `'${CUID.replace("a", "w")}'`, reseller_account: "999" }),
  order({
    order_id: "60",
    id: `'${CUID.replace("a", "w")}'`,
    status: "'PENDING'",
    placement: "'queued'",
    provider_id: "999",
    provider_service: "'9'",
    next_submit_at: "1",
  }),
  order({ order_id: "60", id: `'${CUID.replace("a", "w")}'`, next_submit_at: "1" }),
  order({ order_id: "60", id: `'${CUID.replace("a", "w")}'`, provider_order: "'1'" }),
  "UPDATE orders SET link = 'm' WHERE order_id = 54",
  "INSERT INTO resent_orders (order_id, resent_as) VALUES (51, 53)",
  "INSERT INTO provider_balances (provider_id, at, balance_micros, currency) VALUES (1, 5, 0, NULL)",
  "INSERT INTO provider_balances (provider_id, at, balance_micros, currency) VALUES (99, 7, 0, NULL)",
  "INSERT INTO provider_balances (provider_id, at, balance_micros, currency) VALUES (1, 7, 0, '')",
  "INSERT INTO resent_orders (order_id, resent_as) VALUES (53, 54)",
  "INSERT INTO resent_orders (order_id, resent_as) VALUES (54, 53)",
  "UPDATE resent_orders SET resent_as = 53",
  "DELETE FROM resent_orders",
  "UPDATE orders SET status = 'PROCESSING' WHERE order_id = 51",
  "UPDATE orders SET reference = 'other' WHERE order_id = 50",
  "UPDATE orders SET placement = 'placed' WHERE order_id = 52",
  "DELETE FROM orders WHERE order_id = 50",
  transfer("71, 3, 3, 5, 'adjustment', NULL, 1, 5"),
  transfer("71, 3, 2, 5, 'order', 50, 1, 5"),
  transfer("71, 3, 2, 5, 'order', NULL, 1, 5"),
  transfer("71, 1, 3, 5, 'recharge', 51, 1, 5"),
  transfer("71, 1, 3, 0, 'recharge', NULL, 1, 5"),
  transfer("71, 1, 3, 5, 'recharge', NULL, 1, -1"),
  transfer("71, 999, 3, 5, 'recharge', NULL, 1, 5"),
  transfer("71, 3, 999, 5, 'order', 51, 1, 5"),
  transfer("71, 3, 2, 5, 'order', 999, 1, 5"),
  "INSERT INTO transfers (seq, debit_account, credit_account, amount_micros, kind, key_id, created_at) VALUES (71, 1, 3, 5, 'recharge', 'none', 1)",
  "DELETE FROM services WHERE id = 'service'",
  "UPDATE services SET id = 'other' WHERE id = 'service'",
  "DELETE FROM providers WHERE provider_id = 1",
  "UPDATE providers SET provider_id = 9 WHERE provider_id = 1",
  "DELETE FROM accounts WHERE account = 2",
  "UPDATE accounts SET account = 9 WHERE account = 2",
  "DELETE FROM keys",
  "UPDATE keys SET id = 'other'",
  "UPDATE transfers SET note = 'n'",
  "DELETE FROM transfers",
  idempotency(`82, 3, 'k', ${HASH}, 50, NULL, NULL, NULL, NULL, 1`),
  idempotency(`82, 999, 'm', ${HASH}, 50, NULL, NULL, NULL, NULL, 1`),
  idempotency(`82, 3, 'm', ${HASH}, 999, NULL, NULL, NULL, NULL, 1`),
  idempotency(`82, 3, 'm', ${HASH}, NULL, 999, 200, '{}', NULL, 1`),
  idempotency(`82, 3, 'm', ${HASH}, 50, 70, NULL, NULL, NULL, 1`),
  idempotency(`82, 3, 'm', ${HASH}, NULL, 70, NULL, NULL, NULL, 1`),
  idempotency(`82, 3, 'm', ${HASH}, NULL, 70, 200, '{}', '[]', 1`),
  "UPDATE idempotency SET key = 'other' WHERE seq = 80",
  "UPDATE idempotency SET results = '[]' WHERE seq = 80",
  "UPDATE idempotency SET response_body = 'other' WHERE seq = 81",
  "UPDATE order_events SET note = 'n'",
  "DELETE FROM order_events",
  "INSERT INTO attempts (attempt_id, order_id, outcome, started_at, provider_id, provider_service) VALUES (96, 52, 'sending', 1, 1, '9')",
  "UPDATE attempts SET outcome = 'unknown'",
  "UPDATE attempts SET started_at = 2",
  "UPDATE attempts SET server = 'other'",
  "DELETE FROM attempts",
  "UPDATE audit SET subject = 't'",
  "DELETE FROM audit",
  "INSERT INTO audit (seq, created_at, action, subject, after) VALUES (98, 1, 'a', 's', '{}')",
  "INSERT INTO audit (seq, created_at, operator, action, subject, after) VALUES (98, 1, 'o', 'a', 's', '[]')",
  "INSERT INTO audit (seq, created_at, operator, action, subject) VALUES (98, 1, 'o', 'a', 's')",
  "UPDATE users SET wanted_events = -1",
  "UPDATE users SET low_balance_micros = 0",
  webhook({}),
  webhook({ ...OTHER, id: "'short'" }),
  webhook({ ...OTHER, reseller_account: "999" }),
  webhook({ ...OTHER, url: "'ftp://x'" }),
  webhook({ ...OTHER, events: "''" }),
  webhook({ ...OTHER, secret: "''" }),
  webhook({ ...OTHER, balance_low_below: "0" }),
  webhook({ ...OTHER, active: "0" }),
  webhook({ ...OTHER, active: "0", disabled_reason: "'bored'", disabled_at: "1" }),
  webhook({ ...OTHER, disabled_reason: "'gone'", disabled_at: "1" }),
  webhook({ ...OTHER, failures: "1" }),
  webhook({ ...OTHER, previous_secret: "'s'" }),
  webhook({ ...OTHER, deleted_at: "1", secret: "''" }),
  "UPDATE webhooks SET id = 'zzzzzzzzzzzzzzzzzzzzzzzz' WHERE webhook_id = 1",
  "DELETE FROM webhooks WHERE webhook_id = 1",
  event(`3, ${EVENT(1)}, 3, 'order.completed', 50, 2, '{}', 1`),
  event(`3, ${EVENT(3)}, 3, 'order.completed', 50, 1, '{}', 1`),
  event(`3, ${EVENT(3)}, 3, 'order.completed', 50, NULL, '{}', 1`),
  event(`3, ${EVENT(3)}, 3, 'order.completed', 50, 0, '{}', 1`),
  event(`3, ${EVENT(3)}, 3, 'balance.low', NULL, 1, '{}', 1`),
  event(`3, 'evt_short', 3, 'balance.low', NULL, NULL, '{}', 1`),
  "UPDATE webhook_events SET body = '{ }'",
  "DELETE FROM webhook_events WHERE event_id = 1",
  delivery("3, 1, 1, 'waiting', 5, NULL, 0, 10"),
  delivery("3, 2, 1, 'waiting', NULL, NULL, 0, 10"),
  delivery("3, 2, 1, 'delivered', 5, NULL, 0, 10"),
  delivery("3, 2, 1, 'sending', 5, NULL, 0, 10"),
  delivery("3, 2, 1, 'lost', NULL, NULL, 0, 10"),
  delivery("3, 2, 1, 'waiting', 5, NULL, 11, 10"),
  delivery("3, 2, 9, 'waiting', 5, NULL, 0, 10"),
  "DELETE FROM webhook_deliveries WHERE delivery_id = 1",
  webhookAttempt("2, 1, 1, 1, 5, 0, NULL, 'dns'"),
  webhookAttempt("2, 1, 1, 0, 5, 0, NULL, 'dns'"),
  webhookAttempt("2, 1, 1, 2, 5, -1, NULL, 'dns'"),
  webhookAttempt("2, 1, 1, 2, 5, 0, 99, 'dns'"),
  webhookAttempt("2, 1, 1, 2, 5, 0, NULL, ''"),
  "UPDATE webhook_attempts SET error = NULL",
];

for (const engine of ["sqlite", "postgres"] as const) {
  test(`the tables of ${engine} have the schema's columns, and take and refuse the same rows`, async () => {
    const store = await freshStore(engine);
    await store.run((tx) => insertUser(tx, "User", 50));
    await store.run((tx) => insertKey(tx, 3));
    await store.run((tx) => insertService(tx, "service"));
    await store.query(
      "INSERT INTO providers (provider_id, name, protocol, url, key, created_at) VALUES (1, 'Acme', 'p', 'http://x', 'k', 1)",
    );
    for (const { name, columns } of TABLES) {
      const names = columns.map((column) => column.name).join(", ");
      expect([name, await store.query(`SELECT ${names} FROM ${name} WHERE 1 = 0`)]).toEqual([
        name,
        [],
      ]);
    }
    for (const statement of TAKEN) await store.query(statement);
    await store.query(
      "INSERT INTO grants (service_id, reseller_account, created_at) VALUES ('service', 3, 1)",
    );
    // What may change does.
    await store.query("UPDATE orders SET start_count = 1 WHERE order_id = 50");
    const taken: string[] = [];
    for (const statement of REFUSED) {
      const isTaken = await store.query(statement).then(
        () => true,
        () => false,
      );
      if (isTaken) taken.push(statement);
    }
    expect(taken).toEqual([]);
    await store.close();
  });
}

test("a column that a row leaves out gets the same value from PostgreSQL as from the program", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const declared = (await server.query(
    database,
    `SELECT table_name || '.' || column_name AS "column", column_default AS value
      FROM information_schema.columns WHERE table_schema = 'public'`,
  )) as { column: string; value: string | null }[];
  const defaults = new Map(declared.map(({ column, value }) => [column, value]));
  let compared = 0;
  for (const { name, columns, numberField } of TABLES) {
    for (const { name: column, field, initial } of columns) {
      const found = defaults.get(`${name}.${column}`);
      // SQLite's alone, what every row must give, and numbers, which are given always.
      if (found === undefined || initial === undefined || field === numberField) continue;
      const [row] = await server.query(database, `SELECT (${found})::text AS value`);
      const expected = typeof initial === "boolean" ? Number(initial) : initial;
      expect([name, column, row!["value"]]).toEqual([
        name,
        column,
        expected === null ? null : String(expected),
      ]);
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(50);
});

test("the lists of statuses in checks, triggers and partial indexes follow the table of statuses", async () => {
  const server = await cluster();
  await server.query("postgres", "CREATE DATABASE listed_statuses");
  await migrate(server.address("listed_statuses"), 1);
  const rows = await server.query(
    "listed_statuses",
    `SELECT indexdef AS text FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c'
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  );
  expect(statusListsIn(rows.map((row) => String(row["text"])))).toEqual(requiredStatusLists());
});

describe("migrations of PostgreSQL", () => {
  test("are applied once, however many servers start at once", async () => {
    const server = await cluster();
    await server.query("postgres", "CREATE DATABASE empty_one");
    const address = server.address("empty_one");
    const applied = await Promise.all([1, 2, 3].map(() => migrate(address, 5)));
    expect(applied.flat()).toEqual(MIGRATIONS.map(({ name }) => name));
    expect(await migrate(address, 6)).toEqual([]);
    expect(
      await server.query(
        "empty_one",
        "SELECT version::int, applied_at::int FROM migrations ORDER BY version",
      ),
    ).toEqual(MIGRATIONS.map(({ version }) => ({ version, applied_at: 5 })));
  });

  test("of a newer program, or of another build, are refused", async () => {
    const address = await freshPostgres();
    expect(migrate(address, 1, { migrations: [] })).rejects.toBeInstanceOf(SchemaError);
    const altered = [{ version: 1, name: "0001_initial", sql: "SELECT 1" }];
    expect(migrate(address, 1, { migrations: altered })).rejects.toThrow(
      "another build of schema 1",
    );
    const released = [{ version: 1, name: "0001_released", sql: "SELECT 1" }];
    expect(migrate(address, 1, { migrations: released })).rejects.toThrow("a version before 0.9.0");
  });

  test("that fail leave nothing behind", async () => {
    const server = await cluster();
    await server.query("postgres", "CREATE DATABASE empty_two");
    const broken = [
      { version: 1, name: "0001_broken", sql: "CREATE TABLE one (a int); SELECT 1 / 0" },
    ];
    expect(migrate(server.address("empty_two"), 1, { migrations: broken })).rejects.toThrow(
      "division by zero",
    );
    const tables = await server.query(
      "empty_two",
      "SELECT 1 FROM pg_tables WHERE tablename IN ('one', 'migrations')",
    );
    expect(tables).toEqual([]);
  });
});

test("a migration is applied while servers of the version before place orders: none is lost or refused", async () => {
  const server = await cluster();
  const name = `busy_${crypto.randomUUID().replaceAll("-", "")}`;
  await server.query("postgres", `CREATE DATABASE ${name}`);
  const address = server.address(name);
  await migrate(address, 1);
  const store = createPostgresStore(address);
  const [made] = await store.runBatch([
    {
      run: (tx) => {
        insertService(tx, "likes");
        const account = insertUser(tx, "anna", 1_000_000);
        return { account, keyId: insertKey(tx, account) };
      },
    },
  ]);
  const { account, keyId } = (made as { done: { account: number; keyId: string } }).done;
  const writer = createPostgresWriter({ store, now: Date.now });
  const order = { resellerAccount: account, keyId, service: "likes", link: "x", quantity: 1 };
  let placed = 0;
  let isDone = false;
  const load = Array.from({ length: 8 }, async () => {
    while (!isDone) {
      await writer.submit("placeOrder", order);
      placed += 1;
      await store.read((reader) => reader.one(JOINED));
    }
  });
  // Each changes tables that batches and reads take in another order.
  const later = Array.from({ length: 10 }, (_, index) => ({
    version: 1000 + index,
    name: `1000_later_${index}`,
    sql: `ALTER TABLE transfers ADD COLUMN later_${index} bigint; ALTER TABLE orders ADD COLUMN later_${index} bigint;
      ALTER TABLE users ADD COLUMN later_${index} bigint; ALTER TABLE services ADD COLUMN later_${index} bigint`,
  }));
  for (let count = 1; count <= later.length; count += 1) {
    const before = placed;
    await migrate(address, 2, { migrations: [...MIGRATIONS, ...later.slice(0, count)] });
    while (placed < before + 10) await new Promise((resolve) => setImmediate(resolve));
  }
  isDone = true;
  await Promise.all(load);
  await writer.close();
  await store.close();
  expect(await server.query(name, "SELECT count(*)::int AS n FROM orders")).toEqual([
    { n: placed },
  ]);
});
