// How values are shown: amounts, times, states, and text that callers typed.

/** @jsxImportSource preact */

import { formatMicros, type Micros } from "../domain/money.ts";
import { showHidden } from "../domain/text.ts";

/** With at least two decimals, and a space at every thousand. */
export function moneyText(micros: Micros): string {
  const [whole, decimals = ""] = formatMicros(micros).split(".");
  return `${whole!.replace(/\B(?=(\d{3})+$)/g, "\u202f")}.${decimals.padEnd(2, "0")}`;
}

/** USD. `signed`: with a plus where it is above 0. */
export function Money({ micros, signed }: { micros: Micros; signed?: boolean }) {
  return (
    <span class="money">
      {signed && micros > 0 ? "+" : ""}
      {moneyText(micros)}
    </span>
  );
}

/** Where there is nothing to show; on a phone the line is left out. */
function None() {
  return <span class="none">–</span>;
}

export function timeText(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace("T", " ");
}

/** UTC; the script adds the reader's own time. */
export function Time({ at }: { at: number | null }) {
  if (at === null) return <None />;
  return <time datetime={new Date(at).toISOString()}>{timeText(at)}</time>;
}

/** A text of that length is never broken. */
const SHORT = 24;

/** Text that someone typed: what is invisible in it, or turns its direction, is made visible. */
export function Typed({ text }: { text: string | null | undefined }) {
  if (text === null || text === undefined || text === "") return <None />;
  const shown = showHidden(text.toWellFormed()).replaceAll("\n", "<U+000A>");
  return <bdi class={shown.length <= SHORT ? "typed short" : "typed"}>{shown}</bdi>;
}

/** Lines that someone typed. */
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

/** An address that someone typed: it can be followed when it is one of the web, and is never fetched. */
export function TypedLink({ text }: { text: string }) {
  if (!WEB.test(text) || !URL.canParse(text)) return <Typed text={text} />;
  return (
    <a href={new URL(text).href} rel="noopener noreferrer" target="_blank">
      <Typed text={text} />
    </a>
  );
}

export type Tone = "good" | "busy" | "bad" | "quiet";

const TONES: Record<string, Tone> = {
  PENDING: "busy",
  PROCESSING: "busy",
  COMPLETED: "good",
  PARTIAL: "quiet",
  CANCELLED: "quiet",
  REFUNDED: "quiet",
  FAILED: "bad",
  unknown: "bad",
  sending: "busy",
  queued: "busy",
  active: "good",
  inactive: "quiet",
};

/** A state by its word; colour only repeats it. */
export function Badge({ state, tone = TONES[state] ?? "quiet" }: { state: string; tone?: Tone }) {
  return <span class={`badge ${tone}`}>{state}</span>;
}
