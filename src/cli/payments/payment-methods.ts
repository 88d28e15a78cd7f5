// `admin payment method …`: the ways to pay. Secrets are read from standard input or a file.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { ConfigError } from "../../config/flags.ts";
import { listMethodResellers, listMethods } from "../../db/payments/payment-methods.ts";
import type { PaymentMethodRow } from "../../db/tables/payments.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import { formatMicros, MICROS_PER_DOLLAR } from "../../domain/ledger/money.ts";
import { LANGUAGES, type Language } from "../../domain/members/languages.ts";
import { PAYMENT_CURRENCY } from "../../domain/payments/currencies.ts";
import {
  type BonusStep,
  FEE_PAYERS,
  type FeePayer,
} from "../../domain/payments/payment-amounts.ts";
import {
  BONUS_STEPS,
  bonusStepsText,
  INSTRUCTIONS,
  METHOD_ID,
  METHOD_NAME_LIMIT,
  PAYMENT_LIMIT_MICROS,
  readTexts,
  termsOf,
} from "../../domain/payments/payment-methods.ts";
import { errorCode } from "../../domain/values/error-table.ts";
import { isLabel } from "../../domain/values/text.ts";
import { type MethodTerms, requireMethod } from "../../operations/payments/payment-methods.ts";
import type { MethodKind } from "../../payments/method.ts";
import {
  knownSettings,
  madeSecrets,
  missingSettings,
  problemsOf,
  settingMust,
} from "../../payments/method-settings.ts";
import { kindOf, METHOD_KINDS } from "../../payments/methods.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import { readSecretFromStdin } from "../kernel/stdin.ts";
import { amount, checked, discount, price, rateToUsd, username } from "../kernel/values.ts";
import { print } from "../output/output.ts";
import { fields, table } from "../output/text-table.ts";
import { moneyText } from "./payment-output.ts";

const methodId = checked(METHOD_ID);
const FILE_LIMIT_BYTES = 64 * 1024;

/** A text for each language that is given. */
type Texts = Partial<Record<Language, string>>;

interface TermOptions extends CommonOptions {
  name?: Texts;
  instructions?: Texts;
  min?: number;
  max?: number;
  fee?: number;
  feeFixed?: number;
  feeBy?: FeePayer;
  bonus?: BonusStep[];
  rateToUsd?: string;
  reseller?: string[];
  allResellers?: true;
  set?: Record<string, string>;
  secretFile?: Record<string, string>;
  secretStdin?: string;
}

export function declareMethods(payment: Command): void {
  const group = declareGroup(payment, "method", "ways to pay");
  declareAdd(group);
  declareEdit(group);
  declareList(group);
  declareShow(group);
  declareSwitch(group, "on", true, "offer a method to resellers again");
  declareSwitch(group, "off", false, "stop offering a method; payments under way continue");
  declareRotate(group);
  declareRemove(group);
}

function addTerms(command: Command): Command {
  return command
    .option("--name <text>", "name; `es=…` for one language; may be repeated", named)
    .option(
      "--instructions <file>",
      "file with the text that customers read; `es=FILE` for one language; may be repeated",
      instructionsFrom,
    )
    .option("--min <amount>", "smallest payment, in the method's currency", amount)
    .option("--max <amount>", "largest payment", amount)
    .option("--fee <percent>", "fee, such as 2.9%", discount)
    .option("--fee-fixed <amount>", "fixed part of the fee", price)
    .addOption(new Option("--fee-by <who>", "who pays the fee").choices(FEE_PAYERS))
    .option("--bonus <steps>", "bonus by amount, such as 100=3,500=5; none: no bonus", bonusSteps)
    .option("--rate-to-usd <number>", "US dollars for one unit of the currency", rateToUsd)
    .option("--reseller <username>", "only these resellers; may be repeated", repeated)
    .addOption(new Option("--all-resellers", "all resellers").conflicts("reseller"))
    .option("--set <name=value>", "a setting of the kind; may be repeated", pairOf)
    .option("--secret-file <name=file>", "read a secret setting from a file", pairOf)
    .option("--secret-stdin <name>", "read a secret setting from stdin, up to its end");
}

