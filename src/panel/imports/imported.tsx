// Moving in: what was imported from another panel, the keys to rotate, the orders that are still open, and past orders.

/** @jsxImportSource preact */

import {
  countImported,
  countKeysToRotate,
  countOpenByProvider,
  findPanelImport,
  findPastOrder,
  listPastOrdersBefore,
  type ListedPastOrder,
} from "../../db/imports/imports.ts";
import { listKeys } from "../../db/users/keys.ts";
import { findUser, usernameOf } from "../../db/users/users.ts";
import { shownStart } from "../../domain/users/keys.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { counted } from "../../domain/values/text.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { Field, Filters } from "../../web/components/fields.tsx";
import { Facts, List, Pager } from "../../web/components/lists.tsx";
import { Badge, Cents, Money, Time, Typed, TypedLink } from "../../web/components/shown.tsx";
import { userPath } from "../users/shown-user.ts";

/** Limit for the keys that are listed. */
const KEYS_SHOWN = 50;
const PAGE = 50;

export async function importedPage(call: Call, { now }: Panel): Promise<View> {
  const { filters } = call;
  const username = filters.optionalUsername("user");
  const found = await call.read((reader) => {
    const user = username === null ? null : findUser(reader, username);
    if (user === undefined) filters.addError("user", "User not found");
    const past = { account: user?.account ?? null, before: filters.below(), limit: PAGE + 1 };
    return {
      started: findPanelImport(reader),
      counts: countImported(reader),
      toRotate: countKeysToRotate(reader),
      open: countOpenByProvider(reader),
      keys: listKeys(reader, { imported: true, active: true }, null, KEYS_SHOWN * 2)
        .filter(({ replacedBy, ended }) => replacedBy === null && !ended)
        .slice(0, KEYS_SHOWN),
      orders: filters.errors.size > 0 ? [] : listPastOrdersBefore(reader, past),
    };
  });
  const { started, counts, toRotate, open, keys, orders } = found;
  const isOwner = mayAct(call.visitor.administrator.role, "owner");
  if (!started) return { title: "Moving in", body: <Nothing isOwner={isOwner} /> };
  const rows = orders.slice(0, PAGE);
  return {
    title: "Moving in",
    body: (
      <>
        <h1>Moving in</h1>
        {isOwner && <ImportLink />}
        {started.finishedAt === null && (
          <p class="notice bad">
            {(started.runUntil ?? 0) <= now()
              ? "The import did not run to its end. Start the same import again: it adds only what is missing."
              : "An import is running, or was interrupted less than 30 seconds ago."}
          </p>
        )}
        <Facts
          facts={[
            ["Began (UTC)", <Time at={started.startedAt} />],
            ["Last finished (UTC)", <Time at={started.finishedAt} />],
            ["Users", counts.users],
            ["Their opening balances, USD", <Money micros={counts.balance} />],
            ["Services", counts.services],
            ["Keys", counts.keys],
            ["Past orders", counts.pastOrders],
            ["Orders that were open", counts.orders],
            ["Old order numbers, up to", started.ordersThrough],
          ]}
        />
        <h2>Orders that are still open</h2>
        <List
          caption="Open imported orders by provider"
          rows={open}
          empty="None: all have ended here."
          columns={[
            {
              heading: "Provider",
              cell: ({ provider }) =>
                provider === null ? (
                  "delivered by hand"
                ) : (
                  <a href={`/providers/${provider}`}>{provider}</a>
                ),
            },
            { heading: "Orders", number: true, cell: (row) => row.orders },
            { heading: "Oldest (UTC)", cell: ({ oldestAt }) => <Time at={oldestAt} /> },
          ]}
        />
        <h2>Keys to rotate</h2>
        <p>
          {toRotate === 0
            ? "None."
            : `${counted(toRotate, "key")} of the other panel still ${toRotate === 1 ? "works" : "work"}. That panel, and everyone who has a copy of its database, knows ${toRotate === 1 ? "it" : "them"}: ask the customers to rotate.`}
        </p>
        {toRotate > 0 && (
          <List
            caption="Keys to rotate, oldest first"
            rows={keys}
            empty="None."
            columns={[
              {
                heading: "Reseller",
                cell: (key) => (
                  <a href={`${userPath(key.username)}#keys`}>
                    <Typed text={key.username} />
                  </a>
                ),
              },
              { heading: "Begins with", cell: (key) => <code>{shownStart(key)}…</code> },
              { heading: "Label", cell: ({ label }) => <Typed text={label} /> },
              { heading: "Last used (UTC)", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
            ]}
          />
        )}
        {toRotate > keys.length && (
          <p>{`The first ${keys.length} are listed; the rest follow once these are rotated.`}</p>
        )}
        <h2>Past orders</h2>
        <Filters action="/imported" filters={filters}>
          <Field name="user" label="Reseller" />
        </Filters>
        <List
          caption="Orders that ended in the other panel, newest first"
          rows={rows}
          empty="No past orders."
          compact
          columns={[
            {
              heading: "Order",
              cell: ({ orderId }) => <a href={`/imported/orders/${orderId}`}>{orderId}</a>,
            },
            { heading: "Status", cell: ({ status }) => <Badge state={status} /> },
            { heading: "Reseller", cell: (row) => <UserLink {...row} /> },
            { heading: "Service", cell: ({ serviceName }) => <Typed text={serviceName} /> },
            { heading: "Quantity", number: true, cell: ({ quantity }) => quantity },
            {
              heading: "Charge USD",
              number: true,
              cell: ({ chargeMicros }) => <Cents micros={chargeMicros} />,
            },
            { heading: "Placed (UTC)", cell: ({ createdAt }) => <Time at={createdAt} short /> },
          ]}
        />
        <Pager call={call} next={orders.length > PAGE ? rows.at(-1)!.orderId : null} />
      </>
    ),
  };
}

function UserLink({ username }: Pick<ListedPastOrder, "username">) {
  return (
    <a href={userPath(username)}>
      <Typed text={username} />
    </a>
  );
}

function ImportLink() {
  return (
    <p class="actions">
      <a class="button" href="/moving-in">
        Import from another panel
      </a>
    </p>
  );
}

function Nothing({ isOwner }: { isOwner: boolean }) {
  return (
    <>
      <h1>Moving in</h1>
      <p class="empty">Nothing was imported from another panel.</p>
      {isOwner ? (
        <ImportLink />
      ) : (
        <p>
          An owner can import users with their balances and keys, services with their numbers, and
          orders.
        </p>
      )}
    </>
  );
}

/** One order that ended in the other panel. */
export async function pastOrderPage(call: Call): Promise<View> {
  const { order, username } = await call.read((reader) => {
    const found = findPastOrder(reader, call.params["order"]!);
    if (!found) throw refusal("order_not_found");
    return { order: found, username: usernameOf(reader, found.resellerAccount) };
  });
  return {
    title: `Order ${order.orderId}`,
    body: (
      <>
        <h1>
          Order {order.orderId} <Badge state={order.status} /> <Badge state="imported" />
        </h1>
        <p>
          It ended in the other panel. It moved no money here, and nothing can be changed:{" "}
          <a href="/imported">Moving in</a>
        </p>
        <Facts
          facts={[
            ["Reseller", <UserLink username={username} />],
            ["Service", <Typed text={`${order.serviceName} (${order.serviceNumber})`} />],
            ["Link", <TypedLink text={order.link} />],
            ["Quantity", order.quantity],
            ["Remains", order.remains],
            ["Start count", order.startCount],
            ["Charge there, USD", <Money micros={order.chargeMicros} />],
            ["Placed (UTC)", <Time at={order.createdAt} />],
            ["Provider there", <Typed text={order.provider} />],
            ["Number at the provider", <Typed text={order.providerOrder} />],
          ]}
        />
      </>
    ),
  };
}
