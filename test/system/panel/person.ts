// A person before a page: clicks what it shows by its words, types into what it labels. Both are counted; typing is no
// click, and neither is choosing from a list, but ticking a box is.

import type { Page } from "playwright-core";

export interface Person {
  page: Page;
  counts: { clicks: number; fields: number };
  /** A link, a button or what is folded, by its whole name. `within`: a part of the page. */
  click: (name: string, within?: string) => Promise<void>;
  tick: (label: string) => Promise<void>;
  type: (label: string, text: string, within?: string) => Promise<void>;
  /** From a list. */
  choose: (label: string, option: string, within?: string) => Promise<void>;
  text: () => Promise<string>;
}

export function personAt(page: Page): Person {
  const counts = { clicks: 0, fields: 0 };
  const seen = { visible: true };
  const labelled = (label: string, within: string) =>
    page.locator(within).getByLabel(label, { exact: true }).filter(seen).first();
  return {
    page,
    counts,
    async click(name, within = "body") {
      counts.clicks += 1;
      const exact = { name, exact: true };
      const place = page.locator(within);
      const folded = place.locator("summary").filter({ hasText: new RegExp(`^${escaped(name)}$`) });
      await place
        .getByRole("link", exact)
        .or(place.getByRole("button", exact))
        .or(folded)
        .filter(seen)
        .first()
        .click();
    },
    async tick(label) {
      counts.clicks += 1;
      await labelled(label, "body").check();
    },
    async type(label, text, within = "body") {
      counts.fields += 1;
      await labelled(label, within).fill(text);
    },
    async choose(label, option, within = "body") {
      counts.fields += 1;
      await labelled(label, within).selectOption(option);
    },
    text: () => page.locator("body").innerText(),
  };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