function declareAdd(group: Command): void {
  addTerms(
    declare(
      group,
      "add",
      "add a way to pay",
      "reseller admin payment method add manual bank --name Bank --instructions bank.txt --min 10 --max 5000",
    ),
  )
    .addArgument(new Argument("<kind>", "what it is").choices(METHOD_KINDS.map(({ kind }) => kind)))
    .argument("<id>", METHOD_ID.form, methodId)
    .option("--currency <code>", "currency that customers pay in", checked(PAYMENT_CURRENCY), "USD")
    .action(async (kindName: string, id: string, options: TermOptions & { currency: string }) => {
      const kind = kindOf({ kind: kindName });
      const { currency } = options;
      if (kind.takesCurrency?.(currency) === false) {
        throw new ConfigError(`${kind.kind} takes no ${currency}`);
      }
      const { min = MICROS_PER_DOLLAR, max = PAYMENT_LIMIT_MICROS / 1000 } = options;
      const given = await settingsOf(kind, options);
      const made = madeSecrets(kind, given);
      const settings = { ...given, ...made };
      const [missing] = missingSettings(kind, settings);
      if (missing) throw new ConfigError(`the setting ${missing} is missing`);
      const terms: MethodTerms = {
        names: JSON.stringify(options.name ?? { en: id }),
        instructions: JSON.stringify(options.instructions ?? {}),
        minMicros: min,
        maxMicros: max,
        feePpm: options.fee ?? 0,
        feeFixedMicros: options.feeFixed ?? 0,
        feePayer: options.feeBy ?? "operator",
        bonusSteps: JSON.stringify(options.bonus ?? []),
        rateToUsd: options.rateToUsd ?? "1",
        settings: JSON.stringify(settings),
        active: true,
      };
      if (currency !== "USD" && options.rateToUsd === undefined) {
        throw new ConfigError(`--rate-to-usd is missing: US dollars for one ${currency}`);
      }
      const resellers = options.reseller ?? null;
      const known = knownSettings(kind);
      const input = { methodId: id, kind: kind.kind, currency, terms, known, resellers };
      await withDatabase(options, ({ execute }) => execute("createPaymentMethod", input));
      // The only time that a secret is shown.
      print(options.json, { id, kind: kind.kind, ...made }, fields);
    });
}

function declareEdit(group: Command): void {
  addTerms(
    declare(
      group,
      "edit",
      "change a way to pay; payments keep the terms under which they were asked for",
      "reseller admin payment method edit bank --min 20 --bonus 100=3",
    ),
  )
    .argument("<id>", "id of the method", methodId)
    .action(async (id: string, options: TermOptions) => {
      await withDatabase(options, async ({ store, execute }) => {
        const method = await store.read((reader) => requireMethod(reader, id));
        const kind = kindOf(method);
        const changes = changesOf(options, method, await settingsOf(kind, options));
        const resellers = options.allResellers ? { resellers: null } : given(options.reseller);
        const known = knownSettings(kind);
        await execute("updatePaymentMethod", { methodId: id, changes, known, ...resellers });
      });
      await show(id, options);
    });
}

function given(reseller: string[] | undefined): { resellers?: string[] } {
  return reseller === undefined ? {} : { resellers: reseller };
}

function changesOf(
  options: TermOptions,
  method: PaymentMethodRow,
  settings: Record<string, string>,
): Partial<MethodTerms> {
  const all = {
    names: options.name && JSON.stringify({ ...readTexts(method.names), ...options.name }),
    instructions:
      options.instructions &&
      JSON.stringify({ ...readTexts(method.instructions), ...options.instructions }),
    minMicros: options.min,
    maxMicros: options.max,
    feePpm: options.fee,
    feeFixedMicros: options.feeFixed,
    feePayer: options.feeBy,
    bonusSteps: options.bonus && JSON.stringify(options.bonus),
    rateToUsd: options.rateToUsd,
    settings: Object.keys(settings).length > 0 ? JSON.stringify(settings) : undefined,
  };
  const changed = Object.entries(all).filter(([, value]) => value !== undefined);
  return Object.fromEntries(changed) as Partial<MethodTerms>;
}

