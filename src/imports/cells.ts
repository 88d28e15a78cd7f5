// Cells of imported files: their text, and the kind of cells that only imports read.

import type { Kind } from "../domain/values/kinds.ts";

export const YES_OR_NO: Kind<boolean> = {
  form: "true or false",
  read(text) {
    const word = text.toLowerCase();
    if (["true", "yes", "1"].includes(word)) return { value: true };
    return ["false", "no", "0"].includes(word) ? { value: false } : { must: "true or false" };
  },
};

/** Returns a cell as text, because JSON files may contain numbers and booleans. Null for any other type. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value.trim();
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") return null;
  const text = value.toFixed(6).replace(/\.?0+$/, "");
  return Number(text) === value ? text : String(value);
}
