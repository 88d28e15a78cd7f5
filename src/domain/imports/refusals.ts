// Refusals of imports from another panel.

import { entry } from "../values/refusal-entry.ts";

export const IMPORT_REFUSALS = {
  moving_in_running: entry<{ seconds: number }>({
    message: ({ seconds }) =>
      `Another import is running. One that was interrupted counts as running for ${seconds} s more`,
    hint: "wait until it has ended",
  }),
  moving_in_late: entry({
    message:
      "Orders were placed here since the dry run, so the numbers of imported orders may have been given",
    hint: "look at a new dry run",
  }),
};