function declareList(group: Command): void {
  declare(group, "list", "list the ways to pay", "reseller admin payment method list").action(
    async (options: CommonOptions) => {
      const methods = await withDatabase(options, ({ store }) => store.read(listMethods));
      print(
        options.json,
        methods.map((method) => methodJson(method, null)),
        () => methodTable(methods),
      );
    },
  );
}

function methodTable(methods: readonly PaymentMethodRow[]): string {
  const shown = methods.map((method) => ({
    id: method.methodId,
    kind: method.kind,
    name: readTexts(method.names).en ?? "",
    min: moneyText(method.minMicros, method.currency),
    max: moneyText(method.maxMicros, method.currency),
    fee: feeText(method),
    bonus: bonusStepsText(termsOf(method).bonusSteps),
    resellers: method.resellers,
    active: method.active,
  }));
  return table(shown, "no methods");
}

function feeText({ feePpm, feeFixedMicros, feePayer }: PaymentMethodRow): string | null {
  if (feePpm === 0 && feeFixedMicros === 0) return null;
  const fixed = feeFixedMicros === 0 ? "" : ` + ${formatMicros(feeFixedMicros)}`;
  return `${discountPercent(feePpm)} %${fixed} (${feePayer})`;
}

function declareShow(group: Command): void {
  declare(
    group,
    "show",
    "show a way to pay; its secrets are never shown",
    "reseller admin payment method show bank",
  )
    .argument("<id>", "id of the method", methodId)
    .action((id: string, options: CommonOptions) => show(id, options));
}

async function show(id: string, options: CommonOptions): Promise<void> {
  const json = await withDatabase(options, ({ store }) =>
    store.read((reader) => {
      const method = requireMethod(reader, id);
      const names = listMethodResellers(reader, id).map((each) => each.username);
      return methodJson(method, method.resellers === "all" ? null : names);
    }),
  );
  print(options.json, json, ({ names, instructions, settings, resellers, notRight, ...facts }) =>
    fields({
      ...facts,
      ...prefixed("name", names),
      ...prefixed("instructions", instructions),
      ...settings,
      resellers: resellers === null ? "all" : resellers.join(", "),
      notRight: notRight.join(" "),
    }),
  );
}

function prefixed(name: string, texts: Texts): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [`${name} ${key}`, text]));
}

function methodJson(method: PaymentMethodRow, resellers: readonly string[] | null) {
  const stored = JSON.parse(method.settings) as Record<string, string>;
  // Of a secret only whether there is one.
  const settings = kindOf(method).settings.map(({ name, isSecret }) => {
    const value = stored[name] ?? null;
    return [name, value !== null && isSecret ? "(set)" : value] as const;
  });
  return {
    id: method.methodId,
    kind: method.kind,
    names: readTexts(method.names),
    instructions: readTexts(method.instructions),
    currency: method.currency,
    rateToUsd: method.rateToUsd,
    min: formatMicros(method.minMicros),
    max: formatMicros(method.maxMicros),
    fee: discountPercent(method.feePpm),
    feeFixed: formatMicros(method.feeFixedMicros),
    feeBy: method.feePayer,
    bonus: bonusStepsText(termsOf(method).bonusSteps),
    settings: Object.fromEntries(settings),
    resellers,
    active: method.active,
    notRight: problemsOf(kindOf(method), method),
  };
}

function declareSwitch(group: Command, name: string, active: boolean, description: string): void {
  declare(group, name, description, `reseller admin payment method ${name} bank`)
    .argument("<id>", "id of the method", methodId)
    .action(async (id: string, options: CommonOptions) => {
      await withDatabase(options, async ({ store, execute }) => {
        const method = await store.read((reader) => requireMethod(reader, id));
        const known = knownSettings(kindOf(method));
        await execute("updatePaymentMethod", { methodId: id, changes: { active }, known });
      });
      print(options.json, { id, active }, fields);
    });
}

