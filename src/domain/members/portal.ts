// What a reseller's portal allows unless the operator decides otherwise.

import type { KeyType } from "../users/keys.ts";

export const portalDefaults = {
  active: true,
  /** The most powerful keys that members may create. */
  keys: "order" as KeyType,
  lowBalanceMicros: null as number | null,
};
