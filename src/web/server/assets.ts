// The stylesheet and the script. The path of each contains a hash of its content, so what a path leads to never
// changes.

import script from "./assets/pages.client.js" with { type: "text" };
import style from "./assets/pages.css" with { type: "text" };

interface Asset {
  path: string;
  type: string;
  text: string;
}

/** The stylesheet without indentation and line breaks, which are a sixth of it. */
const compact = style.replace(/\s*([{};,])\s*|\s+/g, (_, mark?: string) => mark ?? " ");

export const STYLE = asset("pages.css", "text/css; charset=utf-8", compact);
export const SCRIPT = asset("pages.js", "text/javascript; charset=utf-8", script);
export const ASSETS: readonly Asset[] = [STYLE, SCRIPT];

function asset(name: string, type: string, text: string): Asset {
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);
  return { path: `/assets/${hash}/${name}`, type, text };
}
