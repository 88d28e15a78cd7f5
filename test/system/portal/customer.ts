// A customer before a page of the portal, who knows only the words of one language: clicks what it shows, types into what it
// labels. Words with values in them match with any value.

import type { Locator, Page } from "playwright-core";
import type { Language } from "../../../src/domain/members/languages.ts";
import { CATALOGUES } from "../../../src/portal/texts/texts.ts";
import type { Key } from "../../../src/portal/texts/catalogue.ts";

export interface Customer {
  page: Page;
  language: Language;
  /** The words of a text, in the customer's language or another. */
  say: (key: Key, language?: Language) => RegExp;
  /** What the head of the page has, on a phone behind its menu. */
  nav: (key: Key) => Promise<void>;
  /** A link, a button or what is folded; a count may follow the words. */
  click: (key: Key) => Promise<void>;
  /** A button whose words are followed by what it is about, for those who do not see the page. */
  press: (key: Key) => Promise<void>;
  type: (key: Key, text: string) => Promise<void>;
  /** From a list, by the value. */
  choose: (key: Key, option: string) => Promise<void>;
  /** Waits until the page shows one of these. */
  sees: (...keys: Key[]) => Promise<void>;
  /** Clicks a link to a file, and returns what it holds. */
  download: (key: Key) => Promise<string>;
}

export function customerAt(page: Page, language: Language): Customer {
  const seen = { visible: true };
  const say = (key: Key, spoken = language) => wordsOf(key, spoken);
  const named = (place: Locator, name: RegExp) =>
    place
      .getByRole("link", { name })
      .or(place.getByRole("button", { name }))
      .or(place.locator("summary").filter({ hasText: name }))
      .filter(seen)
      .first();
  const labelled = (key: Key) => page.getByLabel(say(key)).filter(seen).first();
  return {
    page,
    language,
    say,
    async nav(key) {
      const found = () => named(page.getByRole("banner"), say(key));
      if ((await found().count()) === 0) {
        await page
          .locator("label")
          .filter({ hasText: say("site.menu") })
          .click();
      }
      await found().click();
    },
    click: (key) => named(page.locator("body"), say(key)).click(),
    press: (key) =>
      page
        .getByRole("button", { name: new RegExp(say(key).source.replace(/\$$/, " ")) })
        .filter(seen)
        .first()
        .click(),
    type: (key, text) => labelled(key).fill(text),
    async choose(key, option) {
      await labelled(key).selectOption(option);
    },
    sees: (...keys) =>
      keys
        .map((key) => page.getByText(say(key)))
        .reduce((either, each) => either.or(each))
        .filter(seen)
        .first()
        .waitFor(),
    async download(key) {
      const started = page.waitForEvent("download");
      await named(page.locator("body"), say(key)).click();
      const file = await (await started).createReadStream();
      return new Response(file as unknown as BodyInit).text();
    },
  };
}

function wordsOf(key: Key, language: Language): RegExp {
  const text = CATALOGUES[language][key];
  const forms = typeof text === "string" ? [text] : Object.values(text);
  const patterns = forms.map((form) =>
    form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\\\{\w+\\\}/g, ".+"),
  );
  return new RegExp(`^\\s*(${patterns.join("|")})\\s*\\d*\\s*$`);
}
