// Notices of the operator for all members, shown on the first page of the portal in the language of each.

import type { Language } from "./languages.ts";

/** Limit for the notices that have not ended. */
export const NOTICES_LIMIT = 10;

/** Texts by language. Members whose language has none see the English one. */
export type NoticeTexts = { en: string } & Partial<Record<Language, string>>;

export function noticeText(texts: NoticeTexts, language: Language): string {
  return texts[language] ?? texts.en;
}

/** Returns whether a notice is still shown. Its end belongs to it. */
export function isShown({ untilAt }: { untilAt: number | null }, now: number): boolean {
  return untilAt === null || now <= untilAt;
}
