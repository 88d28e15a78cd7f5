// The command of this folder, a group below `admin`.

import { declareProviders } from "./providers.ts";

export const commands = [declareProviders];
