// One user: money, orders, transactions, keys, own prices and child users.

/** @jsxImportSource preact */

import { readInvoiceSettings } from "../../db/ledger/invoices.ts";
import { type BillingDetails, billingDetails } from "../../db/tables/invoices.ts";
import { listKeys, type ListedKey } from "../../db/users/keys.ts";
import type { Reader } from "../../db/port/port.ts";
import { listTransactionsBelow, type TransactionRow } from "../../db/ledger/transactions.ts";
import {
  listChildren,
  listOwnPrices,
  type OwnPrice,
  readUserFigures,
  type UserFigures,
} from "../../db/users/user-figures.ts";
import { readAccountTotals } from "../../db/reports/reseller-spend.ts";
import {
  firstShownDay,
  type KeyRequests,
  readAccountRequests,
  readKeyRequests,
} from "../../db/users/key-requests.ts";
import { findContact, type UserContact } from "../../db/users/user-contacts.ts";
import { counted } from "../../domain/values/text.ts";
import { type LimitFacts, readLimitFacts } from "../../db/users/reseller-limits.ts";
import { findUserByAccount, type User } from "../../db/users/users.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import { withAuthors } from "../administrators/authors.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { Facts, List } from "../../web/components/lists.tsx";
import { Badge, Money, Time, Typed, TypedLines } from "../../web/components/shown.tsx";
import { requireShownUser, userPath } from "./shown-user.ts";
import { Account } from "./user-account.tsx";
import { Balance } from "./user-balance.tsx";
import { Billing } from "./user-billing.tsx";
import { Discount } from "./user-discount.tsx";
import { Limits, LimitsForm } from "./reseller-limits.tsx";
import { Keys } from "./user-keys.tsx";
import { Members, readUserMembers, type UserMembers } from "../members/user-members.tsx";
import { OwnPrices } from "./user-prices.tsx";
import { Transactions } from "./user-transactions.tsx";
import { listUserWebhooks, type UserWebhook, Webhooks } from "./user-webhooks.tsx";

/** Limit for the counted orders of each status. */
const COUNTED = 10_000;
const LINES = 10;
const CHILDREN = 50;
const SPENT_DAYS = 30;
const KEYS = 200;

interface ShownUser {
  user: User;
  parent: string | null;
  figures: UserFigures;
  contact: UserContact;
  /** What it spent in the last 30 UTC days, in micros. */
  spent: bigint;
  requests: KeyRequests;
  requestsOf: (keyId: string) => KeyRequests;
  limits: LimitFacts;
  lines: (TransactionRow & { by: string })[];
  keys: ListedKey[];
  prices: OwnPrice[];
  webhooks: UserWebhook[];
  members: UserMembers;
  billing: BillingDetails | null;
  hasInvoices: boolean;
  children: { username: string; name: string; balanceMicros: bigint }[];
}

function readShownUser(reader: Reader, username: string, now: number): ShownUser {
  const user = requireShownUser(reader, username);
  const { account, parentAccount } = user;
  const window = { from: null, to: null };
  const query = { account, kind: null, orderId: null, window };
  const keys = listKeys(reader, { account }, null, KEYS);
  const from = firstShownDay(now);
  return {
    user,
    parent: parentAccount === null ? null : findUserByAccount(reader, parentAccount)!.username,
    figures: readUserFigures(reader, account, COUNTED),
    contact: findContact(reader, account),
    spent: readAccountTotals(reader, [account], SPENT_DAYS, now)(account).spentMicros,
    requests: readAccountRequests(reader, [account], from)(account),
    requestsOf: readKeyRequests(
      reader,
      keys.map(({ id }) => id),
      from,
    ),
    limits: readLimitFacts(reader, user, COUNTED, now),
    lines: withAuthors(
      reader,
      listTransactionsBelow(reader, query, Number.MAX_SAFE_INTEGER, LINES).rows,
    ),
    keys,
    prices: listOwnPrices(reader, account),
    webhooks: listUserWebhooks(reader, user),
    members: readUserMembers(reader, user),
    billing: reader.row(billingDetails.byKey, account) ?? null,
    hasInvoices: parentAccount === null && readInvoiceSettings(reader).mode !== "off",
    children: listChildren(reader, account, 0, CHILDREN),
  };
}

