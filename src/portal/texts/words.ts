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
      wrong: (_name, kind) => kindText(t, kind.form),
    },
    parts: {
      nothingChanged: t("parts.nothingChanged"),
      errorOf: (label, message) => (label === undefined ? message : `${label}: ${message}`),
      filters: t("parts.filters"),
      filter: t("parts.filter"),
      clear: t("parts.clear"),
      removeFilter: t("parts.removeFilter"),
      listPages: t("parts.listPages"),
      newest: t("parts.newest"),
      newer: t("parts.newer"),
      older: t("parts.older"),
      chart: (title) => t("parts.chart", { title }),
      table: t("parts.table"),
      day: t("parts.day"),
      shownOnce: t("parts.shownOnce"),
      copy: t("site.copy"),
      copied: t("site.copied"),
      done: t("parts.done"),
      moneyMoves: t("parts.moneyMoves"),
      backUnchanged: t("site.cancel"),
      proof: t("field.proof"),
      proofBecause: () => t("parts.proofBecause"),
      proofRequired: t("field.required"),
      proofWrong: t("field.proofWrong"),
      demo: {
        title: t("demo.title"),
        resets: (time) => t("demo.resets", { time }),
        key: t("demo.key"),
        formClosed: t("demo.formClosed"),
        everybody: t("demo.everybody"),
      },
      grace: {
        "0": t("grace.0"),
        "1": t("grace.1"),
        "24": t("grace.24"),
        "168": t("grace.168"),
      },
    },
  };
}

const WHOLE_FORM = /^a whole number from (\d+) to (\d+)$/;
const TEXT_FORM = /^1 to (\d+) characters/;

/** Returns what a field must be, from the form of its kind (domain/values/kinds.ts). */
function kindText(t: Translate, form: string): string {
  const [, least, most] = WHOLE_FORM.exec(form) ?? [];
  if (least !== undefined) return t("field.whole", { least: Number(least), most: Number(most) });
  const [, limit] = TEXT_FORM.exec(form) ?? [];
  return limit === undefined ? t("field.wrong") : t("field.text", { limit: Number(limit) });
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
