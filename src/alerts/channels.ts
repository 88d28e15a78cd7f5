// Chooses how a delivery is sent: to a reseller's URL, to a URL of the operator in any network, or to Telegram.

import { parseNetwork } from "../config/networks.ts";
import { createWebhookSender, type SenderOptions, type SendWebhook } from "../webhooks/sender.ts";
import type { TargetPolicy } from "../webhooks/targets.ts";
import { sendTelegram } from "./telegram.ts";

/** Allows every address: the operator decides where this machine may connect to. */
export const ANY_NETWORK: TargetPolicy = {
  allow: ["0.0.0.0/0", "::/0"].map((network) => parseNetwork(network)!),
  allowHttp: true,
};

export interface ChannelOptions extends SenderOptions {
  /** The URL of Telegram's Bot API. */
  telegramApi: string;
}

export function createChannels(options: ChannelOptions): SendWebhook {
  const { telegramApi: api, now } = options;
  const sendToReseller = createWebhookSender(options);
  const sendToOperator = createWebhookSender({ ...options, policy: ANY_NETWORK });
  return (request, stop) => {
    const { alert } = request;
    if (!alert) return sendToReseller(request, stop);
    if (alert.telegramChat === null) return sendToOperator(request, stop);
    return sendTelegram(alert.telegramChat, request, { api, now }, stop);
  };
}
