// Schemas of /api/v2: their parts, and the lists in responses to cancel and refill requests.

import { eachWord, SMM_REFILL_WORDS } from "../../domain/orders/smm-words.ts";
import type { Schema } from "../schemas/operation.ts";

export const text = (description: string, more: Schema = {}): Schema => {
  return { type: "string", description, ...more };
};
/** A value that may be a number or a string. */
export const number = (description: string, examples?: string[]): Schema => {
  return { type: ["string", "integer"], description, ...(examples && { examples }) };
};
export const object = (description: string, properties: Record<string, Schema>): Schema => ({
  type: "object",
  description,
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

export const ERROR = object("A refusal.", {
  error: text("Fixed text of the error, by which clients recognise it."),
});

/** The id as it was sent, as a number if it is one. */
const ASKED: Schema = { type: ["integer", "string"], description: "The id as it was sent." };

export const REFILL_WORD = text("Status of the refill.", {
  enum: eachWord(SMM_REFILL_WORDS),
});

const listOf = (items: Schema, description: string): Schema => ({
  type: "array",
  items,
  description,
});

/** Lists of results of cancel and refill requests, in the sequence of the ids sent. */
export const LISTS: readonly Schema[] = [
  listOf(
    object("An order.", {
      order: ASKED,
      cancel: {
        anyOf: [
          { type: "integer", const: 1, description: "The cancellation is requested." },
          ERROR,
        ],
      },
    }),
    "Response to `cancel`, also for one order.",
  ),
  listOf(
    object("An order.", {
      order: ASKED,
      refill: {
        anyOf: [{ type: "integer", minimum: 1, description: "The refill's number." }, ERROR],
      },
    }),
    "Response to `refill` with `orders`.",
  ),
  listOf(
    object("A refill.", { refill: ASKED, status: { anyOf: [REFILL_WORD, ERROR] } }),
    "Response to `refill_status` with `refills`.",
  ),
];
