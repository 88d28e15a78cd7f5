// Commands of this folder, by name.

import { OUTBOX_LOCK } from "../../db/tables/locks.ts";
import { needLock } from "../../db/port/port.ts";
import { command } from "../batch/command.ts";
import { recordMailAttempts, releaseMails, resumeMails, takeDueMails } from "./mail-deliveries.ts";
import { expireMails, retryMail, setMailSettings } from "./mail-settings.ts";

/** The lock of the queue, taken before anything of it is read. */
const queue = () => [needLock(OUTBOX_LOCK)];

export const commands = {
  setMailSettings: command(setMailSettings),
  takeDueMails: command(takeDueMails, { needs: queue }),
  recordMailAttempts: command(recordMailAttempts, { needs: queue }),
  releaseMails: command(releaseMails, { needs: queue }),
  resumeMails: command(resumeMails, { needs: queue }),
  retryMail: command(retryMail),
  expireMails: command(expireMails, { needs: queue }),
};
