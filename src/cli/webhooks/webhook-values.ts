// The values that webhook commands take: a URL, events, a threshold.

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

/** Adds the options for an endpoint's URL and what is sent to it. */
export function addTerms(command: Command, isUrlMandatory: boolean): Command {
  return command
    .addOption(
      new Option("--url <url>", "where events are sent").makeOptionMandatory(isUrlMandatory),
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
        "send balance.low when the balance falls below it",
      ).argParser(amount),
    )
    .addOption(settingOption("webhook-allow"))
    .addOption(settingOption("webhook-allow-http"));
}

/** Parses event types separated by commas. Returns them as they are stored. */
function events(text: string): string {
  const known = parseEvents(text.split(",").map((type) => type.trim()));
  if (!known) throw new InvalidArgumentError(`must contain only ${WANTABLE_EVENTS.join(", ")}.`);
  return known.join();
}

/** Returns the URL as it is stored. A URL that a running server would refuse is wrong usage here. */
export async function checkedUrl(
  text: string,
  { webhookAllow: allow, webhookAllowHttp: allowHttp }: UrlPolicy,
  command: Command,
): Promise<string> {
  const found = await checkNewUrl(text, { allow, allowHttp });
  if ("must" in found) command.error(`error: --url must be ${found.must}.`);
  return found.url;
}
