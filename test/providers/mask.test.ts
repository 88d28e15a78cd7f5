// The provider's key in its texts: masked in any escaped form, and nothing else is.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createMask } from "../../src/providers/mask.ts";

const KEY = "s3cret/key+value=&\"'<x>\\#1";

/** Escapes each character that is chosen, or that has to be. */
type Escape = (text: string, chosen: (index: number) => boolean) => string;

const each =
  (escape: (character: string, code: number) => string, must: RegExp): Escape =>
  (text, chosen) =>
    text
      .split("")
      .map((character, index) =>
        must.test(character) || chosen(index)
          ? escape(character, character.charCodeAt(0))
          : character,
      )
      .join("");
const hex = (code: number, digits = 2) => code.toString(16).padStart(digits, "0");
const HTML: Record<string, string> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
  "/": "sol",
};

const ESCAPES: Record<string, Escape> = {
  "percent-encoded": each((_, code) => `%${hex(code)}`, /%/),
  "percent-encoded in upper case": each((_, code) => `%${hex(code).toUpperCase()}`, /%/),
  "as a form": (text) => new URLSearchParams({ key: text }).toString().slice("key=".length),
  "as a URL's part": (text) => encodeURIComponent(text),
  "by escape() of old JavaScript": each((_, code) => `%u${hex(code, 4)}`, /%/),
  "as JSON": (text) => JSON.stringify(text).slice(1, -1),
  "as PHP's JSON": (text) => JSON.stringify(text).slice(1, -1).replaceAll("/", "\\/"),
  "as JSON with code points": each((_, code) => `\\u${hex(code, 4)}`, /["\\]/),
  "as JSON with code points in upper case": each(
    (_, code) => `\\u${hex(code, 4).toUpperCase()}`,
    /["\\]/,
  ),
  "as JavaScript": each((_, code) => `\\x${hex(code)}`, /["'\\]/),
  "as JavaScript's code points": each((_, code) => `\\u{${hex(code)}}`, /["'\\]/),
  "with slashes": (text) => text.replace(/["'\\]/g, "\\$&"),
  "as HTML": each((character, code) => `&${HTML[character] ?? `#${code}`};`, /[&<>"']/),
  "as HTML in hexadecimal": each((_, code) => `&#x${hex(code, 4)};`, /[&<>"']/),
  "as HTML with leading zeros": each((_, code) => `&#0${code};`, /[&<>"']/),
  "in upper case": (text) => text.toUpperCase(),
  "as it is": (text) => text,
};

const anyKey = fc
  .array(fc.integer({ min: 0x21, max: 0x7e }), { minLength: 1, maxLength: 40 })
  .map((codes) => String.fromCharCode(...codes));
const anyEscapes = fc.array(
  fc.record({ name: fc.constantFrom(...Object.keys(ESCAPES)), pattern: fc.integer() }),
  { maxLength: 4 },
);
type Chain = { name: string; pattern: number }[];

/** In upper case an escape would be another character: `\U0041`. */
const isUpper = ({ name }: { name: string }) => name === "in upper case";
function escapedBy(key: string, chain: Chain): string {
  const ordered = [...chain.filter(isUpper), ...chain.filter((step) => !isUpper(step))];
  return ordered.reduce(
    (text, { name, pattern }) =>
      ESCAPES[name]!(text, (index) => ((pattern >> (index % 32)) & 1) === 1),
    key,
  );
}

test.each(Object.keys(ESCAPES))(
  "the key is masked %s, in whole or in part, once and twice",
  (name) => {
    const mask = createMask(KEY);
    for (const pattern of [0, -1, 0x5555, 0xaaaa]) {
      const once = escapedBy(KEY, [{ name, pattern }]);
      const twice = escapedBy(once, [{ name, pattern }]);
      for (const text of [once, twice]) {
        expect([text, mask(`a «${text}» b ${text}`)]).toEqual([text, "a «***» b ***"]);
      }
    }
  },
);

test("any key is masked in any escapes of escapes, to its last character and no further", () => {
  fc.assert(
    fc.property(anyKey, anyEscapes, (key, chain) => {
      expect(createMask(key)(`«${escapedBy(key, chain)}»`)).toBe("«***»");
    }),
    { numRuns: 2000 },
  );
});

test("text before the key does not hide it", () => {
  fc.assert(
    fc.property(
      anyKey,
      anyEscapes,
      fc.constantFrom(
        "%",
        "%2",
        "%25",
        "\\",
        "\\\\",
        "\\u00",
        "&",
        "&amp",
        "&#",
        "key=",
        '\\"',
        "\\n",
      ),
      (key, chain, before) => {
        const escaped = escapedBy(key, chain);
        const masked = createMask(key)(`«${before}${escaped}»`);
        expect(masked).toMatch(/^«.*\*\*\*»$/);
        expect(masked.length).toBeLessThanOrEqual(`«${before}***»`.length + 3 * before.length);
      },
    ),
    { numRuns: 2000 },
  );
});

test("base64 of a text with the key in it is masked except for characters shared with neighbouring bytes", () => {
  const key = "upstream-secret-4711?>";
  const mask = createMask(key);
  for (const before of ["", "k", "ke", "key", "key=", "action=add&key="]) {
    for (const after of ["", "&", "&a", "&action=add"]) {
      for (const encoding of ["base64", "base64url"] as const) {
        const text = Buffer.from(before + key + after).toString(encoding);
        for (const sent of [text, encodeURIComponent(text)]) {
          const masked = mask(`debug: ${sent}.`);
          expect([sent, masked]).toEqual([sent, expect.stringContaining("***")]);
          expect(masked.length).toBeLessThanOrEqual(mask(`debug: ${sent}`).length + 1);
          const left = masked.replaceAll("***", "").slice("debug: ".length);
          expect(left.length).toBeLessThan((before.length + after.length) * 3 + 12);
        }
      }
    }
  }
});

describe("a text without the key", () => {
  test("stays as it is", () => {
    const mask = createMask("upstream-secret-4711");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii", maxLength: 190 }), (text) => {
        expect(mask(text)).toBe(text.trim());
      }),
    );
    for (const text of [
      "50% off & more \\o/",
      "upstream-secret-471",
      "%2f \\u002f &sol; &#47;",
      "Ünï 🚀",
    ])
      expect(mask(text)).toBe(text);
  });

  test("is cut, and has no control characters", () => {
    const mask = createMask(KEY);
    expect(mask("a\u001b[31m\r\nb\u2028c")).toBe("a [31m b c");
    expect(mask("x".repeat(5000))).toBe(`${"x".repeat(200)}…`);
    expect(mask(`${"x".repeat(199)}🚀 and more`).isWellFormed()).toBe(true);
  });
});

test("no cut leaves a part of the key", () => {
  const mask = createMask(KEY);
  const percent = KEY.split("")
    .map((character) => `%${hex(character.charCodeAt(0))}`)
    .join("");
  for (let before = 150; before < 210; before += 1) {
    const masked = mask("x".repeat(before) + percent);
    expect(masked.replace(/^x+/, "")).toMatch(/^(\*{3}|\*{0,2}…)$/);
  }
  expect(mask(percent.repeat(1000)).replaceAll("*", "")).toBe("…");
});

test("a long text of nothing but escapes is masked quickly", () => {
  const masks = [KEY, "\\".repeat(16), "%".repeat(1024), "a".repeat(1024)].map(createMask);
  const texts = ["\\", "%25", "%", "&", "&amp;", "\\u005c", "%5c%75%30%30%35%63", "&#92;", "a"];
  for (const text of texts) for (const mask of masks) mask(text.repeat(200_000));
});
