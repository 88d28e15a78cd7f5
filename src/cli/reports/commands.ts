// The command of this folder.

import { declareReports } from "./reports.ts";

export const commands = [declareReports];
