// Switches services on and off: on the row, and many at once.

/** @jsxImportSource preact */

import type { Service } from "../../db/catalogue/services.ts";
import { counted, showHidden } from "../../domain/values/text.ts";
import type { Submission } from "../server/call.ts";
import { changeAll } from "../server/many.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect } from "../../web/server/results.ts";
import { STATES } from "./service-filters.ts";
import { listPath, selectedServices } from "./service-selection.ts";

/** The button in the row of a service. It sends the form around the list to the service's own route. */
export function ServiceSwitch({ service: { id, name, active } }: { service: Service }) {
  const verb = active ? "deactivate" : "activate";
  return (
    <button
      formaction={`/services/${id}/${verb}`}
      aria-label={`${verbOf(!active)} ${showHidden(name)}`}
    >
      {verbOf(!active)}
    </button>
  );
}

function verbOf(active: boolean): string {
  return active ? "Activate" : "Deactivate";
}

/** The buttons for the selected services. */
export function SelectedSwitches() {
  return (
    <>
      {STATES.map((state) => (
        <button formaction="/service-states" name="state" value={state}>
          {verbOf(state === "active")} the selected
        </button>
      ))}
    </>
  );
}

/** Switches the selected services after a confirmation that counts them. */
export async function switchServices(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form } = submission;
  const active = form.choice("state", STATES) === "active";
  const services = await selectedServices(submission, "");
  const changed = services.filter((service) => service.active !== active);
  if (changed.length === 0)
    form.addError("", `The selected services are ${active ? "active" : "inactive"} already`);
  const title = `${verbOf(active)} ${counted(changed.length, "service")}`;
  await submission.confirm({
    title,
    moves: [],
    danger: !active,
    plan: changed.map(({ id }) => id),
    details: (
      <p>
        {active
          ? "Resellers can order them again."
          : "Resellers cannot order them until they are active again. Orders that were placed go on."}
      </p>
    ),
  });
  const named = { noun: "service", field: "", idOf: ({ id }: Service) => id };
  const { done, why } = await changeAll(submission, panel, changed, named, ({ id }) =>
    submission.submit("setServiceActive", { id, active }),
  );
  return {
    to: listPath(submission),
    tone: why === "" ? "good" : "busy",
    note: `${counted(done, "service")} switched to ${active ? "active" : "inactive"}.${why && ` Not ${why}.`}`,
  };
}
