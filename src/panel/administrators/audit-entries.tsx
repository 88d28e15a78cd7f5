// Entries of the audit log as operators read them: who, what and which change, without the names that the program stores.

/** @jsxImportSource preact */

import { useContext } from "preact/hooks";
import type { ListedAuditEntry } from "../../db/administrators/audit.ts";
import type { Reader } from "../../db/port/port.ts";
import { namesOfProviders } from "../../db/providers/providers.ts";
import { findWebhook } from "../../db/webhooks/webhooks.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import type { AuditFacts } from "../../domain/administrators/audit.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import type { BonusStep } from "../../domain/payments/payment-amounts.ts";
import { bonusStepsText, readTexts } from "../../domain/payments/payment-methods.ts";
import { isUsername } from "../../domain/users/users.ts";
import { stateText, timeText, Typed, Zone } from "../../web/components/shown.tsx";
import { userPath } from "../users/shown-user.ts";
import { authorText, keyText, memberText } from "./authors.ts";

export interface ShownEntry extends ListedAuditEntry {
  by: string;
  /** What was changed. */
  what: string;
  /** Names of providers by number. */
  providers: ReadonlyMap<number, string>;
}

export function showEntries(reader: Reader, entries: readonly ListedAuditEntry[]): ShownEntry[] {
  const providers = namesOfProviders(reader);
  return reader.each(entries, (entry) => ({
    ...entry,
    by: authorText(reader, entry),
    what: subjectText(reader, entry),
    providers,
  }));
}

function nounOf({ action }: Pick<ListedAuditEntry, "action">): string {
  return action.split(".")[0]!;
}

/** Names the subject. Ids mean nothing to a reader. */
function subjectText(reader: Reader, entry: ListedAuditEntry): string {
  const { subject, after } = entry;
  const noun = nounOf(entry);
  if (noun === "key") return keyText(reader, subject);
  if (noun === "member") return memberText(reader, subject);
  if (noun === "webhook") return findWebhook(reader, subject)?.url ?? `webhook ${subject}`;
  if (noun === "registration") return String(after?.["email"] ?? "a visitor of the portal");
  if (noun === "notice") return "a notice in the portal";
  if (noun === "mail") return `e-mail ${subject}`;
  return subject;
}

/** Shows what was changed, with a link if it has a page. */
export function Subject({ entry }: { entry: ShownEntry }) {
  const path = pathOf(entry);
  const text = <Typed text={entry.what} />;
  return path === null ? text : <a href={path}>{text}</a>;
}

/**
 * Returns the page of an entry's subject by the first word of the action. A user's page is found by its present name.
 */
function pathOf(entry: ListedAuditEntry): string | null {
  const { subject, username, after } = entry;
  const noun = nounOf(entry);
  switch (noun) {
    case "order":
      return `/orders/${subject}`;
    case "service":
    case "grant":
    case "route":
      return `/services/${subject}`;
    case "provider":
      return `/providers/${subject}`;
    case "user":
      return userPath(username ?? subject);
    case "key":
    case "webhook":
      return username === null || !isUsername(username) ? null : `${userPath(username)}#${noun}s`;
    case "member":
    case "inspection":
    case "registration":
      return username === null ? null : `${userPath(username)}/members`;
    case "alert":
      return "/alerts";
    case "payment":
      return `/payments/${subject}`;
    case "payment_method":
      return after === null ? "/payment-methods" : `/payment-methods/${subject}`;
    case "notice":
      return "/members/notices";
    default:
      return null;
  }
}

/** Words for the names of facts that are not words themselves. */
const FACT_WORDS: Record<string, string> = {
  per: "unit of the price",
  providerId: "provider",
  providerService: "service at the provider",
  providerOrder: "number at the provider",
  refundedMicros: "refunded",
  url: "URL",
  email: "e-mail",
};

/** Names a fact in words: `low balance` for lowBalanceMicros. Other texts, such as a route, stay as they are. */
export function factWords(name: string): string {
  const words = FACT_WORDS[name];
  if (words !== undefined) return words;
  if (!/^[a-z]+(?:[A-Z][a-z]*)+$/.test(name)) return name;
  return name
    .replace(/(?:Micros|Ppm|At)$/, "")
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Lists each field that differs, with its old and new value. */
export function Change({ entry: { before, after, providers } }: { entry: ShownEntry }) {
  const zone = useContext(Zone);
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const textOf = (name: string, facts: AuditFacts | null) =>
    valueText(name, facts?.[name], zone, providers);
  return (
    <ul class="changes">
      {after === null && <li>removed</li>}
      {names.map((name) => {
        const [was, is] = [textOf(name, before), textOf(name, after)];
        if (was === "" && is === "") return null;
        return (
          <li>
            {factWords(name)}{" "}
            {was !== "" && (
              <del>
                <Typed text={was} />
              </del>
            )}{" "}
            {is !== "" && (
              <ins>
                <Typed text={is} />
              </ins>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** Values that are stored in a form for programs. */
const TEXT_VALUES: Record<string, (value: string) => string> = {
  status: stateText,
  reported: stateText,
  names: languagesText,
  instructions: languagesText,
  bonusSteps: (json) => bonusStepsText(JSON.parse(json) as BonusStep[]),
};

function languagesText(json: string): string {
  return Object.entries(readTexts(json))
    .map(([language, text]) => `${language}: ${text}`)
    .join("; ");
}

function valueText(
  name: string,
  value: AuditFacts[string] | undefined,
  zone: string,
  providers: ReadonlyMap<number, string>,
): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "bigint") return formatMicros(value);
  if (typeof value === "number") {
    if (name.endsWith("Micros")) return formatMicros(value);
    if (name.endsWith("At")) return timeText(value, zone);
    if (name.endsWith("Ppm")) return `${discountPercent(value)} %`;
    if (name === "providerId") return providers.get(value) ?? String(value);
  }
  return TEXT_VALUES[name]?.(String(value)) ?? String(value);
}
