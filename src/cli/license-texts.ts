// The licences of the packages in the binary, embedded by the build; a module of its own, which only `licenses` loads.

import { type License, licensesJson } from "../../deploy/licenses.ts" with { type: "macro" };

export const LICENSES = JSON.parse(licensesJson()) as License[];
