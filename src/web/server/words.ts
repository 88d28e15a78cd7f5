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
}

/** Errors beside the fields of a form. */
export interface FormWords {
  required: (name: string) => string;
  /** `must`: what the kind says of this value, in English. */
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
};
