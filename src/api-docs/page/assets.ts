// The stylesheet and the script of the documentation pages. The path of each contains a hash of its content, so what a path
// leads to never changes.

import script from "./assets/page.client.js" with { type: "text" };
import style from "./assets/page.css" with { type: "text" };

export interface Asset {
  path: string;
  type: string;
  text: string;
}

export const STYLE = asset("docs.css", "text/css; charset=utf-8", style);
export const SCRIPT = asset("docs.js", "text/javascript; charset=utf-8", script);

export const ASSETS: ReadonlyMap<string, Asset> = new Map(
  [STYLE, SCRIPT].map((each) => [each.path, each]),
);

function asset(name: string, type: string, text: string): Asset {
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);
  return { path: `/docs/assets/${hash}/${name}`, type, text };
}
