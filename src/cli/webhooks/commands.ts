// Commands of this folder, each a group below `admin`.

import { declareAlerts } from "./alerts.ts";
import { declareWebhooks } from "./webhooks.ts";

export const commands = [declareWebhooks, declareAlerts];
