// The providers of a service, in the order in which an order tries them.

/** @jsxImportSource preact */

import { PRIORITY } from "../../domain/values/kinds.ts";
import type { Provider } from "../../db/providers/providers.ts";
import type { Margin } from "../../domain/catalogue/margins.ts";
import type { PrioritizedRoute } from "../../domain/catalogue/service-routes.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Choice, Field, Fold, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { MarginText, Rate } from "./margins.tsx";
import { Badge } from "../../web/components/shown.tsx";

export interface ListedRoute extends PrioritizedRoute {
  margin: Margin | null;
}

export function Routes({
  routes,
  providers,
  path,
  mayChange,
}: {
  routes: readonly ListedRoute[];
  providers: readonly Provider[];
  /** Path of the service's page. */
  path: string;
  mayChange: boolean;
}) {
  const rows = routes.map((route, index) => {
    const { name, active } = providers.find(({ providerId }) => providerId === route.providerId)!;
    return { ...route, place: index + 1, name, active };
  });
  return (
    <>
      <h2 id="routes">Routes</h2>
      <p class="hint">
        An order goes to the first provider. If a provider refuses it or cannot be reached, the next
        is tried. If it is unknown whether a provider has the order, no other is tried.
      </p>
      <List
        caption="Routes, in the order in which they are tried"
        rows={rows}
        empty="Delivered by hand: it has no provider."
        columns={[
          { heading: "Tried", number: true, cell: ({ place }) => place },
          {
            heading: "Provider",
            cell: ({ name, active }) => (
              <>
                <a href={`/providers/${name}`}>{name}</a>{" "}
                {!active && <Badge state="skipped" tone="busy" />}
              </>
            ),
          },
          {
            heading: "Id at the provider",
            cell: ({ providerService, delisted }) => (
              <>
                <code>{providerService}</code> {delisted && <Badge state="delisted" tone="bad" />}
              </>
            ),
          },
          { heading: "Priority", number: true, cell: ({ priority }) => priority },
          { heading: "Rate USD", number: true, cell: ({ margin }) => <Rate margin={margin} /> },
          { heading: "Margin", number: true, cell: ({ margin }) => <MarginText margin={margin} /> },
          ...(mayChange
            ? [
                {
                  heading: "Change",
                  cell: ({ name, providerService }: (typeof rows)[number]) => (
                    <Form
                      action={`${path}/routes/remove`}
                      hidden={{ provider: name, "provider-service": providerService }}
                    >
                      <button aria-label={`Remove the route to ${providerService} of ${name}`}>
                        Remove
                      </button>
                    </Form>
                  ),
                },
              ]
            : []),
        ]}
      />
      {mayChange && providers.length > 0 && (
        <Fold action={`${path}/routes`} summary="Add a route or change a priority">
          <Form action={`${path}/routes`} submit="Save the route">
            <Choice
              name="provider"
              label="Provider"
              options={providers.map(({ name }) => name)}
              required
            />
            <Field name="provider-service" label="Service id at the provider" required />
            <Field
              name="priority"
              label="Priority"
              inputmode="numeric"
              hint="the smallest is tried first; empty: after all others"
            />
          </Form>
        </Fold>
      )}
    </>
  );
}

export async function putRoute(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const route = routeOf(submission);
  const priority = form.optional("priority", PRIORITY, 0);
  await submission.submit("putRoute", { ...route, priority });
  return { to: `/services/${route.id}#routes`, note: `The route to ${route.provider} was saved.` };
}

export async function removeRoute(submission: Submission): Promise<Redirect> {
  const route = routeOf(submission);
  const left = await submission.submit("removeRoute", route);
  const manual = left.length === 0 ? " The service is delivered by hand from now on." : "";
  return {
    to: `/services/${route.id}#routes`,
    note: `The route to ${route.provider} was removed.${manual}`,
  };
}

function routeOf({ form, params }: Submission) {
  return {
    id: params["service"]!,
    provider: form.identifier("provider"),
    providerService: form.identifier("provider-service"),
  };
}
