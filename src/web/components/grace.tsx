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

export type GraceHours = keyof typeof WORDS;

export function Grace({ label, hours }: { label: string; hours: readonly GraceHours[] }) {
  const options = hours.map((each) => [each, WORDS[each]] as const);
  return <Choice name="grace" label={label} value="24" options={options} />;
}

/** Returns the choice in milliseconds. */
export function graceOf(form: Form, hours: readonly GraceHours[]): number {
  return Number(form.choice("grace", hours)) * HOUR_MS;
}
