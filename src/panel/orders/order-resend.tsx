// Sends a failed order again, and corrects the link of an order that no provider has yet.

/** @jsxImportSource preact */

import { LINK, NOTE } from "../../domain/values/kinds.ts";
import { RESEND_PRICES } from "../../domain/orders/operator-orders.ts";
import { usernameOf } from "../../db/users/users.ts";
import { previewResend } from "../../operations/orders/operator-orders.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Choice, Field, Form } from "../../web/components/fields.tsx";
import { Money, moneyText, Typed } from "../../web/components/shown.tsx";
import type { ShownOrder } from "./shown-order.ts";

/** Form that sends a failed order again; nothing for any other order, and for one that was sent again. */
export function Resend({ order, resent, routes }: ShownOrder) {
  if (order.status !== "FAILED") return null;
  if (resent.resentAs !== null) {
    return (
      <p>
        Sent again as <a href={`/orders/${resent.resentAs}`}>order {resent.resentAs}</a>.
      </p>
    );
  }
  return (
    <Form action={`/orders/${order.orderId}/resend`} submit="Send again…">
      <h2>Send again</h2>
      <Choice
        name="price"
        label="Price"
        options={[
          ["then", `the price of this order: ${moneyText(order.chargeMicros)} USD`],
          ["now", "the reseller's price now"],
        ]}
      />
      <RouteChoice routes={routes} />
      <Field
        name="link"
        label="Link"
        value={order.link}
        hint="correct it here if it was the reason"
      />
      <Field name="note" label="Note" hint="note for operators; the user never sees it" />
    </Form>
  );
}

/** Choice of the route to begin with; nothing for a service with fewer than two. */
export function RouteChoice({ routes }: { routes: ShownOrder["routes"] }) {
  if (routes.length < 2) return null;
  return (
    <Choice
      name="route"
      label="Provider"
      any="in the service's order of routes"
      options={routes.map(({ provider, providerService }) => [
        `${provider} ${providerService}`,
        `${provider}, service ${providerService}`,
      ])}
    />
  );
}

/** Reads the choice of RouteChoice. A name of a provider has no space. */
export function routeOf({ form }: Submission) {
  const [provider, providerService] = (form.optionalText("route") ?? "").split(" ");
  return provider
    ? { provider, providerService: providerService ?? null }
    : { provider: null, providerService: null };
}

export async function resendOrder(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form, params } = submission;
  const price = form.choice("price", RESEND_PRICES);
  const link = form.optional("link", LINK, "");
  const note = form.optional("note", NOTE, "");
  const route = routeOf(submission);
  form.check();
  const asked = { id: params["order"]!, price, link, note, ...route };
  const { username, preview } = await submission.read((reader) => {
    const preview = previewResend(reader, asked, panel.now());
    return { username: usernameOf(reader, preview.resellerAccount), preview };
  });
  const { chargeMicros } = preview;
  await submission.confirm({
    title: `Send order ${asked.id} again`,
    moves: [{ account: username, micros: -chargeMicros }],
    details: <PlacingDetails {...preview} link={link} />,
    plan: asked,
  });
  const { orderId } = await submission.submit("resendOrder", { ...asked, chargeMicros });
  return {
    to: `/orders/${orderId}`,
    note: `Order ${asked.id} was sent again as order ${orderId}.`,
  };
}

/** What an order will be, for its confirmation. `link`: null if it stays as it is. */
export function PlacingDetails({
  serviceName,
  quantity,
  chargeMicros,
  balanceMicros,
  link,
}: {
  serviceName: string;
  quantity: number;
  chargeMicros: number;
  balanceMicros: bigint;
  link: string | null;
}) {
  return (
    <>
      <p>
        {quantity} × <Typed text={serviceName} />
        {link !== null && (
          <>
            {" "}
            to <Typed text={link} />
          </>
        )}
      </p>
      <p>
        Balance: <Money micros={balanceMicros} /> →{" "}
        <Money micros={balanceMicros - BigInt(chargeMicros)} /> USD
      </p>
    </>
  );
}

/** Form that corrects the link. */
export function LinkCorrection({ order }: Pick<ShownOrder, "order">) {
  return (
    <Form action={`/orders/${order.orderId}/link`} submit="Correct the link">
      <h2>Link</h2>
      <Field
        name="link"
        label="Link"
        value={order.link}
        required
        hint={
          order.delivery === null
            ? "you deliver this order by hand"
            : "the order has not been sent to a provider yet"
        }
      />
    </Form>
  );
}

export async function correctLink(submission: Submission): Promise<Redirect> {
  const link = submission.form.required("link", LINK, "");
  const { orderId } = await submission.submit("correctLink", {
    id: submission.params["order"]!,
    link,
  });
  return { to: `/orders/${orderId}`, note: "The link was corrected." };
}
