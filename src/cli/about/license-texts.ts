// Licences of the packages in the binary, embedded by the build. A separate module, because only `licenses` loads it.

import { type License, licensesJson } from "../../../deploy/licenses.ts" with { type: "macro" };

export const LICENSES = JSON.parse(licensesJson()) as License[];
