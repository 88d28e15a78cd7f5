// The operator's name, logo and accent colour. The policy of the pages allows no style in them, so the colour is a
// stylesheet of its own.

import { asset, type Asset } from "../../web/server/assets.ts";
import type { Brand } from "../../web/server/site.ts";

/** The backgrounds that the accent is shown on, as pages.css has them. */
const LIGHT = [255, 255, 255];
const DARK = [28, 30, 33];
/** Contrast of text against its background: WCAG 2.1, level AA. */
const CONTRAST = 4.5;
const STEPS = 100;

/** The types of logos, by the bytes that files begin with. */
const LOGOS: readonly (readonly [start: RegExp, type: string, name: string])[] = [
  [/^\x89PNG/, "image/png", "logo.png"],
  [/^\xff\xd8\xff/, "image/jpeg", "logo.jpg"],
  [/^RIFF[^]{4}WEBP/, "image/webp", "logo.webp"],
  [/^(?:\xef\xbb\xbf)?\s*<(?:\?xml|svg)/, "image/svg+xml", "logo.svg"],
];

export interface BrandSettings {
  name: string | null;
  accent: string | null;
  logo: Uint8Array | null;
}

/** Returns how the portal presents itself, with the files that this needs. Throws for a logo of another type. */
export function createBrand({ name, accent, logo }: BrandSettings): {
  brand: Brand;
  assets: Asset[];
} {
  const style = accent === null ? null : asset("brand.css", "text/css; charset=utf-8", css(accent));
  const image = logo && logoAsset(logo);
  return {
    brand: { name: name ?? "Portal", logo: image?.path ?? null, style: style?.path ?? null },
    assets: [style, image].filter((each) => each !== null),
  };
}

function logoAsset(bytes: Uint8Array): Asset {
  const start = Buffer.from(bytes.subarray(0, 200)).toString("latin1");
  const found = LOGOS.find(([pattern]) => pattern.test(start));
  if (!found) throw new Error("it is not a PNG, JPEG, WebP or SVG file");
  const [, type, name] = found;
  return asset(name, type, bytes);
}

function css(accent: string): string {
  const color = [1, 3, 5].map((at) => Number.parseInt(accent.slice(at, at + 2), 16));
  const [light, dark] = [readable(color, LIGHT, 0), readable(color, DARK, 255)];
  const rule = (shown: number[]) => `:root{--link:${hex(shown)};--accent:${hex(shown)}}`;
  return `${rule(light)}@media (prefers-color-scheme:dark){${rule(dark)}}`;
}

/** Returns the colour, mixed with black (0) or white (255) until it can be read on the background. */
function readable(color: number[], background: number[], towards: number): number[] {
  for (let step = 0; step <= STEPS; step++) {
    const share = step / STEPS;
    const mixed = color.map((part) => Math.round(part + (towards - part) * share));
    if (contrast(mixed, background) >= CONTRAST) return mixed;
  }
  return color.map(() => towards);
}

/** Contrast ratio: https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio. */
function contrast(one: number[], other: number[]): number {
  const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}

function luminance(color: number[]): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function hex(color: number[]): string {
  return `#${color.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
