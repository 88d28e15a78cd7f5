// Payments by hand: the customer reads the operator's instructions, pays, and says so. The operator decides.

import { DAY_MS } from "../domain/values/spans.ts";
import type { MethodKind } from "./method.ts";

const OPEN_MS = 14 * DAY_MS;

export const manual: MethodKind = {
  kind: "manual",
  settings: [],
  isClaimed: true,
  isReadable: false,
  openMs: OPEN_MS,
  connect: () =>
    Promise.resolve({
      begin: ({ createdAt }) =>
        Promise.resolve({
          outcome: "begun",
          reference: null,
          url: null,
          expiresAt: createdAt + OPEN_MS,
        }),
    }),
};