export async function userPage(call: Call, panel: Panel): Promise<View> {
  const shown = await call.read((reader) =>
    readShownUser(reader, call.params["user"]!, panel.now()),
  );
  const { user, contact, limits, lines, keys, requestsOf, prices, webhooks, children } = shown;
  const { billing, hasInvoices } = shown;
  const { username } = user;
  const path = userPath(username);
  const { role } = call.visitor.administrator;
  const mayChange = mayAct(role, "operator");
  const isReseller = user.parentAccount === null;
  return {
    title: `User ${username}`,
    body: (
      <>
        <h1>
          {username} {!user.active && <Badge state="inactive" tone="bad" />}
        </h1>
        {contact.note !== null && (
          <div class="notice quiet">
            <TypedLines text={contact.note} />
          </div>
        )}
        <div class="columns">
          <section class="card">
            <UserFacts {...shown} />
          </section>
          {mayAct(role, "owner") && (
            <Balance
              username={username}
              now={panel.now()}
              most={panel.settings.confirmAboveMicros}
              hasInvoices={hasInvoices}
            />
          )}
          {mayChange && <Account {...{ user, contact, path }} isOwner={mayAct(role, "owner")} />}
        </div>
        <h2>Transactions</h2>
        <Transactions lines={lines} />
        <p class="actions">
          {isReseller && mayChange && user.active && (
            <a href={`${path}/order`}>Place an order for {username}</a>
          )}
          <a href={`${path}/transactions`}>All transactions</a>
          <a href={`${path}/transactions.csv`}>as CSV</a>
          {isReseller && user.erasedAt === null && <a href={`${path}/members`}>Members</a>}
          {isReseller && <a href={`/invoices?user=${encodeURIComponent(username)}`}>Invoices</a>}
          <a href={`/audit?user=${encodeURIComponent(username)}`}>Changes in the audit log</a>
        </p>
        {isReseller && (
          <>
            <Keys
              keys={keys}
              requestsOf={requestsOf}
              path={path}
              mayChange={mayChange}
              mayCredit={mayAct(role, "owner")}
              now={panel.now()}
            />
            <Limits facts={limits} defaults={panel.settings} />
            {mayChange && (
              <section class="card narrow-card">
                <LimitsForm facts={limits} path={path} />
              </section>
            )}
            <Webhooks webhooks={webhooks} path={path} mayChange={mayChange} />
            {user.erasedAt === null && <Members of={shown.members} path={path} now={panel.now()} />}
            <OwnPrices prices={prices} path={path} mayChange={mayChange} />
            {mayChange && (
              <section class="card narrow-card">
                <Discount user={user} path={path} />
              </section>
            )}
            {mayChange && (
              <section class="card narrow-card">
                <Billing billing={billing} path={path} />
              </section>
            )}
            <h2>Child users</h2>
            <List
              caption="Child users"
              rows={children}
              empty="No child users."
              columns={[
                {
                  heading: "User",
                  cell: (child) => <a href={`/users/${child.username}`}>{child.username}</a>,
                },
                { heading: "Name", cell: ({ name }) => <Typed text={name} /> },
                {
                  heading: "Balance USD",
                  number: true,
                  cell: ({ balanceMicros }) => <Money micros={balanceMicros} />,
                },
              ]}
            />
            {children.length > 0 && (
              <p class="actions">
                <a href={`/users?parent=${encodeURIComponent(username)}`}>All child users</a>
              </p>
            )}
          </>
        )}
      </>
    ),
  };
}

function UserFacts({ user, contact, parent, figures, spent, requests }: ShownUser) {
  const { username } = user;
  const orders = `/orders?user=${encodeURIComponent(username)}`;
  const present = ORDER_STATUSES.filter((status) => figures.orders[status] > 0);
  return (
    <Facts
      facts={[
        [
          "Balance USD",
          <strong class="big">
            <Money micros={user.balanceMicros} />
          </strong>,
        ],
        ["Spent USD", <Money micros={user.depositedMicros - user.balanceMicros} />],
        ["Spent in 30 days USD", <Money micros={spent} />],
        ["Credits less debits USD", <Money micros={user.depositedMicros} />],
        ...(user.discountPpm > 0
          ? ([["Discount", `${discountPercent(user.discountPpm)} %`]] as const)
          : []),
        ["Name", <Typed text={user.name} />],
        ...(contact.email === null
          ? []
          : ([["E-mail", <a href={`mailto:${contact.email}`}>{contact.email}</a>]] as const)),
        [
          "Kind",
          parent === null ? (
            "reseller"
          ) : (
            <>
              child of <a href={`/users/${parent}`}>{parent}</a>
            </>
          ),
        ],
        ["Id", <code>{user.id}</code>],
        ["Created (UTC)", <Time at={user.createdAt} />],
        ["Last order (UTC)", <Time at={figures.lastOrderAt} />],
        ["Key last used (UTC)", <Time at={figures.keyUsedAt} />],
        [
          "Requests in 30 days",
          requests.errors === 0
            ? requests.requests
            : `${requests.requests}, ${counted(requests.errors, "error")}`,
        ],
        [
          "Orders",
          present.length === 0 ? (
            "none"
          ) : (
            <span class="states">
              {present.map((status) => {
                const count = figures.orders[status];
                return (
                  <a href={`${orders}&status=${status}`}>
                    {count >= COUNTED ? `${COUNTED}+` : count} <Badge state={status} />
                  </a>
                );
              })}
            </span>
          ),
        ],
      ]}
    />
  );
}
