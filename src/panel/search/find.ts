// Finds what an operator searches for: each kind by an exact value or a part of a name, a few of each.

import { listOperatorOrders } from "../../db/orders/operator-orders.ts";
import type { OperatorOrderFilter } from "../../db/orders/operator-order-filter.ts";
import { findPastOrder, listPastOrdersAtProvider } from "../../db/imports/imports.ts";
import { services } from "../../db/tables/catalogue.ts";
import type { Service } from "../../db/catalogue/services.ts";
import { listServicesAfter } from "../../db/catalogue/service-lists.ts";
import { findMemberByEmail, listInvitedByEmail } from "../../db/members/members.ts";
import type { Reader } from "../../db/port/port.ts";
import { listProviders } from "../../db/providers/providers.ts";
import { listKeysByStart } from "../../db/users/keys.ts";
import { usernameOf } from "../../db/users/users.ts";
import { listAccountsByEmail } from "../../db/users/user-contacts.ts";
import { findUserByAccount } from "../../db/users/users.ts";
import { listUsersBelow } from "../../db/users/user-lists.ts";
import { isOrderNumber } from "../../domain/orders/orders.ts";
import { LINK_PART, REFERENCE } from "../../domain/values/kinds.ts";
import { startOfKey } from "../../domain/users/keys.ts";
import { isCuid } from "../../domain/values/text.ts";
import { stateText } from "../../web/components/shown.tsx";

/** Limit for the results of each kind. */
const SHOWN = 8;
/** The fewest letters to search for in links: too many links contain a shorter text. */
const LINK_LEAST = 3;
/** What every key begins with. */
const KEY = /^rk_/;

export interface Found {
  /** Such as `Order 12`. */
  title: string;
  /** The text that matched, and more by which to recognise the thing. */
  text: string;
  path: string;
}

export interface FoundKind {
  heading: string;
  found: Found[];
}

/**
 * Returns what matches the text, by kind; kinds without a match are left out. For an order's number it returns only
 * that order and the service with this number, because the number may be a part of many names.
 */
export function find(reader: Reader, text: string): FoundKind[] {
  const orders = { heading: "Orders", found: findOrders(reader, text) };
  const numbered = { heading: "Services", found: findNumberedService(reader, text) };
  if (isOrderNumber(text) && orders.found.length > 0)
    return [orders, numbered].filter(({ found }) => found.length > 0);
  const kinds: FoundKind[] = [
    orders,
    { heading: "Resellers", found: findUsers(reader, text) },
    { heading: "Members", found: findMembers(reader, text) },
    { ...numbered, found: [...numbered.found, ...findServices(reader, text)] },
    { heading: "Providers", found: findProviders(reader, text) },
    { heading: "Keys", found: findKeys(reader, text) },
  ];
  return kinds.filter(({ found }) => found.length > 0);
}

function findOrders(reader: Reader, text: string): Found[] {
  const isId = isOrderNumber(text) || isCuid(text);
  const isReference = "value" in REFERENCE.read(text);
  const isLink = text.length >= LINK_LEAST && "value" in LINK_PART.read(text);
  const filters: (readonly [isMeant: boolean, filter: OperatorOrderFilter, why: string])[] = [
    [isId, { ids: [text] }, ""],
    [true, { providerOrder: text }, "has this number at the provider: "],
    [isReference, { reference: text }, "has this reference: "],
    [isLink, { link: text }, ""],
  ];
  const found = new Map<number, Found>();
  for (const [isMeant, filter, why] of filters) {
    if (!isMeant) continue;
    const { rows } = listOperatorOrders(reader, filter, Number.MAX_SAFE_INTEGER, SHOWN);
    for (const { orderId, status, username, serviceName, link } of rows) {
      if (found.has(orderId)) continue;
      const what = `${why}${stateText(status)}, ${username}, ${serviceName}, ${link}`;
      found.set(orderId, { title: `Order ${orderId}`, text: what, path: `/orders/${orderId}` });
    }
  }
  const named = findPastOrder(reader, text);
  const past = [
    ...(named ? [{ order: named, why: "" }] : []),
    ...listPastOrdersAtProvider(reader, text, SHOWN).map((order) => ({
      order,
      why: "had this number at the provider: ",
    })),
  ];
  for (const { order, why } of past) {
    const { orderId, status, serviceName, link, resellerAccount } = order;
    if (found.has(orderId)) continue;
    const what = `${why}past, ${stateText(status)}, ${usernameOf(reader, resellerAccount)}, ${serviceName}, ${link}`;
    const title = `Order ${orderId}`;
    found.set(orderId, { title, text: what, path: `/imported/orders/${orderId}` });
  }
  return [...found.values()].slice(0, SHOWN);
}

function findUsers(reader: Reader, text: string): Found[] {
  const { rows } = listUsersBelow(reader, { search: text }, Number.MAX_SAFE_INTEGER, SHOWN);
  // A whole address is found in all users, a part of one in the newest.
  const accounts = listAccountsByEmail(reader, text, SHOWN);
  const byEmail = reader.each(accounts, (account) => findUserByAccount(reader, account)!);
  const found = new Map([...rows, ...byEmail].map((user) => [user.account, user]));
  return [...found.values()].slice(0, SHOWN).map(({ username, name, active }) => ({
    title: username,
    text: active ? name : `${name}, inactive`,
    path: `/users/${username}`,
  }));
}

/** Finds a service by its number under /api/v2. */
function findNumberedService(reader: Reader, text: string): Found[] {
  const service = isOrderNumber(text) ? reader.row(services.byNumber, Number(text)) : undefined;
  return service ? [foundService(service, `number ${service.number}, `)] : [];
}

/** Finds members of resellers by the whole e-mail address. */
function findMembers(reader: Reader, text: string): Found[] {
  const holder = findMemberByEmail(reader, text);
  const invited = listInvitedByEmail(reader, text, SHOWN);
  return [...(holder ? [holder] : []), ...invited].map(({ email, name, role, account }) => {
    const username = usernameOf(reader, account);
    const path = `/users/${encodeURIComponent(username)}/members`;
    return { title: email, text: `${name}, ${role} of ${username}`, path };
  });
}

function findServices(reader: Reader, text: string): Found[] {
  const { rows } = listServicesAfter(reader, { search: text }, null, SHOWN);
  return rows.filter(({ number }) => String(number) !== text).map((each) => foundService(each, ""));
}

function foundService({ id, name, active }: Service, why: string): Found {
  const text = `${why}${active ? id : `${id}, inactive`}`;
  return { title: name, text, path: `/services/${id}` };
}

function findProviders(reader: Reader, text: string): Found[] {
  const part = text.toLowerCase();
  return listProviders(reader)
    .filter(
      ({ name, url }) => name.toLowerCase().includes(part) || new URL(url).host.includes(part),
    )
    .slice(0, SHOWN)
    .map(({ name, url }) => ({ title: name, text: url, path: `/providers/${name}` }));
}

/** Only the first characters of a key are stored: a whole key is found by them, too. */
function findKeys(reader: Reader, text: string): Found[] {
  if (!KEY.test(text)) return [];
  return listKeysByStart(reader, startOfKey(text), SHOWN).map(
    ({ start, label, username, active }) => ({
      title: `${start}…`,
      text: `${username}${label === "" ? "" : `, ${label}`}${active ? "" : ", inactive"}`,
      path: `/users/${username}`,
    }),
  );
}
