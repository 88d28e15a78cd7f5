// Commands of this folder, each a group below `admin`.

import { declareGrants } from "./grants.ts";
import { declareServices } from "./services.ts";

export const commands = [declareServices, declareGrants];
