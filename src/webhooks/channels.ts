// Which way a delivery takes: to a reseller's URL, to a URL of the operator, which may be anywhere, or to Telegram.

import { parseNetwork } from "../config/networks.ts";
import { createWebhookSender, type SenderOptions, type SendWebhook } from "./sender.ts";
import type { TargetPolicy } from "./targets.ts";
import { sendTelegram } from "./telegram.ts";

/** The operator decides where this machine may connect to. */
export const ANYWHERE: TargetPolicy = {
  allow: ["0.0.0.0/0", "::/0"].map((network) => parseNetwork(network)!),
  allowHttp: true,
};

export interface ChannelOptions extends SenderOptions {
  /** The address of Telegram's Bot API. */
  telegramApi: string;
}

export function createChannels(options: ChannelOptions): SendWebhook {
  const { telegramApi: api, now } = options;
  const sendToReseller = createWebhookSender(options);
  const sendToOperator = createWebhookSender({ ...options, policy: ANYWHERE });
  return (request, stop) => {
    const { alert } = request;
    if (!alert) return sendToReseller(request, stop);
    if (alert.telegramChat === null) return sendToOperator(request, stop);
    return sendTelegram(alert.telegramChat, request, { api, now }, stop);
  };
}
