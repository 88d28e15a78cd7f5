// The words that all pages of a site share, for sites in several languages. The panel has English ones.

import type { Kind } from "../../domain/values/kinds.ts";
import { adviceOf, type Refusal } from "../../domain/values/error-table.ts";

export interface SiteWords {
  /** The language of the pages, for `<html lang>`. */
  language: string;
  toContent: string;
  error: (status: number) => string;
  toSite: string;
  pageNotFound: string;
  foreignForm: string;
  tooLargeForm: string;
  notAForm: string;
  sentTwice: string;
  unavailable: string;
  internalError: string;
  /** What a refusal says and advises. */
  refusal: (refused: Refusal) => string;
  form: FormWords;
  parts: PartWords;
}

/** Words of shared components. */
export interface PartWords {
  nothingChanged: string;
  /** An error in the list above a form. */
  errorOf: (label: string | undefined, message: string) => string;
  filters: string;
  filter: string;
  clear: string;
  removeFilter: string;
  listPages: string;
  newest: string;
  newer: string;
  older: string;
  /** Names a chart for screen readers. */
  chart: (title: string) => string;
  table: string;
  day: string;
  shownOnce: string;
  copy: string;
  copied: string;
  done: string;
  moneyMoves: string;
  backUnchanged: string;
  proof: string;
  proofBecause: (isSensitive: boolean) => string;
  proofRequired: string;
  proofWrong: string;
  demo: DemoWords;
  /** How long an old key stays valid, by hours. */
  grace: Record<"0" | "1" | "24" | "168", string>;
}

/** Words of a demo. */
export interface DemoWords {
  title: string;
  resets: (time: string) => string;
  key: string;
  formClosed: string;
  /** Above each page of a demo that anybody may use. */
  everybody: string;
}

/** Errors beside the fields of a form. */
export interface FormWords {
  required: (name: string) => string;
  /** `must`: the form that the kind requires, in English. */
  wrong: (name: string, kind: Kind<unknown>, must: string) => string;
}

const spaced = (name: string) => name.replaceAll("-", " ");

export const ENGLISH: SiteWords = {
  language: "en",
  toContent: "To the content",
  error: (status) => `Error ${status}`,
  toSite: "To the panel",
  pageNotFound: "Page not found.",
  foreignForm: "The form was sent from another site. Nothing was changed.",
  tooLargeForm: "The form is too large.",
  notAForm: "The request is not a form.",
  sentTwice: "The form was submitted twice and processed once. Check the result.",
  unavailable: "Service temporarily unavailable: nothing was changed, try again.",
  internalError: "Internal error. See the server's log.",
  refusal: adviceOf,
  form: {
    required: (name) => `${spaced(name)} is required`,
    wrong: (name, _kind, must) => `${spaced(name)} must be ${must}`,
  },
  parts: {
    nothingChanged: "Nothing was changed.",
    errorOf: (_label, message) => message,
    filters: "Filters",
    filter: "Filter",
    clear: "Clear",
    removeFilter: "Remove the filter",
    listPages: "Pages of the list",
    newest: "Newest",
    newer: "Newer",
    older: "Older",
    chart: (title) => `${title}: the table below has the numbers`,
    table: "Table",
    day: "Day",
    shownOnce: "This is shown once: copy it now. It cannot be looked up later.",
    copy: "Copy",
    copied: "Copied",
    done: "Done",
    moneyMoves: "Money that will move",
    backUnchanged: "Go back without changes",
    proof: "Your password, or a code of your second factor",
    proofBecause: (isSensitive) =>
      `Asked for again because of ${isSensitive ? "what this allows" : "the amount"}.`,
    proofRequired: "Enter your password or a code again",
    proofWrong: "Wrong password or code",
    demo: {
      title: "This is a demo",
      resets: (time) => `Try everything. All changes are discarded at ${time}.`,
      key: "API key",
      formClosed: "The demo does not allow this. Nothing was changed.",
      everybody:
        "Everybody uses this demo, and may have typed what you read here. Enter nothing real.",
    },
    grace: {
      "0": "0 hours: it ends at once",
      "1": "an hour",
      "24": "a day",
      "168": "a week",
    },
  },
};
