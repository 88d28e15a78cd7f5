// The search of the head of every page: one box for orders, users, services, providers and keys.

/** @jsxImportSource preact */

import { SEARCH } from "../../domain/values/kinds.ts";
import type { Call } from "../server/call.ts";
import { redirect } from "../../web/server/response.ts";
import type { View } from "../../web/server/results.ts";
import { Typed } from "../../web/components/shown.tsx";
import { find, type FoundKind } from "./find.ts";

/** Shows what matches; with exactly one match, or an order with this number, goes to it. */
export async function searchPage(call: Call): Promise<View | Response> {
  const given = call.filters.raw("q").trim();
  const read = SEARCH.read(given);
  const kinds = "value" in read ? await call.read((reader) => find(reader, read.value)) : [];
  const [first, ...others] = kinds.flatMap(({ found }) => found);
  const isOrder = first?.path === `/orders/${given}`;
  if (first && (isOrder || others.length === 0)) return redirect(first.path);
  return {
    title: "Search",
    body: (
      <>
        <h1>Search</h1>
        {given === "" ? (
          <p class="empty">
            Type an order's number or id, its number at the provider, a reference, a part of a link,
            a reseller or its e-mail, a service, a provider, or the beginning of a key.
          </p>
        ) : kinds.length === 0 ? (
          <p class="empty">
            Nothing matches <Typed text={given} />. Links are searched in the newest orders; the
            filters of the list of orders go further back.
          </p>
        ) : (
          kinds.map((kind) => <Kind {...kind} />)
        )}
      </>
    ),
  };
}

function Kind({ heading, found }: FoundKind) {
  return (
    <section>
      <h2>{heading}</h2>
      <ul class="found">
        {found.map(({ title, text, path }) => (
          <li>
            <a href={path}>
              <Typed text={title} />
            </a>{" "}
            <span>
              <Typed text={text} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
