// The forms that visitors of a public demo may send, by the paths of their routes. Every other form is refused, also one
// that a later version adds: none of these locks others out, ends their sessions, imports files, or names an address.

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
  "/service-prices",
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
  "/new-order/:service",
  "/new-orders",
  "/orders/:order/:kind",
];
