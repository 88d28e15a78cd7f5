// The forms that visitors of a public demo may send, by the paths of their routes. Every other form is refused, also one
// that a later version adds: none of these locks others out, ends their sessions, imports files, or names an address.

/** The services of the first catalogue and the reseller, which all visitors use. */
export interface Shared {
  user: string;
  services: ReadonlySet<string | null>;
}

/**
 * Returns whether a form may be sent. What all visitors use keeps its terms: a price, bounds or a grant could keep the
 * others from ordering. Services that visitors have made are theirs to change.
 */
export function isOpenForm(
  open: ReadonlySet<string>,
  path: string,
  params: Readonly<Record<string, string>>,
  shared: Shared,
): boolean {
  if (!open.has(path)) return false;
  if (!TERMS_FORMS.has(path)) return true;
  const { user, service } = params;
  return user?.toLowerCase() !== shared.user && !shared.services.has(service ?? "");
}

/** Open forms that change terms of a service or of a reseller. */
const TERMS_FORMS = new Set([
  "/users/:user/discount",
  "/users/:user/prices",
  "/users/:user/prices/remove",
  "/services/:service",
  "/services/:service/grants",
  "/services/:service/grants/revoke",
]);

export const PANEL_FORMS = [
  "/sign-in",
  "/sign-out",
  "/save-view",
  "/remove-view",
  "/orders/change",
  "/orders/:order/change",
  "/orders/:order/partial",
  "/orders/:order/progress",
  "/orders/:order/settle",
  "/orders/:order/resend",
  "/orders/:order/link",
  "/orders/:order/late",
  "/orders/:order/note",
  "/requests/:request",
  "/decide-requests",
  "/users/:user/discount",
  "/users/:user/order/:service",
  "/users/:user/prices",
  "/users/:user/prices/remove",
  "/services",
  "/services/:service",
  "/services/:service/grants",
  "/services/:service/grants/revoke",
  "/categories",
  "/categories/by-name",
  "/provider-balances",
  "/providers/:provider/test",
  "/providers/:provider/sync",
];

export const PORTAL_FORMS = [
  "/sign-in",
  "/sign-out",
  "/language",
  "/add-funds",
  "/demo-payments/:payment",
  "/payments/:payment/begin",
  "/new-order/:service",
  "/new-orders",
  "/orders/:order/:kind",
];
