// Commands of this folder, by name.

import { command } from "../batch/command.ts";
import {
  inviteAdministrator,
  setAdministratorActive,
  setAdministratorRole,
} from "./administrators.ts";

export const commands = {
  inviteAdministrator: command(inviteAdministrator),
  setAdministratorRole: command(setAdministratorRole),
  setAdministratorActive: command(setAdministratorActive),
};
