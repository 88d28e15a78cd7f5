// The index of the reference: every endpoint, section, error and field with its address. The browser's find works on it, and
// the search of all pages reads it.

/** @jsxImportSource preact */

import { errorEntriesOf } from "../guide/errors.tsx";
import type { GuidePage } from "../guide/guide.ts";
import type { OpenApiDocument } from "../schemas/document.ts";
import type { Schema } from "../schemas/operation.ts";
import {
  customerEndpointsOf,
  type Endpoint,
  JSON_TYPE,
  PAYMENT_TAG,
  paymentEndpointsOf,
} from "./documented-endpoints.ts";
import { anchorOf, fieldsOf } from "./fields.tsx";
import { Prose } from "./parts.tsx";

export function ReferenceIndex({
  document,
  guide,
}: {
  document: OpenApiDocument;
  guide: readonly GuidePage[];
}) {
  const endpoints = customerEndpointsOf(document);
  const groups = document.tags.filter(({ name }) => endpoints.some(({ tag }) => tag === name));
  return (
    <>
      {groups.map(({ name, description }) => (
        <section>
          <h2 id={name.toLowerCase()}>{name}</h2>
          <p>{description}</p>
          <EndpointList endpoints={endpoints.filter(({ tag }) => tag === name)} />
        </section>
      ))}
      <section>
        <h2 id="guide">Guide</h2>
        <ul class="entries" data-kind="Guide">
          {guide.flatMap(({ path, title: page, sections }) =>
            sections.map(({ id, title, about }) => (
              <li id={id}>
                <a href={`${path}#${id}`}>{title}</a>{" "}
                <span>
                  {page}. {about}
                </span>
              </li>
            )),
          )}
        </ul>
      </section>
      <section>
        <h2 id="codes">Errors</h2>
        <ul class="entries" data-kind="Error">
          {errorEntriesOf(document).map(({ code, status, message }) => (
            <li>
              <a href={`/docs/errors#${code}`}>{code}</a>{" "}
              <span>
                {status} {message}
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h2 id="members">Fields and parameters</h2>
        <ul class="entries" data-kind="Field">
          {[...memberEntries(document, endpoints)].map(([name, { url, about, places }]) => (
            <li>
              <a href={url}>{name}</a>{" "}
              <span>
                <Prose text={about} /> <i>{placesText(places)}</i>
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section class="aside">
        <h2 id={PAYMENT_TAG.toLowerCase()}>For payment programs</h2>
        <EndpointList endpoints={paymentEndpointsOf(document)} />
      </section>
    </>
  );
}

function EndpointList({ endpoints }: { endpoints: readonly Endpoint[] }) {
  return (
    <ul class="entries" data-kind="Endpoint">
      {endpoints.map(({ method, path, url, operation: { operationId: id, summary } }) => (
        <li id={id}>
          <a href={url}>{summary}</a>{" "}
          <span>
            <b class={`method ${method}`}>{method.toUpperCase()}</b> {path}
          </span>
        </li>
      ))}
    </ul>
  );
}

interface MemberEntry {
  /** Where it is described first. */
  url: string;
  about: string;
  /** Names of the calls that have it. */
  places: Set<string>;
}

/** Returns the parameters, the fields of bodies and those of answers by name. */
function memberEntries(
  document: OpenApiDocument,
  endpoints: readonly Endpoint[],
): Map<string, MemberEntry> {
  const entries = new Map<string, MemberEntry>();
  const add = (endpoint: Endpoint, name: string, anchor: string, about: unknown) => {
    const { url, operation } = endpoint;
    const entry = entries.get(name) ?? {
      url: `${url}#${anchor}`,
      about: typeof about === "string" ? firstSentence(about) : "",
      places: new Set(),
    };
    entry.places.add(operation.summary);
    entries.set(name, entry);
  };
  for (const endpoint of endpoints) {
    const { operationId: id, parameters, requestBody, responses } = endpoint.operation;
    for (const { name, description } of parameters) {
      if (name !== "x-request-id") add(endpoint, name, `${id}.${name}`, description);
    }
    const addFields = (schema: Schema | undefined, prefix: string) => {
      for (const field of schema ? fieldsOf(document, schema) : []) {
        const name = field.name.split(".").at(-1)!.replace("[]", "");
        add(endpoint, name, anchorOf(prefix, field.name), field.schema["description"]);
      }
    };
    addFields(requestBody?.content[JSON_TYPE]?.schema, `${id}.body`);
    addFields(responses["200"]!.content[JSON_TYPE]!.schema, `${id}.answer`);
  }
  return new Map([...entries].toSorted(([a], [b]) => a.localeCompare(b)));
}

function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
}

/** Longest list of calls that an entry names. */
const PLACES_SHOWN = 3;

function placesText(places: ReadonlySet<string>): string {
  const names = [...places];
  const more = names.length - PLACES_SHOWN;
  const shown = names.slice(0, PLACES_SHOWN).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}
