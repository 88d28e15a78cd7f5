// Commands of this folder.

import { declareBackup } from "./backup.ts";
import { declareMove } from "./move.ts";
import { declareRestore } from "./restore.ts";
import { declareRestored } from "./restored.ts";
import { declareVerify } from "./verify.ts";

export const commands = [
  declareBackup,
  declareRestore,
  declareRestored,
  declareMove,
  declareVerify,
];
