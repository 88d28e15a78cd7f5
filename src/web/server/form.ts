// Reads the values of a form or a query string, field by field. Errors are noted beside their fields, so that one
// reply names all of them. After an error a reader returns a placeholder, and `check` throws before it is used.

import { AMOUNT_LIMIT_MICROS, formatMicros, parseMicros } from "../../domain/ledger/money.ts";
import { hasControlCharacter, IDENTIFIER_FORM, isIdentifier } from "../../domain/values/text.ts";
import { isUsername, USERNAME_FORM } from "../../domain/users/users.ts";

/** Thrown if the form has errors, so that it is shown again. */
export class FormError extends Error {
  override name = "FormError";
}

const TEXT_LIMIT = 200;
const WHOLE = /^\d{1,15}$/;
const DATE = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2})?)Z?)?$/;

export class Form {
  /** Errors by field name; "" for an error that belongs to no field. */
  readonly errors = new Map<string, string>();

  constructor(readonly values: URLSearchParams) {}

  /** Returns the text as typed, without white space at its ends; empty if it is absent. */
  raw(name: string): string {
    return (this.values.get(name) ?? "").trim();
  }

  /** Returns the text as typed, including white space, for passwords. */
  secret(name: string): string {
    return this.values.get(name) ?? "";
  }

  /** Notes an error in the words of the API: `amount must be above 0`. */
  refuse(name: string, must: string): void {
    this.note(name, `${name.replaceAll("-", " ")} must be ${must}`);
  }

  /** Notes an error. Only the first error of a field is kept. */
  note(name: string, message: string): void {
    if (!this.errors.has(name)) this.errors.set(name, message);
  }

  /** Throws FormError if any field was refused. */
  check(): void {
    if (this.errors.size > 0) throw new FormError("the form has errors");
  }

  text(name: string, limit = TEXT_LIMIT): string {
    return this.optionalText(name, limit) ?? this.#missing(name, "");
  }

  optionalText(name: string, limit = TEXT_LIMIT): string | null {
    const given = this.raw(name);
    if (given === "") return null;
    if (given.length > limit) this.refuse(name, `at most ${limit} characters`);
    else if (!given.isWellFormed() || hasControlCharacter(given)) {
      this.refuse(name, "text without control characters");
    }
    return given;
  }

  username(name: string): string {
    return this.optionalUsername(name) ?? this.#missing(name, "");
  }

  optionalUsername(name: string): string | null {
    return this.#matching(name, isUsername, USERNAME_FORM);
  }

  identifier(name: string): string {
    return this.optionalIdentifier(name) ?? this.#missing(name, "");
  }

  optionalIdentifier(name: string): string | null {
    return this.#matching(name, isIdentifier, IDENTIFIER_FORM);
  }

  /** Returns an amount in USD as micros, above 0. */
  amount(name: string): number {
    return this.optionalAmount(name) ?? this.#missing(name, 0);
  }

  optionalAmount(name: string): number | null {
    const given = this.raw(name);
    if (given === "") return null;
    const micros = parseMicros(given);
    if (micros !== null && micros > 0 && micros <= AMOUNT_LIMIT_MICROS) return micros;
    const most = formatMicros(AMOUNT_LIMIT_MICROS);
    this.refuse(name, `above 0 and at most ${most}, with at most 6 decimals`);
    return 0;
  }

  /** Returns a price in USD as micros; 0 is a free service. */
  price(name: string): number {
    return this.optionalPrice(name) ?? this.#missing(name, 0);
  }

  optionalPrice(name: string): number | null {
    const given = this.raw(name);
    if (given === "") return null;
    const micros = parseMicros(given);
    if (micros !== null && micros <= AMOUNT_LIMIT_MICROS) return micros;
    const most = formatMicros(AMOUNT_LIMIT_MICROS);
    this.refuse(name, `from 0 to ${most}, with at most 6 decimals`);
    return 0;
  }

  whole(name: string, least: number, most: number): number {
    return this.optionalWhole(name, least, most) ?? this.#missing(name, least);
  }

  optionalWhole(name: string, least: number, most: number): number | null {
    const given = this.raw(name);
    if (given === "") return null;
    const number = WHOLE.test(given) ? Number(given) : Number.NaN;
    if (number >= least && number <= most) return number;
    this.refuse(name, `a whole number from ${least} to ${most}`);
    return least;
  }

  choice<Value extends string>(name: string, choices: readonly Value[]): Value {
    return this.optionalChoice(name, choices) ?? this.#missing(name, choices[0]!);
  }

  optionalChoice<Value extends string>(name: string, choices: readonly Value[]): Value | null {
    const given = this.raw(name);
    if (given === "") return null;
    const found = choices.find((each) => each === given);
    if (found === undefined) this.refuse(name, `one of ${choices.join(", ")}`);
    return found ?? choices[0]!;
  }

  /**
   * Returns a date or a time in UTC as milliseconds since 1970. A date means its begin, or with `isEnd` its last
   * millisecond.
   */
  optionalTime(name: string, isEnd = false): number | null {
    const given = this.raw(name);
    if (given === "") return null;
    const [, date, time] = DATE.exec(given) ?? [];
    const at = Date.parse(`${date}T${time ?? (isEnd ? "23:59:59.999" : "00:00")}Z`);
    if (!Number.isNaN(at)) return at;
    this.refuse(name, "a date such as 2026-01-31");
    return 0;
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

  #matching(name: string, isRight: (text: string) => boolean, form: string): string | null {
    const given = this.raw(name);
    if (given === "") return null;
    if (!isRight(given)) this.refuse(name, form);
    return given;
  }

  #missing<T>(name: string, placeholder: T): T {
    this.note(name, `${name.replaceAll("-", " ")} is required`);
    return placeholder;
  }
}
