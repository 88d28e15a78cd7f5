// The catalogues of texts: every language has every text, with its plural forms and values.

import { describe, expect, test } from "bun:test";
import { LANGUAGES, languageFor } from "../../../src/domain/members/languages.ts";
import type { Key, Text } from "../../../src/portal/texts/catalogue.ts";
import { formatsOf } from "../../../src/portal/texts/formats.ts";
import {
  CATALOGUES,
  createTexts,
  parseOverrides,
  placeholdersOf,
} from "../../../src/portal/texts/texts.ts";

const KEYS = Object.keys(CATALOGUES.en) as Key[];

describe.each(LANGUAGES)("%s", (language) => {
  const catalogue = CATALOGUES[language];

  test("has every text, none of them empty, with the values of the English one", () => {
    expect(Object.keys(catalogue).toSorted()).toEqual(KEYS.toSorted());
    for (const key of KEYS) {
      const text: Text = catalogue[key];
      const forms = typeof text === "string" ? [text] : Object.values(text);
      expect([key, forms.every((form) => form.trim() === form && form !== "")]).toEqual([
        key,
        true,
      ]);
      expect([key, placeholdersOf(text).toSorted()]).toEqual([
        key,
        placeholdersOf(CATALOGUES.en[key]).toSorted(),
      ]);
    }
  });

  test("has every plural form of its language", () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    for (const key of KEYS) {
      const text: Text = catalogue[key];
      if (typeof text === "string") continue;
      expect([key, Object.keys(text).toSorted()]).toEqual([key, pluralCategories.toSorted()]);
    }
  });

  test("differs from English", () => {
    if (language === "en") return;
    const same = KEYS.filter((key) => catalogue[key] === CATALOGUES.en[key]);
    // Words that the languages share, such as Menu and API.
    expect(same.length).toBeLessThan(KEYS.length / 20);
  });
});

test("a text has the form of its number, and numbers of the language", () => {
  const { ru, en, "pt-BR": pt } = createTexts();
  const count = (n: number) => ru("newOrder.found", { count: n });
  expect([1, 2, 5, 21, 1000].map(count)).toEqual([
    "1 услуга",
    "2 услуги",
    "5 услуг",
    "21 услуга",
    "1\u00a0000 услуг",
  ]);
  expect(en("newOrder.found", { count: 1 })).toBe("1 service");
  expect(pt("field.passwordHint", { least: 10 })).toContain("10 caracteres");
});

test("a value is inserted as it is, even if it looks like a value's name", () => {
  const { en } = createTexts();
  expect(en("setUp.welcome", { name: "{count}" })).toBe("Welcome, {count}.");
});

test("the operator replaces single texts, and mistakes are named", () => {
  const texts = createTexts(parseOverrides('{"es":{"nav.orders":"Mis pedidos"}}'));
  expect(texts.es("nav.orders")).toBe("Mis pedidos");
  expect(texts.en("nav.orders")).toBe("Orders");
  for (const [json, message] of [
    ["[]", "must be an object"],
    ['{"fr":{}}', "fr is not one of"],
    ['{"en":{"nav.none":"x"}}', "there is no text nav.none"],
    ['{"en":{"nav.orders":""}}', "nav.orders must be a text"],
    ['{"en":{"nav.orders":{"one":"x"}}}', "nav.orders must be a text"],
    ['{"en":{"nav.orders":"{count} orders"}}', "nav.orders has no value {count}"],
  ] as const) {
    expect(() => parseOverrides(json)).toThrow(message);
  }
});

test("amounts are exact and of the language, times of the time zone", () => {
  const en = formatsOf("en", "UTC");
  expect([en.cents(2_324_999), en.cents(1), en.money(2_324_999), en.cents(0)]).toEqual([
    "$2.32",
    "$0.000001",
    "$2.324999",
    "$0.00",
  ]);
  expect(en.money(9_000_000_000_000_000_001n)).toBe("$9,000,000,000,000.000001");
  expect(formatsOf("ru", "UTC").cents(1_234_500_000)).toBe("1\u00a0234,50\u00a0$");
  expect(
    [0, 119 * 60_000, 2 * 3_600_000, 47.4 * 3_600_000, 49 * 3_600_000].map((ms) => en.span(ms)),
  ).toEqual(["1 min", "119 min", "2 hr", "47 hr", "2 days"]);
  expect(formatsOf("en", "Asia/Tokyo").time(Date.UTC(2026, 0, 1, 20))).toContain("Jan 2, 2026");
});

test.each([
  [null, "en"],
  ["ru-RU,ru;q=0.9,en;q=0.8", "ru"],
  ["fr, pt;q=0.5, es;q=0.7", "es"],
  ["pt", "pt-BR"],
  ["de, *;q=0.1", "en"],
])("Accept-Language %p leads to %s", (header, language) => {
  expect(languageFor(header)).toBe(language as "en");
});
