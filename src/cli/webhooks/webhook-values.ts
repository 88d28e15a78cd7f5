// Options of the webhook commands for the URL, the events and the balance threshold.

import { type Command, InvalidArgumentError, Option } from "commander";
import { settingOption } from "../../config/flags.ts";
import type { Network } from "../../config/networks.ts";
import { parseEvents, WANTABLE_EVENTS } from "../../domain/webhooks/webhook-events.ts";
import { checkNewUrl } from "../../webhooks/new-url.ts";
import { amount } from "../kernel/values.ts";

export interface UrlPolicy {
  webhookAllow: readonly Network[];
  webhookAllowHttp: boolean;
}

/** Adds the options for an endpoint's URL and for what is sent to it. */
export function addTerms(command: Command, isUrlMandatory: boolean): Command {
  return command
    .addOption(
      new Option("--url <url>", "URL to which events are sent").makeOptionMandatory(isUrlMandatory),
    )
    .addOption(
      new Option(
        "--events <types>",
        `${WANTABLE_EVENTS.join(", ")}; separated by commas`,
      ).argParser(events),
    )
    .addOption(
      new Option(
        "--balance-low-below <amount>",
        "send balance.low when the balance falls below this amount in USD",
      ).argParser(amount),
    )
    .addOption(settingOption("webhook-allow"))
    .addOption(settingOption("webhook-allow-http"));
}

/** Parses event types separated by commas. Returns them in the form that is stored. */
function events(text: string): string {
  const known = parseEvents(text.split(",").map((type) => type.trim()));
  if (!known) throw new InvalidArgumentError(`must contain only ${WANTABLE_EVENTS.join(", ")}.`);
  return known.join();
}

/** Returns the URL in the form that is stored. Refuses a wrong one as wrong usage (exit 2). */
export async function checkedUrl(
  text: string,
  { webhookAllow: allow, webhookAllowHttp: allowHttp }: UrlPolicy,
  command: Command,
): Promise<string> {
  const found = await checkNewUrl(text, { allow, allowHttp });
  if ("must" in found) command.error(`error: --url must be ${found.must}.`);
  return found.url;
}
