// Lists the characters that the text at a position may represent: the character there, or the one that an escape there
// encodes. So an API key is found in a provider's reply even if it is escaped.
// Escapes are percent-encoding (RFC 3986), those of JSON and JavaScript strings, and HTML character references, in
// upper or lower case, also nested. Only escapes of visible ASCII matter.

/** Levels of nested escapes, such as JSON in JSON in a form. */
const LAYERS = 4;
/** Limit for the characters of a reference: those between & and ;, or between braces. Leading zeros count. */
const REFERENCE_LENGTH_LIMIT = 10;

const PERCENT = codeOf("%");
const BACKSLASH = codeOf("\\");
const AMPERSAND = codeOf("&");

/** HTML's entity names of visible ASCII that is neither a letter nor a digit. */
const HTML_NAMES: Record<string, string> = {
  excl: "!", quot: '"', num: "#", dollar: "$", percnt: "%", amp: "&", apos: "'", lpar: "(", rpar: ")", ast: "*",
  midast: "*", plus: "+", comma: ",", hyphen: "-", dash: "-", period: ".", sol: "/", colon: ":", semi: ";", lt: "<",
  equals: "=", gt: ">", quest: "?", commat: "@", lsqb: "[", lbrack: "[", bsol: "\\", rsqb: "]", rbrack: "]", hat: "^",
  lowbar: "_", underbar: "_", grave: "`", lcub: "{", lbrace: "{", verbar: "|", vert: "|", rcub: "}", rbrace: "}",
}; // prettier-ignore

/** A character and the position after it. */
export interface Reading {
  code: number;
  end: number;
}

/** Returns a function that lists the possible characters at a position, the literal one first. */
export function createReader(text: string): (at: number) => readonly Reading[] {
  const known = new Map<number, Reading[]>();

  const read = (at: number, layers: number): readonly Reading[] => {
    if (at >= text.length) return [];
    const code = text.charCodeAt(at);
    if (layers === 0 || !beginsEscape(code)) return [{ code, end: at + 1 }];
    const place = at * (LAYERS + 1) + layers;
    let readings = known.get(place);
    if (!readings) known.set(place, (readings = withEscapes(read(at, layers - 1), layers - 1)));
    return readings;
  };

  const withEscapes = (plain: readonly Reading[], layers: number): Reading[] => {
    const readings = [...plain];
    const add = (code: number, end: number) => {
      if (!readings.some((known) => known.code === code && known.end === end))
        readings.push({ code, end });
    };
    for (const { code, end } of plain) {
      if (code === PERCENT) unescapePercent(end, layers, add);
      else if (code === BACKSLASH) unescapeBackslash(end, layers, add);
      else if (code === AMPERSAND) unescapeReference(end, layers, "", add);
    }
    return readings;
  };

  /** Reads what follows the percent sign in `%2f` and `%u002f`. */
  const unescapePercent = (at: number, layers: number, add: Add) => {
    readHexadecimal(at, 2, layers, 0, add);
    for (const { code, end } of read(at, layers)) {
      if (isLetter(code, "u")) readHexadecimal(end, 4, layers, 0, add);
    }
  };

  /** Reads what follows the backslash in `\/`, `\x2f`, `\u002f` and `\u{2f}`. */
  const unescapeBackslash = (at: number, layers: number, add: Add) => {
    for (const { code, end } of read(at, layers)) {
      if (isPunctuation(code)) add(code, end);
      else if (isLetter(code, "x")) readHexadecimal(end, 2, layers, 0, add);
      else if (isLetter(code, "u")) {
        readHexadecimal(end, 4, layers, 0, add);
        for (const brace of read(end, layers)) {
          if (brace.code === codeOf("{")) unescapeBraces(brace.end, layers, "", add);
        }
      }
    }
  };

  const unescapeBraces = (at: number, layers: number, digits: string, add: Add) => {
    if (digits.length > REFERENCE_LENGTH_LIMIT) return;
    for (const { code, end } of read(at, layers)) {
      if (code === codeOf("}")) add(Number.parseInt(digits, 16), end);
      else if (digitOf(code) !== null)
        unescapeBraces(end, layers, digits + String.fromCharCode(code), add);
    }
  };

  /** Reads what follows the ampersand in `&#47;`, `&#x2f;` and `&sol;`. */
  const unescapeReference = (at: number, layers: number, name: string, add: Add) => {
    if (name.length > REFERENCE_LENGTH_LIMIT) return;
    for (const { code, end } of read(at, layers)) {
      if (code === codeOf(";")) {
        const meant = codeOfReference(name);
        if (meant !== null) add(meant, end);
      } else if (REFERENCE.test(String.fromCharCode(code))) {
        unescapeReference(end, layers, name + String.fromCharCode(code), add);
      }
    }
  };

  const readHexadecimal = (at: number, left: number, layers: number, value: number, add: Add) => {
    if (left === 0) return add(value, at);
    for (const { code, end } of read(at, layers)) {
      const digit = digitOf(code);
      if (digit !== null) readHexadecimal(end, left - 1, layers, value * 16 + digit, add);
    }
  };

  return (at) => read(at, LAYERS);
}

type Add = (code: number, end: number) => void;

const REFERENCE = /[#0-9a-z]/i;
const PUNCTUATION = /[!-/:-@[-`{-~]/;

/** Whether a character can begin an escape, at any level of nesting. */
export function beginsEscape(code: number): boolean {
  return code === PERCENT || code === BACKSLASH || code === AMPERSAND;
}

function codeOf(character: string): number {
  return character.charCodeAt(0);
}

function isLetter(code: number, letter: string): boolean {
  return String.fromCharCode(code).toLowerCase() === letter;
}

function isPunctuation(code: number): boolean {
  return PUNCTUATION.test(String.fromCharCode(code));
}

/** Returns the value of a hexadecimal digit, or null for any other character. */
function digitOf(code: number): number | null {
  const digit = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? null : digit;
}

function codeOfReference(name: string): number | null {
  const [, hexadecimal, decimal] = /^#(?:x([0-9a-f]+)|(\d+))$/i.exec(name) ?? [];
  if (hexadecimal !== undefined) return Number.parseInt(hexadecimal, 16);
  if (decimal !== undefined) return Number(decimal);
  const key = name.toLowerCase();
  return Object.hasOwn(HTML_NAMES, key) ? codeOf(HTML_NAMES[key]!) : null;
}
