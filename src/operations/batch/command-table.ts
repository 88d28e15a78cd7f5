// All commands by name: those of the other folders of operations/, and those of this folder.

import { commands as administrators } from "../administrators/commands.ts";
import { commands as catalogue } from "../catalogue/commands.ts";
import { commands as delivery } from "../delivery/commands.ts";
import { commands as imports } from "../imports/commands.ts";
import { commands as ledger } from "../ledger/commands.ts";
import { commands as mails } from "../mails/commands.ts";
import { commands as members } from "../members/commands.ts";
import { commands as orders } from "../orders/commands.ts";
import { commands as payments } from "../payments/commands.ts";
import { commands as providers } from "../providers/commands.ts";
import { commands as reports } from "../reports/commands.ts";
import { commands as signIns } from "../sign-ins/commands.ts";
import { commands as users } from "../users/commands.ts";
import { commands as webhooks } from "../webhooks/commands.ts";
import { command } from "./command.ts";
import { expireIdempotencyRecords, needsOfRecordResponse, recordResponse } from "./idempotency.ts";
import { probe } from "./probe.ts";
import { carryOver, skipSequences } from "./restore.ts";
import { endLease, renewLease } from "./server-leases.ts";
import { addUptime } from "./uptime.ts";

export const commands = {
  ...orders,
  ...delivery,
  ...catalogue,
  ...providers,
  ...users,
  ...ledger,
  ...webhooks,
  ...administrators,
  ...signIns,
  ...members,
  ...mails,
  ...reports,
  ...imports,
  ...payments,
  recordResponse: command(recordResponse, { needs: needsOfRecordResponse }),
  expireIdempotencyRecords: command(expireIdempotencyRecords),
  carryOver: command(carryOver),
  skipSequences: command(skipSequences),
  addUptime: command(addUptime),
  renewLease: command(renewLease),
  endLease: command(endLease),
  probe: command<undefined, null>(probe),
};
