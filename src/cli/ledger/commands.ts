// The command of this folder, a group below `admin`.

import { declareTransactions } from "./transactions.ts";

export const commands = [declareTransactions];
