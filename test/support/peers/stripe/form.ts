// Parameters of a request, strictly: bracketed names as Stripe's API takes them, checked by a schema that knows every name.

import * as v from "valibot";
import { ApiError, invalid } from "./errors.ts";

export type Param = string | Param[] | { [name: string]: Param };

const NAME = /^([a-z_]+)((?:\[[A-Za-z0-9_]*\])*)$/;

/** Parses `a[b][0][c]=1&expand[]=d`. A name that is given twice, or not well-formed, is an error. */
export function parseForm(text: string): Param {
  const root: { [name: string]: Param } = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const [, first, rest] = NAME.exec(name) ?? [];
    if (first === undefined) throw invalid("parameter_unknown", `Invalid name: ${name}`, name);
    const keys = [first, ...[...rest!.matchAll(/\[(.*?)\]/g)].map(([, key]) => key!)];
    let at = root;
    keys.forEach((key, index) => {
      const isLast = index === keys.length - 1;
      const own = key === "" ? String(Object.keys(at).length) : key;
      const there = at[own];
      if (isLast ? there !== undefined : typeof there === "string")
        throw invalid("parameter_invalid_string_repeated", `Repeated: ${name}`, name);
      if (isLast) at[own] = value;
      else at = (at[own] ??= {}) as typeof at;
    });
  }
  return withLists(root);
}

/** Makes a list of each object whose names are 0, 1, 2 and so on. */
function withLists(param: Param): Param {
  if (typeof param === "string" || Array.isArray(param)) return param;
  const entries = Object.entries(param).map(([key, value]) => [key, withLists(value)] as const);
  const isList = entries.length > 0 && entries.every(([key], index) => key === String(index));
  return isList ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

/** An integer as a form has it. */
export const integer = v.pipe(v.string(), v.regex(/^-?\d{1,15}$/), v.transform(Number));

/** Reads the parameters. Throws the error of Stripe's API for the first that is missing, unknown or not well-formed. */
export function readParams<Schema extends v.GenericSchema>(
  schema: Schema,
  given: Param,
): v.InferOutput<Schema> {
  const read = v.safeParse(schema, given);
  if (read.success) return read.output;
  const [issue] = read.issues;
  const keys = (issue.path ?? []).map(({ key }) => String(key));
  const param = keys.map((key, index) => (index === 0 ? key : `[${key}]`)).join("");
  if (issue.received === "undefined")
    throw invalid("parameter_missing", `Missing required param: ${param}.`, param);
  if (issue.expected === "never")
    throw invalid("parameter_unknown", `Received unknown parameter: ${param}`, param);
  if (issue.type === "regex")
    throw invalid("parameter_invalid_integer", `Invalid integer: ${issue.received}`, param);
  throw new ApiError(400, "invalid_request_error", `Invalid ${param}: ${issue.message}`, { param });
}
