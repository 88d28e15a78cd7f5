// The form for a new way to pay, as the panel shows it.

/** The fields of every kind. */
export const NEW_METHOD = {
  id: "new",
  currency: "USD",
  "rate-to-usd": "",
  "name-en": "Name",
  min: "1",
  max: "1000",
  fee: "0",
  fixed: "0",
  payer: "operator",
  bonus: "",
  resellers: "",
};
