// The choice of how long an old key or secret stays valid beside the new one.

/** @jsxImportSource preact */

import { HOUR_MS } from "../../domain/values/spans.ts";
import type { Form } from "../server/form.ts";
import { Choice } from "./fields.tsx";
import { useWords } from "./words.ts";

/** Numbers of hours, as the form sends them. */
const HOURS = ["0", "1", "24", "168"] as const;

export function Grace({ label }: { label: string }) {
  const { grace } = useWords();
  const options = HOURS.map((hours) => [hours, grace[hours]] as const);
  return <Choice name="grace" label={label} value="24" options={options} />;
}

/** Returns the choice in milliseconds. */
export function chosenGraceMs(form: Form): number {
  return Number(form.choice("grace", HOURS)) * HOUR_MS;
}
