// Commands of this folder, by name.

import { command } from "../batch/command.ts";
import {
  inviteAdministrator,
  setAdministratorActive,
  setAdministratorRole,
} from "./administrators.ts";
import { removeView, saveView, setTimeZone } from "./administrator-settings.ts";

export const commands = {
  inviteAdministrator: command(inviteAdministrator),
  setAdministratorRole: command(setAdministratorRole),
  setAdministratorActive: command(setAdministratorActive),
  setTimeZone: command(setTimeZone),
  saveView: command(saveView),
  removeView: command(removeView),
};
