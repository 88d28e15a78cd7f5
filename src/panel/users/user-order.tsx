// Places an order for a reseller: first the service is chosen, then the fields of its type are filled in.

/** @jsxImportSource preact */

import { LINK, NOTE, QUANTITY, REFERENCE } from "../../domain/values/kinds.ts";
import { listOpenServices, type ListedOpenService } from "../../db/catalogue/services.ts";
import { typeTerms } from "../../domain/catalogue/service-types.ts";
import {
  DRIP_FIELDS,
  EXTRA_FIELDS,
  type ExtraField,
  givenFields,
  LINE_FIELDS,
  MAY_BE_EMPTY,
} from "../../domain/orders/order-fields.ts";
import { previewOrderFor } from "../../operations/orders/operator-orders.ts";
import { refusal } from "../../domain/values/error-table.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Area, Choice, Field, Form } from "../../web/components/fields.tsx";
import { Money, moneyText, Typed } from "../../web/components/shown.tsx";
import { PlacingDetails, RouteChoice, routeOf } from "../orders/order-resend.tsx";
import { listNamedRoutes, type NamedRoute } from "../orders/shown-order.ts";
import { requireShownUser, userPath } from "./shown-user.ts";

export async function newOrderPage(call: Call): Promise<View> {
  const id = call.params["service"] ?? call.filters.optionalIdentifier("service");
  const { user, services, service, routes } = await call.read((reader) => {
    const user = requireShownUser(reader, call.params["user"]!);
    const services = listOpenServices(reader, user.account);
    const service = services.find((each) => each.id === id) ?? null;
    const routes = service ? listNamedRoutes(reader, service.id) : [];
    return { user, services, service, routes };
  });
  if (user.parentAccount !== null) throw refusal("user_not_found");
  const { username, balanceMicros } = user;
  const path = userPath(username);
  return {
    title: `New order for ${username}`,
    body: (
      <>
        <h1>
          New order for <a href={path}>{username}</a>
        </h1>
        <p>
          Balance: <Money micros={balanceMicros} /> USD. The order is charged to it.
        </p>
        <section class="card narrow-card">
          <form method="get" action={`${path}/order`}>
            <ServiceChoice services={services} chosen={service} />
          </form>
        </section>
        {service && <OrderForm path={path} service={service} routes={routes} />}
      </>
    ),
  };
}

function ServiceChoice({
  services,
  chosen,
}: {
  services: readonly ListedOpenService[];
  chosen: ListedOpenService | null;
}) {
  if (services.length === 0) return <p>There is no service that this reseller may order.</p>;
  return (
    <>
      <Choice
        name="service"
        label="Service"
        options={services.map(({ id, name, priceMicros, per }) => [
          id,
          `${name}: ${moneyText(priceMicros)} USD per ${per}`,
        ])}
        value={chosen?.id ?? ""}
      />
      <p class="actions">
        <button class={chosen ? undefined : "primary"}>Choose</button>
      </p>
    </>
  );
}

function OrderForm({
  path,
  service,
  routes,
}: {
  path: string;
  service: ListedOpenService;
  routes: NamedRoute[];
}) {
  const { id, name, min, max } = service;
  const { quantity, fields } = typeTerms(service.type);
  return (
    <section class="card narrow-card">
      <Form action={`${path}/order/${id}`} submit="Place the order…">
        <h2>
          <Typed text={name} />
        </h2>
        <Field name="link" label="Link" required />
        {quantity === "named" && (
          <Field
            name="quantity"
            label="Quantity"
            inputmode="numeric"
            required
            hint={`${min} to ${max}`}
          />
        )}
        {fields.map((field) => (
          <ExtraInput field={field} />
        ))}
        {service.dripfeed && DRIP_FIELDS.map((field) => <ExtraInput field={field} />)}
        <RouteChoice routes={routes} />
        <Field
          name="reference"
          label="Reference"
          hint="with the same reference an order is placed only once"
        />
        <Field name="note" label="Note" hint="note for operators; the user never sees it" />
      </Form>
    </section>
  );
}

const HINTS: Partial<Record<ExtraField, string>> = {
  runs: "leave empty to deliver at once",
  interval: "minutes between two runs",
};

function ExtraInput({ field }: { field: ExtraField }) {
  const text = field.replaceAll("_", " ");
  const label = `${text[0]!.toUpperCase()}${text.slice(1)}`;
  if (LINE_FIELDS.has(field)) return <Area name={field} label={label} hint="one per line" />;
  return <Field name={field} label={label} hint={HINTS[field] ?? ""} />;
}

export async function placeOrder(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form } = submission;
  const { username } = await submission.read((reader) =>
    requireShownUser(reader, submission.params["user"]!),
  );
  const service = submission.params["service"]!;
  const link = form.required("link", LINK, "");
  const quantity = form.optional("quantity", QUANTITY, 1);
  const reference = form.optional("reference", REFERENCE, "");
  const note = form.optional("note", NOTE, "");
  const route = routeOf(submission);
  form.check();
  const texts = givenFields(textsOf(submission));
  const asked = { username, service, link, quantity, ...texts, reference, note, ...route };
  const preview = await submission.read((reader) => previewOrderFor(reader, asked, panel.now()));
  const { chargeMicros } = preview;
  await submission.confirm({
    title: `Place an order for ${username}`,
    moves: [{ account: username, micros: -chargeMicros }],
    details: <PlacingDetails {...preview} link={link} />,
    plan: asked,
  });
  const { orderId } = await submission.submit("placeOrderFor", { ...asked, chargeMicros });
  return {
    to: `/orders/${orderId}`,
    note: `Order ${orderId} was placed for ${username}.`,
  };
}

/** Returns the fields of the service's type that are filled in, and the optional ones that the form left empty. */
function textsOf({ form }: Submission): Partial<Record<ExtraField, string>> {
  const given = EXTRA_FIELDS.filter(
    (field) => form.raw(field) !== "" || (MAY_BE_EMPTY.has(field) && form.values.has(field)),
  );
  return Object.fromEntries(given.map((field) => [field, form.raw(field)]));
}