function declareRotate(group: Command): void {
  declare(
    group,
    "rotate",
    "make a new secret for the program that reports payments; the old one is refused from then on",
    "reseller admin payment method rotate wallet",
  )
    .argument("<id>", "id of the method", methodId)
    .action(async (id: string, options: CommonOptions) => {
      const made = await withDatabase(options, async ({ store, execute }) => {
        const method = await store.read((reader) => requireMethod(reader, id));
        const kind = kindOf(method);
        const secrets = madeSecrets(kind, {});
        if (Object.keys(secrets).length === 0) {
          throw new ConfigError(`${kind.kind} has no secret that is made here`);
        }
        const changes = { settings: JSON.stringify(secrets) };
        await execute("updatePaymentMethod", { methodId: id, changes, known: knownSettings(kind) });
        return secrets;
      });
      // The only time that it is shown.
      print(options.json, { id, ...made }, fields);
    });
}

function declareRemove(group: Command): void {
  declare(
    group,
    "remove",
    "remove a way to pay with its secrets; its payments stay",
    "reseller admin payment method remove bank",
  )
    .argument("<id>", "id of the method", methodId)
    .option(
      "--unread",
      "even if late money, refunds and disputes of its payments can then not be read any more",
    )
    .action(async (id: string, options: CommonOptions & { unread?: true }) => {
      const { unread = false } = options;
      await withDatabase(options, ({ execute }) =>
        execute("removePaymentMethod", { methodId: id, unread }),
      );
      print(options.json, { id, removed: true }, fields);
    });
}

/** Returns the settings that were given, each checked. Refuses an unknown one, and a secret on the command line. */
async function settingsOf(
  { kind, settings }: MethodKind,
  { set = {}, secretFile = {}, secretStdin }: TermOptions,
): Promise<Record<string, string>> {
  const values: Record<string, string> = { ...set };
  for (const [name, path] of Object.entries(secretFile)) values[name] = readSecretFile(path);
  if (secretStdin !== undefined) {
    const text = await readSecretFromStdin();
    if (text === null) throw new ConfigError("the secret is too long");
    values[secretStdin] = text.trim();
  }
  for (const [name, value] of Object.entries(values)) {
    const setting = settings.find((each) => each.name === name);
    if (!setting) {
      const known = settings.map((each) => each.name).join(", ") || "none";
      throw new ConfigError(`${kind} has no setting ${name}; it has: ${known}`);
    }
    if (setting.isSecret && name in set) {
      throw new ConfigError(`${name} is secret: use --secret-file ${name}=FILE or --secret-stdin`);
    }
    const must = settingMust(setting, value);
    if (must !== null) throw new ConfigError(`${name} must be ${must}`);
  }
  return values;
}

function readSecretFile(path: string): string {
  try {
    return readFileSync(path, "utf8").slice(0, FILE_LIMIT_BYTES).trim();
  } catch (error) {
    throw new ConfigError(`cannot read ${resolve(path)} (${errorCode(error)}): choose a text file`);
  }
}

function named(text: string, before: Texts = {}): Texts {
  const [language, name] = inLanguage(text);
  if (!isLabel(name, METHOD_NAME_LIMIT)) {
    throw new InvalidArgumentError(`must be 1 to ${METHOD_NAME_LIMIT} characters on one line.`);
  }
  return { ...before, [language]: name };
}

function instructionsFrom(text: string, before: Texts = {}): Texts {
  const [language, path] = inLanguage(text);
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(`cannot read ${resolve(path)} (${errorCode(error)}): choose a text file`);
  }
  const found = INSTRUCTIONS.read(content);
  if ("must" in found) throw new InvalidArgumentError(`must be ${found.must}.`);
  return { ...before, [language]: found.value };
}

/** Splits `es=text`; without a language the text is English. */
function inLanguage(text: string): [Language, string] {
  const [first = "", ...rest] = text.split("=");
  const language = LANGUAGES.find((each) => each === first);
  return language && rest.length > 0 ? [language, rest.join("=")] : ["en", text];
}

function pairOf(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [name = "", ...rest] = text.split("=");
  if (name === "" || rest.length === 0) throw new InvalidArgumentError("must be NAME=VALUE.");
  return { ...before, [name]: rest.join("=") };
}

function repeated(text: string, before: readonly string[] = []): string[] {
  return [...before, username(text)];
}

function bonusSteps(text: string): BonusStep[] {
  const found = BONUS_STEPS.read(text === "none" ? "" : text);
  if ("must" in found) throw new InvalidArgumentError(`must be ${found.must}.`);
  return found.value;
}
