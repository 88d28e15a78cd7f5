// Commands of this folder, in the parts in which help lists them.

import { declareConfig } from "./config.ts";
import { declareDoctor } from "./doctor.ts";
import { declareHealth } from "./health.ts";
import { declareQuickstart } from "./quickstart.ts";
import { declareServe } from "./serve.ts";

export const startCommands = [declareServe, declareQuickstart];

export const commands = [declareConfig];

export const checkCommands = [declareDoctor, declareHealth];
