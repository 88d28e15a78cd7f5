// A panel with data, one without, and a browser in which a page of either is looked at.

import type { Browser, Page } from "playwright-core";
import { freshPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { launch, type View, visit } from "./browser.ts";
import { fillMarket, type PageToOpen } from "./pages.ts";

type Opened = Pick<PageToOpen, "path" | "isPublic" | "awaitsCode">;

export interface Looking {
  browser: Browser;
  panel: TestPanel;
  empty: TestPanel;
  /** With the ids of this panel in place of their names. */
  pathOf(path: string): string;
  at(
    page: Opened,
    view: View,
    look: (page: Page, complaints: string[]) => Promise<void>,
    panel?: TestPanel,
  ): Promise<void>;
  stop(): Promise<void>;
}

/** As who may see a page. */
export function visitorOf({ isPublic, awaitsCode }: Opened) {
  return isPublic ? {} : { as: awaitsCode ?? "tester", awaitsCode: awaitsCode !== undefined };
}

export async function startLooking(): Promise<Looking> {
  const [panel, empty] = [await freshPanel("owner"), await freshPanel("owner")];
  const { webhook } = fillMarket(panel);
  const browser = await launch();
  const pathOf = (path: string) => path.replace(":webhook", webhook);
  return {
    browser,
    panel,
    empty,
    pathOf,
    /** Leaves no session, because the pages would list it. */
    async at(opened, view, look, where = panel) {
      const options = { view, ...visitorOf(opened) };
      const { page, complaints, close } = await visit(browser, where, options);
      const response = await page.goto(where.url + pathOf(opened.path));
      if (response!.status() !== 200) throw new Error(`${opened.path}: ${response!.status()}`);
      await look(page, complaints);
      await close();
      where.query("DELETE FROM panel_sessions WHERE administrator <> 'sam'");
    },
    async stop() {
      await browser.close();
      await panel.stop();
      await empty.stop();
    },
  };
}
