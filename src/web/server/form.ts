// Reads the values of a form or a query string, field by field. Errors are kept by field, so that one
// reply names all of them. After an error a reader returns a placeholder, and `check` throws before it is used.

import {
  AMOUNT,
  IDENTIFIER,
  type Kind,
  label,
  oneOf,
  PRICE,
  TIME,
  TIME_TO_END,
  USERNAME,
  whole,
} from "../../domain/values/kinds.ts";
import { ENGLISH, type FormWords } from "./words.ts";

/** Thrown if the form has errors, so that it is shown again. */
export class FormError extends Error {
  override name = "FormError";
}

const TEXT_LIMIT = 200;
const WHOLE = /^\d{1,15}$/;

export class Form {
  /** Errors by field name; "" for an error that belongs to no field. */
  readonly errors = new Map<string, string>();

  constructor(
    readonly values: URLSearchParams,
    private readonly words: FormWords = ENGLISH.form,
  ) {}

  /** Returns the text as typed, without white space at its ends; empty if it is absent. */
  raw(name: string): string {
    return (this.values.get(name) ?? "").trim();
  }

  /** Returns the text as typed, including white space, for passwords. */
  secret(name: string): string {
    return this.values.get(name) ?? "";
  }

  /** Adds an error in the words of the API: `amount must be above 0`. */
  refuse(name: string, must: string): void {
    this.addError(name, `${name.replaceAll("-", " ")} must be ${must}`);
  }

  /** Adds an error. Only the first error of a field is kept. */
  addError(name: string, message: string): void {
    if (!this.errors.has(name)) this.errors.set(name, message);
  }

  /** Throws FormError if any field was refused. */
  check(): void {
    if (this.errors.size > 0) throw new FormError("the form has errors");
  }

  /** Returns a value of a kind, or null if none is given; `placeholder` if it is wrong. */
  optional<Value>(name: string, kind: Kind<Value>, placeholder: Value): Value | null {
    const given = this.raw(name);
    if (given === "") return null;
    const found = kind.read(given);
    if ("value" in found) return found.value;
    this.addError(name, this.words.wrong(name, kind, found.must));
    return placeholder;
  }

  required<Value>(name: string, kind: Kind<Value>, placeholder: Value): Value {
    return this.optional(name, kind, placeholder) ?? this.#missing(name, placeholder);
  }

  text(name: string, limit = TEXT_LIMIT): string {
    return this.required(name, label(limit), "");
  }

  optionalText(name: string, limit = TEXT_LIMIT): string | null {
    return this.optional(name, label(limit), "");
  }

  username(name: string): string {
    return this.required(name, USERNAME, "");
  }

  optionalUsername(name: string): string | null {
    return this.optional(name, USERNAME, "");
  }

  identifier(name: string): string {
    return this.required(name, IDENTIFIER, "");
  }

  optionalIdentifier(name: string): string | null {
    return this.optional(name, IDENTIFIER, "");
  }

  /** Returns an amount in USD as micros, above 0. */
  amount(name: string): number {
    return this.required(name, AMOUNT, 0);
  }

  optionalAmount(name: string): number | null {
    return this.optional(name, AMOUNT, 0);
  }

  /** Returns a price in USD as micros; 0 is a free service. */
  price(name: string): number {
    return this.required(name, PRICE, 0);
  }

  optionalPrice(name: string): number | null {
    return this.optional(name, PRICE, 0);
  }

  whole(name: string, least: number, most: number): number {
    return this.required(name, whole(least, most), least);
  }

  optionalWhole(name: string, least: number, most: number): number | null {
    return this.optional(name, whole(least, most), least);
  }

  choice<Value extends string>(name: string, choices: readonly Value[]): Value {
    return this.required(name, oneOf(choices), choices[0]!);
  }

  optionalChoice<Value extends string>(name: string, choices: readonly Value[]): Value | null {
    return this.optional(name, oneOf(choices), choices[0]!);
  }

  /** Returns a date or a time as milliseconds since 1970; a time without a zone is in UTC. `isEnd`: see TIME_TO_END. */
  optionalTime(name: string, isEnd = false): number | null {
    const { form, read } = isEnd ? TIME_TO_END : TIME;
    const inZone = (text: string) => read(text.replace(/T\d\d:\d\d(?::\d\d)?$/, "$&Z"));
    return this.optional(name, { form, read: inZone }, 0);
  }

  /** Returns the time window of the fields `from` and `to`, both included. */
  window(): { from: number | null; to: number | null } {
    const from = this.optionalTime("from");
    const to = this.optionalTime("to", true);
    if (from !== null && to !== null && from > to) {
      this.addError("from", "from must be at or before to");
    }
    return { from, to };
  }

  isChecked(name: string): boolean {
    return this.values.has(name);
  }

  /** Returns the values of all boxes with the same name. */
  all(name: string): string[] {
    return this.values.getAll(name);
  }

  /** Returns the cursor of a list: the page holds only lower numbers. */
  below(): number {
    const given = this.raw("below");
    return WHOLE.test(given) ? Number(given) : Number.MAX_SAFE_INTEGER;
  }

  #missing<T>(name: string, placeholder: T): T {
    this.addError(name, this.words.required(name));
    return placeholder;
  }
}
