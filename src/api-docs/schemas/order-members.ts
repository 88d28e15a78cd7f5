// The schemas of an order's members.

import {
  CALLER_MEMBERS,
  CREATED_MEMBERS,
  type OrderMember,
  STATUS_MEMBERS,
} from "../../domain/orders/order-members.ts";
import { type Schema, schemaRef } from "./operation.ts";
import { cuid, text, time, usd, whole } from "./schema-parts.ts";

const schemasOf = (members: readonly OrderMember[]): Record<string, Schema> =>
  Object.fromEntries(members.map((member) => [member.name, schemaOf(member)]));

export const CREATED_SCHEMAS = schemasOf(CREATED_MEMBERS);
export const STATUS_SCHEMAS = schemasOf(STATUS_MEMBERS);
/** The texts that a caller may give. Responses have them only if the caller gave them. */
export const CALLER_TEXT_SCHEMAS = schemasOf(CALLER_MEMBERS);

function schemaOf({ kind, meaning, least = 0, most, longest }: OrderMember): Schema {
  switch (kind) {
    case "id":
      return cuid(meaning);
    case "text":
      return text(meaning, longest === undefined ? {} : { minLength: 1, maxLength: longest });
    case "number":
    case "quantity":
      return whole(meaning, least, most);
    case "amount":
      return usd(meaning);
    case "status":
      return schemaRef("OrderState");
    case "time":
      return time(meaning);
  }
}
