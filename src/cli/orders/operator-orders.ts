// `admin order place|resend|link`: places orders for resellers, places failed orders again, and corrects links.

import { type Command, InvalidArgumentError, Option } from "commander";
import { formatMicros } from "../../domain/ledger/money.ts";
import { RESEND_PRICES, type ResendPrice } from "../../domain/orders/operator-orders.ts";
import { EXTRA_FIELDS, type ExtraField, givenFields } from "../../domain/orders/order-fields.ts";
import { usernameOf } from "../../db/users/users.ts";
import { previewOrderFor, previewResend } from "../../operations/orders/operator-orders.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { addMoneyConfirmation, type ConfirmOptions, confirmMoney } from "../kernel/confirm.ts";
import {
  link,
  note,
  providerName,
  providerService,
  quantity,
  reference,
  serviceId,
  username,
} from "../kernel/values.ts";
import { changeOrder } from "./order-output.ts";

export function declareOperatorOrders(group: Command): void {
  declarePlace(group);
  declareResend(group);
  declareLink(group);
}

interface PlacingOptions extends CommonOptions, ConfirmOptions {
  provider?: string;
  providerService?: string;
  note?: string;
}

interface PlaceOptions extends PlacingOptions {
  link: string;
  quantity?: number;
  field: Partial<Record<ExtraField, string>>;
  reference?: string;
}

function declarePlace(group: Command): void {
  const command = declare(
    group,
    "place",
    "place an order for a reseller, charged to its balance",
    "reseller admin order place alice likes --link https://example.com/me --quantity 500 --reference ticket-81",
  )
    .argument("<username>", "the reseller", username)
    .argument("<service>", "id of the service", serviceId)
    .addOption(
      new Option("--link <text>", "link of the order").argParser(link).makeOptionMandatory(),
    )
    .option("--quantity <number>", "quantity, if the service's type needs one", quantity)
    .option(
      "--field <name=text>",
      "a field that the service's type needs, such as comments; may be repeated",
      addField,
      {},
    )
    .option(
      "--reference <text>",
      "your reference for the order; repeating it has no second effect",
      reference,
    );
  addPlacing(command).action(async (user: string, service: string, options: PlaceOptions) => {
    const asked = {
      username: user,
      service,
      link: options.link,
      quantity: options.quantity ?? null,
      ...givenFields(options.field),
      reference: options.reference ?? null,
      ...choicesOf(options),
    };
    const { chargeMicros } = await withDatabase(options, ({ store, now }) =>
      store.read((reader) => previewOrderFor(reader, asked, now())),
    );
    await confirmMoney(options, chargeMicros, chargeText(user, chargeMicros));
    const confirmed = { ...asked, chargeMicros };
    await changeOrder(options, ({ execute }) => execute("placeOrderFor", confirmed));
  });
}

interface ResendOptions extends PlacingOptions {
  price: ResendPrice;
  link?: string;
}

function declareResend(group: Command): void {
  const command = declare(
    group,
    "resend",
    "place a failed order again, as a new order that refers to it",
    "reseller admin order resend 12 --provider bulk",
  )
    .argument("<id>", "the failed order, by number or id")
    .addOption(
      new Option("--price <price>", "price of the failed order, or the reseller's price now")
        .choices(RESEND_PRICES)
        .default("then"),
    )
    .option("--link <text>", "corrected link (default: that of the failed order)", link);
  addPlacing(command).action(async (id: string, options: ResendOptions) => {
    const { price } = options;
    const asked = { id, price, link: options.link ?? null, ...choicesOf(options) };
    const { user, chargeMicros } = await withDatabase(options, ({ store, now }) =>
      store.read((reader) => {
        const { resellerAccount, ...preview } = previewResend(reader, asked, now());
        return { ...preview, user: usernameOf(reader, resellerAccount) };
      }),
    );
    await confirmMoney(options, chargeMicros, chargeText(user, chargeMicros));
    const confirmed = { ...asked, chargeMicros };
    await changeOrder(options, ({ execute }) => execute("resendOrder", confirmed));
  });
}

function declareLink(group: Command): void {
  declare(
    group,
    "link",
    "correct the link of an order that no provider has yet",
    "reseller admin order link 12 https://example.com/me",
  )
    .argument("<id>", "the order, by number or id")
    .argument("<link>", "the corrected link", link)
    .action((id: string, corrected: string, options: CommonOptions) =>
      changeOrder(options, ({ execute }) => execute("correctLink", { id, link: corrected })),
    );
}

/** Adds the options of both `place` and `resend`. */
function addPlacing(command: Command): Command {
  return addMoneyConfirmation(
    command
      .option(
        "--provider <name>",
        "provider to try first; the service must have a route to it",
        providerName,
      )
      .option(
        "--provider-service <id>",
        "the service's id at the provider, if it has several routes to that provider",
        providerService,
      )
      .option("--note <text>", "note for operators; the user never sees it", note),
  );
}

function choicesOf({ provider, providerService: service, note: own }: PlacingOptions) {
  return { provider: provider ?? null, providerService: service ?? null, note: own ?? null };
}

function chargeText(user: string, micros: number): string {
  return `charge ${user} ${formatMicros(micros)} USD`;
}

function addField(
  text: string,
  before: Partial<Record<ExtraField, string>>,
): Partial<Record<ExtraField, string>> {
  const [, given, value] = /^([^=]*)=([^]*)$/.exec(text) ?? [];
  const name = EXTRA_FIELDS.find((each) => each === given);
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError(`must be NAME=TEXT with one of ${EXTRA_FIELDS.join(", ")}.`);
  }
  return { ...before, [name]: value };
}
