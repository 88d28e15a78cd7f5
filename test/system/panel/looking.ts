// A panel with data, one without, and a browser in which a page of either is looked at.

import type { Page } from "playwright-core";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { launch, signIn, type View, type Visit, visit } from "./browser.ts";
import { fillMarket, type PageToOpen } from "./pages.ts";

type Opened = Pick<PageToOpen, "path" | "isPublic" | "awaitsCode">;

export interface Looking {
  /** With the ids of this panel in place of their names. */
  pathOf(path: string): string;
  /** Opens a page in a window of that size, which all pages of one size share. */
  at(
    page: Opened,
    view: View,
    look: (page: Page, complaints: string[]) => Promise<void>,
    options?: { isEmpty?: boolean; javaScriptEnabled?: boolean },
  ): Promise<void>;
  stop(): Promise<void>;
}

export async function startLooking(): Promise<Looking> {
  const [panel, empty] = [await openPanel(), await openPanel()];
  const ids = fillMarket(panel);
  const browser = await launch();
  const pathOf = (path: string) =>
    path.replace(/:(webhook|payment|paid|surplus)\b/g, (_, name: string) => ids[name]!);
  const windows = new Map<string, Visit>();

  async function windowOf(where: TestPanel, view: View, javaScriptEnabled: boolean) {
    const name = [where.url, view.name, javaScriptEnabled].join();
    const window = windows.get(name) ?? (await visit(browser, where, { view, javaScriptEnabled }));
    windows.set(name, window);
    return window;
  }

  return {
    pathOf,
    /** Leaves no session, because the pages would list it. */
    async at(opened, view, look, { isEmpty = false, javaScriptEnabled = true } = {}) {
      const where = isEmpty ? empty : panel;
      const { context, page, complaints } = await windowOf(where, view, javaScriptEnabled);
      await context.clearCookies();
      if (!opened.isPublic) {
        const { awaitsCode } = opened;
        await signIn(context, where, awaitsCode ?? "tester", awaitsCode !== undefined);
      }
      await page.setViewportSize({ width: view.width, height: view.height });
      complaints.length = 0;
      const response = await page.goto(where.url + pathOf(opened.path));
      if (response!.status() !== 200) throw new Error(`${opened.path}: ${response!.status()}`);
      await look(page, complaints);
      where.query("DELETE FROM panel_sessions WHERE administrator <> 'sam'");
    },
    async stop() {
      await browser.close();
      await panel.stop();
      await empty.stop();
    },
  };
}
