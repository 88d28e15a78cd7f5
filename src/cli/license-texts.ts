// The licences of what is in the binary, put in while it is built; a module of its own, which only `licenses` loads.

import { type License, licensesJson } from "../../deploy/licenses.ts" with { type: "macro" };

export const LICENSES = JSON.parse(licensesJson()) as License[];
