// Commands of this folder.

import { declareCompletion } from "./completion.ts";
import { declareLicenses } from "./licenses.ts";
import { declareMan } from "./man-page.ts";
import { declareVersion } from "./version.ts";

export const commands = [declareVersion, declareLicenses, declareCompletion, declareMan];
