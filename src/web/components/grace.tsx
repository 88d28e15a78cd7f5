// The choice of how long an old key or secret stays valid beside the new one.

/** @jsxImportSource preact */

import { HOUR_MS } from "../../domain/values/spans.ts";
import type { Form } from "../server/form.ts";
import { Choice } from "./fields.tsx";

/** Numbers of hours, as the form sends them, with the texts of the options. */
const WORDS = {
  "0": "0 hours: it ends at once",
  "1": "an hour",
  "24": "a day",
  "168": "a week",
} as const;

const HOURS = Object.keys(WORDS) as (keyof typeof WORDS)[];

export function Grace({ label }: { label: string }) {
  const options = HOURS.map((hours) => [hours, WORDS[hours]] as const);
  return <Choice name="grace" label={label} value="24" options={options} />;
}

/** Returns the choice in milliseconds. */
export function chosenGraceMs(form: Form): number {
  return Number(form.choice("grace", HOURS)) * HOUR_MS;
}
