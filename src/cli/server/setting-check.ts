// A finding of `config check`.

import type { State } from "../../storage/doctor/findings.ts";

export interface SettingCheck {
  check: string;
  state: State;
  detail: string;
}
