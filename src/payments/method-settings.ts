// The settings of payment methods as operators give them: checked, made, and what is not right with a method. The command
// line and the panel use the same.

import type { PaymentMethodRow } from "../db/tables/payments.ts";
import { readTexts, type SettingFacts } from "../domain/payments/payment-methods.ts";
import { hasUnprintable } from "../domain/values/text.ts";
import type { MethodKind, MethodSettings } from "./method.ts";

const SETTING_LIMIT = 2000;

/** Returns the stored settings of a method. */
export function settingsOf({ settings }: Pick<PaymentMethodRow, "settings">): MethodSettings {
  return JSON.parse(settings) as MethodSettings;
}

/** Returns what the operations need to know of the settings of a kind. */
export function knownSettings({ settings }: MethodKind): SettingFacts[] {
  return settings.map(({ name, isSecret, isRequired }) => ({ name, isSecret, isRequired }));
}

/** Returns what a given value must be; null if it is right. An empty value removes a setting that is not required. */
export function settingMust(
  { isRequired, isRight, form = "given" }: MethodKind["settings"][number],
  value: string,
): string | null {
  if (value === "") return isRequired ? form : null;
  const isText = value.length <= SETTING_LIMIT && !hasUnprintable(value) && value.isWellFormed();
  return isText && isRight?.(value) !== false ? null : form;
}

/** Makes the secrets that the kind makes itself and that were not given. */
export function madeSecrets({ settings }: MethodKind, given: MethodSettings): MethodSettings {
  const made = settings.filter(({ name, make }) => make && given[name] === undefined);
  return Object.fromEntries(made.map(({ name, make }) => [name, make!()]));
}

/** Returns the required settings that are missing. */
export function missingSettings({ settings }: MethodKind, given: MethodSettings): string[] {
  return settings
    .filter(({ name, isRequired }) => isRequired && !given[name])
    .map(({ name }) => name);
}

/** Returns what is not right with a method, in sentences for the operator. Empty: nothing. */
export function problemsOf(kind: MethodKind, method: PaymentMethodRow): string[] {
  const given = settingsOf(method);
  const missing = missingSettings(kind, given);
  const hasText = Object.keys(readTexts(method.instructions)).length > 0;
  const hasPage = !kind.isClaimed && (given["pay-url"] !== undefined || kind.isReadable);
  return [
    ...missing.map((name) => `The ${name.replaceAll("-", " ")} is missing.`),
    ...(kind.isTest?.(given)
      ? ["In test mode: whoever pays by a test card gets credit for no money."]
      : []),
    ...(!hasText && !hasPage ? ["Customers are not told how to pay."] : []),
    ...(kind.events && missing.length === 0 && method.noticedAt === null
      ? ["No genuine notice has arrived yet."]
      : []),
  ];
}
