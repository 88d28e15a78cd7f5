// The texts of the portal: a catalogue for each language, with the names and placeholders of the English one.

import type { en } from "./en.ts";

/** Forms of a text that depends on `count`, by the rules of its language (Intl.PluralRules). */
export type Plural = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>;
export type Text = string | Plural;
export type Key = keyof typeof en;
/** A catalogue of another language. A missing name is a type error. */
export type Catalogue = Record<Key, Text>;

type PlaceholdersIn<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholdersIn<Rest>
  : never;
type PlaceholdersOf<T> = T extends string
  ? PlaceholdersIn<T>
  : T extends { other: infer Other extends string }
    ? PlaceholdersIn<Other> | "count"
    : never;

/** The values that a text needs. */
export type Values<K extends Key> = [PlaceholdersOf<(typeof en)[K]>] extends [never]
  ? []
  : [values: Record<PlaceholdersOf<(typeof en)[K]>, string | number>];

/** Returns a text in one language. */
export type Translate = <K extends Key>(key: K, ...values: Values<K>) => string;
