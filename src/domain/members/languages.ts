// The languages of the portal, and time zones.

export const LANGUAGES = ["en", "es", "pt-BR", "tr", "ru"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The names of the languages, each in its own. */
export const LANGUAGE_NAMES: Record<Language, string> = {
  en: "English",
  es: "Español",
  "pt-BR": "Português (Brasil)",
  tr: "Türkçe",
  ru: "Русский",
};

export function isLanguage(text: string): text is Language {
  return (LANGUAGES as readonly string[]).includes(text);
}

export const DEFAULT_TIME_ZONE = "UTC";

/** Returns the best language for an Accept-Language header, or English. */
export function languageFor(accepted: string | null): Language {
  const wanted = (accepted ?? "").split(",").map((part) => {
    const [tag = "", weight = "q=1"] = part.trim().toLowerCase().split(";");
    return { tag, weight: Number(weight.trim().replace("q=", "")) || 0 };
  });
  for (const { tag } of wanted.toSorted((a, b) => b.weight - a.weight)) {
    const found = LANGUAGES.find((each) => {
      const [base] = each.toLowerCase().split("-");
      return tag === each.toLowerCase() || tag.split("-")[0] === base;
    });
    if (found) return found;
  }
  return "en";
}

/** All time zones that this server knows. */
export const TIME_ZONES: readonly string[] = [
  DEFAULT_TIME_ZONE,
  ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== DEFAULT_TIME_ZONE),
];

/** Returns the time zone if this server knows it. */
export function parseTimeZone(text: string): string | null {
  return TIME_ZONES.includes(text) ? text : null;
}
