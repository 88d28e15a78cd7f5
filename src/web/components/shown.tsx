// Formatting of values: amounts, times, states, and text that callers typed.

/** @jsxImportSource preact */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { formatMicros, type Micros, roundToCents } from "../../domain/ledger/money.ts";
import { showHidden } from "../../domain/values/text.ts";

/** Formats an amount with at least two decimals, and a narrow space between thousands. */
export function moneyText(micros: Micros): string {
  const [whole, decimals = ""] = formatMicros(micros).split(".");
  return `${whole!.replace(/\B(?=(\d{3})+$)/g, "\u202f")}.${decimals.padEnd(2, "0")}`;
}

const CENT_MICROS = 10_000n;

/** Formats an amount with two decimals, for tiles and charts. An amount of less than a cent keeps all its digits. */
export function centsText(micros: Micros): string {
  const exact = BigInt(micros);
  const isTiny = -CENT_MICROS < exact && exact < CENT_MICROS;
  return moneyText(isTiny ? exact : roundToCents(exact));
}

/** An amount in USD for lists: two decimals, and all digits while the pointer is on it. */
export function Cents({ micros, signed }: { micros: Micros; signed?: boolean }) {
  const [text, exact] = [centsText(micros), moneyText(micros)];
  return (
    <span class="money" title={text === exact ? undefined : exact}>
      {signed && micros > 0 ? "+" : ""}
      {text}
    </span>
  );
}

/** An amount in USD with all digits. `signed`, here and above: with a plus if it is positive. */
export function Money({ micros, signed }: { micros: Micros; signed?: boolean }) {
  return (
    <span class="money">
      {signed && micros > 0 ? "+" : ""}
      {moneyText(micros)}
    </span>
  );
}

/** A dash for a missing value. On a phone, pages.css hides list cells that hold only this dash. */
function None() {
  return <span class="none">–</span>;
}

/** The time zone of the times on a page, by its name. */
export const Zone = createContext("UTC");

/** Formats of times by zone. Making one takes longer than using it. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

export function timeText(at: number, zone = "UTC"): string {
  if (zone === "UTC") return new Date(at).toISOString().slice(0, 19).replace("T", " ");
  const format =
    FORMATS.get(zone) ??
    // Swedish dates and times are those of ISO 8601.
    new Intl.DateTimeFormat("sv", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
  FORMATS.set(zone, format);
  return format.format(at);
}

/** Names the zone of a page in a heading for times, which ends with `(UTC)`. */
export function inZone(heading: string, zone: string): string {
  return heading.replace(/\(UTC\)$/, `(${zone})`);
}

/** A time in the zone of the page, with `short` to the minute. The script shows how long ago it was. */
export function Time({ at, short = false }: { at: number | null; short?: boolean }) {
  const zone = useContext(Zone);
  if (at === null) return <None />;
  const text = timeText(at, zone);
  return <time datetime={new Date(at).toISOString()}>{short ? text.slice(0, 16) : text}</time>;
}

/** Matches a time in a sentence, as domain/values/times.ts writes it. */
const UTC_TIME = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC/;

/** A sentence with its times in the zone of the page, which each of them names. */
export function Sentence({ text }: { text: string }) {
  const zone = useContext(Zone);
  const found = UTC_TIME.exec(text);
  if (!found) return <>{text}</>;
  const at = Date.parse(`${found[1]}T${found[2]}Z`);
  return (
    <>
      {text.slice(0, found.index)}
      <time datetime={new Date(at).toISOString()}>
        {timeText(at, zone)} {zone}
      </time>
      <Sentence text={text.slice(found.index + found[0].length)} />
    </>
  );
}

/** A text up to this length is never broken across lines. */
const SHORT = 24;

/** Text that someone typed. Invisible characters, and characters that change its direction, are made visible. */
export function Typed({ text }: { text: string | null | undefined }) {
  if (text === null || text === undefined || text === "") return <None />;
  const shown = showHidden(text.toWellFormed()).replaceAll("\n", "<U+000A>");
  return <bdi class={shown.length <= SHORT ? "typed short" : "typed"}>{shown}</bdi>;
}

/** Text of several lines that someone typed. */
export function TypedLines({ text }: { text: string }) {
  return (
    <>
      {text.split("\n").map((line) => (
        <div>
          <Typed text={line} />
        </div>
      ))}
    </>
  );
}

const WEB = /^https?:\/\//i;

/** The beginning that nearly all web addresses share. */
const COMMON = /^https?:\/\/(www\.)?(?=.)/i;

/** Whether addresses that someone typed are no links, because anybody may have typed them. */
export const PlainAddresses = createContext(false);

/**
 * An address that someone typed. It is a link if it is a web address. The server never fetches it. `short`: without the
 * beginning that nearly all share.
 */
export function TypedLink({ text, short = false }: { text: string; short?: boolean }) {
  const isPlain = useContext(PlainAddresses);
  if (isPlain || !WEB.test(text) || !URL.canParse(text)) return <Typed text={text} />;
  return (
    <a href={new URL(text).href} rel="noopener noreferrer" target="_blank">
      <Typed text={short ? text.replace(COMMON, "") : text} />
    </a>
  );
}

/** Meanings of colours. Each has a text, a background and a fill in tokens.css. */
export type Tone = "good" | "busy" | "going" | "bad" | "part" | "quiet";

/** The tones of states, in badges and in charts. */
const TONES: Record<string, Tone> = {
  PENDING: "busy",
  PROCESSING: "going",
  COMPLETED: "good",
  PARTIAL: "part",
  FAILED: "bad",
  unknown: "bad",
  sending: "going",
  queued: "busy",
  active: "good",
};

export function toneOf(state: string): Tone {
  return TONES[state] ?? "quiet";
}

/** A state as a word: `Pending` for PENDING. */
export function stateText(state: string): string {
  return /^[A-Z]+$/.test(state) ? state[0]! + state.slice(1).toLowerCase() : state;
}

/** A state as a word within a sentence: `pending` for PENDING. */
export function stateWord(state: string): string {
  return stateText(state).toLowerCase();
}

/** A state as a word. Its colour only repeats the word. */
export function Badge({ state, tone = toneOf(state) }: { state: string; tone?: Tone }) {
  return <span class={`badge ${tone}`}>{stateText(state)}</span>;
}

/** A change from one state to another. */
export function StateChange({ from, to }: { from: string; to: string }) {
  return (
    <>
      <Badge state={from} /> → <Badge state={to} />
    </>
  );
}
