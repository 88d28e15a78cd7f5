// Commands of this folder, each a group below `admin`.

import { declareKeys } from "./keys.ts";
import { declareUsers } from "./users.ts";

export const commands = [declareUsers, declareKeys];
