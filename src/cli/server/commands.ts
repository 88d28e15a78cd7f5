// Commands of this folder, in the three parts of the program's help that list them.

import { declareConfig } from "./config.ts";
import { declareDoctor } from "./doctor.ts";
import { declareHealth } from "./health.ts";
import { declareQuickstart } from "./quickstart.ts";
import { declareServe } from "./serve.ts";

export const startCommands = [declareServe, declareQuickstart];

export const commands = [declareConfig];

export const checkCommands = [declareDoctor, declareHealth];
