// Translates texts, and lets the operator replace single ones.

import { type Language, LANGUAGES } from "../../domain/members/languages.ts";
import type { Catalogue, Key, Plural, Text, Translate } from "./catalogue.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { ptBr } from "./pt-br.ts";
import { ru } from "./ru.ts";
import { tr } from "./tr.ts";

export const CATALOGUES: Record<Language, Catalogue> = { en, es, "pt-BR": ptBr, tr, ru };

export type Texts = Record<Language, Translate>;

/** Texts that the operator replaces, by language and name. */
export type Overrides = Partial<Record<Language, Partial<Record<Key, Text>>>>;

export function createTexts(overrides: Overrides = {}): Texts {
  const made = LANGUAGES.map((language) => {
    const catalogue = { ...CATALOGUES[language], ...overrides[language] };
    return [language, translator(language, catalogue)] as const;
  });
  return Object.fromEntries(made) as Texts;
}

function translator(language: Language, catalogue: Catalogue): Translate {
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  return (key, ...[values = {}]: [values?: Record<string, string | number>]) => {
    const text = catalogue[key];
    const chosen = typeof text === "string" ? text : formOf(text, rules, Number(values["count"]));
    return chosen.replace(PLACEHOLDER, (_, name: string) => {
      const value = values[name];
      return typeof value === "number" ? numbers.format(value) : (value ?? "");
    });
  };
}

const PLACEHOLDER = /\{(\w+)\}/g;

function formOf(text: Plural, rules: Intl.PluralRules, count: number): string {
  return text[rules.select(count)] ?? text.other;
}

/** Reads the operator's texts from JSON. Throws an Error that says what is wrong. */
export function parseOverrides(json: string): Overrides {
  const given: unknown = JSON.parse(json);
  if (!isRecord(given)) throw new Error("it must be an object with a member for each language");
  for (const [language, texts] of Object.entries(given)) {
    if (!(LANGUAGES as readonly string[]).includes(language)) {
      throw new Error(`${language} is not one of ${LANGUAGES.join(", ")}`);
    }
    if (!isRecord(texts)) throw new Error(`${language} must be an object with texts by name`);
    for (const [key, text] of Object.entries(texts)) refuseOverride(language, key, text);
  }
  return given as Overrides;
}

function refuseOverride(language: string, key: string, text: unknown): void {
  const own: Text | undefined = (en as Record<string, Text>)[key];
  if (own === undefined) throw new Error(`${language}: there is no text ${key}`);
  const forms = isRecord(text) ? Object.values(text) : [text];
  const isRight =
    forms.every((form): form is string => typeof form === "string" && form.trim() !== "") &&
    (typeof text === "string" || "other" in (text as object));
  if (!isRight) throw new Error(`${language}: ${key} must be a text, or texts by plural form`);
  const known = placeholdersOf(own);
  const unknown = forms.flatMap(placeholdersOf).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`${language}: ${key} has no value {${unknown}}`);
}

/** Returns the names of the values in all forms of a text. */
export function placeholdersOf(text: Text): string[] {
  const forms = typeof text === "string" ? [text] : Object.values(text);
  return [
    ...new Set(forms.flatMap((form) => [...form.matchAll(PLACEHOLDER)].map(([, name]) => name!))),
  ];
}

function isRecord(given: unknown): given is Record<string, unknown> {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}
