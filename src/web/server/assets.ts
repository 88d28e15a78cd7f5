// The stylesheet and the script. The path of each contains a hash of its content, so what a path leads to never
// changes.

import base from "./assets/base.css" with { type: "text" };
import frame from "./assets/frame.css" with { type: "text" };
import invoice from "./assets/invoice.css" with { type: "text" };
import lists from "./assets/lists.css" with { type: "text" };
import script from "./assets/pages.client.js" with { type: "text" };
import parts from "./assets/parts.css" with { type: "text" };
import tokens from "./assets/tokens.css" with { type: "text" };

export interface Asset {
  path: string;
  type: string;
  text: string | Uint8Array;
}

const styles = withValues([tokens, base, parts, lists, frame, invoice].join("\n"));

export const STYLE = asset("pages.css", "text/css; charset=utf-8", compacted(styles));
export const SCRIPT = asset("pages.js", "text/javascript; charset=utf-8", script);
export const ASSETS: readonly Asset[] = [STYLE, SCRIPT];

/** Replaces the name of each token that never changes by its value, which is shorter. */
function withValues(css: string): string {
  const defined = [...css.matchAll(/(--[a-z0-9-]+): ([^;]+);\s*/g)];
  const times = Map.groupBy(defined, ([, name]) => name!);
  const fixed = [...times].filter(([, found]) => found.length === 1);
  return fixed.reduce((text, [name, [found]]) => {
    const [definition, , value] = found!;
    return text.replace(definition, "").replaceAll(`var(${name})`, value!);
  }, css);
}

/** Leaves out comments and needless spaces. */
function compacted(css: string): string {
  return css
    .replace(/\/\*[^]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,>]) ?/g, "$1")
    .replaceAll(": ", ":")
    .replaceAll(";}", "}");
}

/** Returns a file under a path with the hash of its content. */
export function asset<Text extends Asset["text"]>(
  name: string,
  type: string,
  text: Text,
): Asset & { text: Text } {
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);
  return { path: `/assets/${hash}/${name}`, type, text };
}
