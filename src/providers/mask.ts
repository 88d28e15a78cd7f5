// Texts of a provider as they may be logged or shown: without its key, without control characters, cut.

const TEXT_LIMIT = 200;
const MASK = "***";
// oxlint-disable-next-line no-control-regex -- control characters are what it removes
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** Masks the key in every form that a reply could repeat it in. */
export function createMask(key: string): (text: string) => string {
  const forms = new Set([
    key,
    encodeURIComponent(key),
    new URLSearchParams({ key }).toString().slice("key=".length),
    JSON.stringify(key).slice(1, -1),
  ]);
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length);
  return (text) => {
    let masked = text;
    for (const form of longestFirst) masked = masked.replaceAll(form, MASK);
    masked = masked.replace(CONTROL, " ").trim();
    return masked.length > TEXT_LIMIT ? `${masked.slice(0, TEXT_LIMIT).toWellFormed()}…` : masked;
  };
}
