// The OpenAPI descriptions of user look-up and recharges.

import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { USERNAME_FORM, USERNAME_PATTERN } from "../../domain/users/users.ts";
import { DEMO_USER } from "../schemas/examples.ts";
import type { Operation } from "../schemas/operation.ts";

export const getUser: Operation = {
  id: "getUser",
  tag: "Users",
  summary: "Look up a user",
  description:
    "Returns a user's details and balances. Needs a Recharge Key or Full Access; a key whose reach is `children` sees its reseller's child users only.",
  parameters: [
    {
      name: "username",
      in: "query",
      description: "The user's name. Case does not count.",
      schema: { type: "string", pattern: USERNAME_PATTERN },
    },
  ],
  response: "UserAnswer",
  examples: [
    {
      name: "user",
      summary: "A main user",
      parameters: { username: "demo" },
      response: {
        exists: true,
        user: { ...DEMO_USER, balance: 96.743, childBalance: 0, resellerId: null },
      },
    },
    {
      name: "user_not_found",
      summary: "No user has that name",
      parameters: { username: "nobody" },
      response: new Refusal("user_not_found", { exists: false }),
    },
  ],
  refusals: [
    new Refusal("field_missing", { field: "username" }),
    new Refusal("field_invalid", {
      field: "username",
      must: USERNAME_FORM,
    }),
    refusal("user_out_of_reach"),
  ],
};

export const recharge: Operation = {
  id: "recharge",
  tag: "Users",
  summary: "Add credit to a user",
  description:
    "Credits a main user's `balance` or a child user's `childBalance`. Send an Idempotency-Key: a payment must not be credited twice. Needs a Recharge Key or Full Access, within the key's reach and its limits for one recharge and for a UTC day.",
  body: "RechargeRequest",
  idempotent: true,
  response: "Recharged",
  examples: [
    {
      name: "recharge",
      summary: "25.50 USD",
      body: { username: "demo", amount: 25.5 },
      response: {
        status: "success",
        user: { ...DEMO_USER, balance: 122.243, childBalance: 0, previousBalance: 96.743 },
        amount: 25.5,
      },
    },
    {
      name: "user_not_found",
      summary: "No user has that name",
      body: { username: "nobody", amount: 1 },
      response: refusal("user_not_found"),
    },
    {
      name: "field_invalid",
      summary: "An amount that is not positive",
      body: { username: "demo", amount: -1 },
      response: new Refusal("field_invalid", { field: "amount", must: "a positive number" }),
    },
    {
      name: "balance_too_large",
      summary: "More than a balance may hold",
      body: { username: "rich", amount: 1_000_000_000 },
      response: refusal("balance_too_large"),
    },
  ],
  refusals: [
    new Refusal("field_missing", { field: "amount" }),
    refusal("deposits_too_large"),
    refusal("user_out_of_reach"),
    new Refusal("recharge_limit_exceeded", { limitMicros: 100_000_000 }),
    new Refusal("daily_limit_exceeded", {
      limitMicros: 1_000_000_000,
      leftMicros: 12_500_000,
    }),
  ],
};
