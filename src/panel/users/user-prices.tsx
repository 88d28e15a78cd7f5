// A reseller's own prices, and the private services that it may order.

/** @jsxImportSource preact */

import type { OwnPrice } from "../../db/users/user-figures.ts";
import { confirmOwnPrice } from "../catalogue/own-price.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Field, Fold, Form } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { Money, Typed } from "../../web/components/shown.tsx";
import { userPath } from "./shown-user.ts";

export function OwnPrices({
  prices,
  path,
  mayChange,
}: {
  prices: readonly OwnPrice[];
  /** Path of the user. */
  path: string;
  mayChange: boolean;
}) {
  const name = path.replace("/users/", "");
  return (
    <>
      <h2 id="prices">Own prices</h2>
      <List
        caption="Own prices"
        rows={prices}
        empty="No prices of its own: it pays those of the catalogue."
        columns={[
          {
            heading: "Service",
            cell: ({ serviceId }) => (
              <a href={`/services/${serviceId}`}>
                <code>{serviceId}</code>
              </a>
            ),
          },
          { heading: "Name", cell: ({ name }) => <Typed text={name} /> },
          {
            heading: "Its price USD",
            number: true,
            cell: ({ priceMicros }) =>
              priceMicros === null ? "the catalogue's" : <Money micros={priceMicros} />,
          },
          {
            heading: "Catalogue USD",
            number: true,
            cell: ({ listPriceMicros }) => <Money micros={listPriceMicros} />,
          },
          {
            heading: "Per",
            cell: ({ per }) => (per === "order" ? "order" : `${per} units`),
          },
          { heading: "Private", cell: ({ isPrivate }) => (isPrivate ? "yes" : "no") },
          ...(mayChange
            ? [
                {
                  heading: "Change",
                  cell: ({ serviceId }: OwnPrice) => (
                    <Form action={`${path}/prices/remove`} hidden={{ service: serviceId }}>
                      <button>Remove</button>
                    </Form>
                  ),
                },
              ]
            : []),
        ]}
      />
      <p class="actions">
        <a href={`/services?user=${name}`}>Its price list</a>
        <a href={`/grants.csv?user=${name}`}>Own prices as CSV</a>
      </p>
      {mayChange && (
        <Fold action={`${path}/prices`} summary="Set a price or grant a private service">
          <Form action={`${path}/prices`} submit="Save">
            <Field name="service" label="Service id" required />
            <Field
              name="price"
              label="Price in USD"
              inputmode="decimal"
              hint="in the service's own unit; empty: the catalogue's price"
            />
          </Form>
        </Fold>
      )}
    </>
  );
}

export async function setOwnPrice(submission: Submission): Promise<Redirect> {
  const { form, params } = submission;
  const username = params["user"]!;
  const id = form.identifier("service");
  const priceMicros = form.optionalPrice("price");
  await confirmOwnPrice(submission, { id, username, priceMicros });
  await submission.submit("grantService", { id, username, priceMicros });
  return { to: pathOf(username), note: `The price of ${id} was saved.` };
}

export async function removeOwnPrice(submission: Submission): Promise<Redirect> {
  const username = submission.params["user"]!;
  const id = submission.form.identifier("service");
  await submission.submit("revokeService", { id, username });
  return { to: pathOf(username), note: `${username} pays the catalogue's price of ${id} again.` };
}

function pathOf(username: string): string {
  return `${userPath(username)}#prices`;
}
