// The words of shared pages and forms, and of refusals, in a language of the portal.

import type { Language } from "../../domain/members/languages.ts";
import { adviceOf, type Refusal } from "../../domain/values/error-table.ts";
import type { SiteWords } from "../../web/server/words.ts";
import type { Key, Translate } from "./catalogue.ts";
import { en } from "./en.ts";

const made = new WeakMap<Translate, SiteWords>();

/** Returns the words that a translation makes, made once. */
export function wordsOf(language: Language, t: Translate): SiteWords {
  let found = made.get(t);
  if (!found) made.set(t, (found = createWords(language, t)));
  return found;
}

function createWords(language: Language, t: Translate): SiteWords {
  return {
    language,
    toContent: t("site.toContent"),
    error: (status) => t("site.error", { status: String(status) }),
    toSite: t("site.toSite"),
    pageNotFound: t("site.pageNotFound"),
    foreignForm: t("site.foreignForm"),
    tooLargeForm: t("site.tooLargeForm"),
    notAForm: t("site.notAForm"),
    sentTwice: t("site.sentTwice"),
    unavailable: t("site.unavailable"),
    internalError: t("site.internalError"),
    refusal: (refused) => refusalText(t, refused),
    form: {
      required: () => t("field.required"),
      wrong: () => t("field.wrong"),
    },
  };
}

/** Returns the text of a refusal. One that the portal has no text for is shown as the API says it. */
function refusalText(t: Translate, refused: Refusal): string {
  const key = `refusal.${refused.code}`;
  if (!isKey(key)) return t("refusal.other", { message: adviceOf(refused) });
  const values = { ...(refused.details as object | null) } as Record<string, string | number>;
  // The forms of a text depend on `count`.
  for (const name of ["retryAfterSeconds", "limit", "days"]) {
    if (typeof values[name] === "number") values["count"] ??= values[name];
  }
  return (t as (key: Key, values: Record<string, string | number>) => string)(key, values);
}

function isKey(key: string): key is Key {
  return Object.hasOwn(en, key);
}
