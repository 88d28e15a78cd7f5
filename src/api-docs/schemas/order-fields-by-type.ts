// The fields of orders that depend on the service type, in the OpenAPI document.
// docs/specification/catalogue.md#service-types.

import {
  ANSWER_LIMIT,
  type ExtraField,
  INTERVAL_LIMIT,
  LINE_FIELDS,
  LINES_LIMIT,
  RUNS_LIMIT,
  TEXT_LENGTH_LIMIT,
} from "../../domain/orders/order-fields.ts";
import {
  isPackage,
  SERVICE_TYPES,
  type TypeField,
  typeTerms,
} from "../../domain/catalogue/service-types.ts";
import type { Schema } from "./operation.ts";
import { text, whole } from "./schema-parts.ts";

/** Meaning of each field. `describe` adds the service types that need it. */
const MEANINGS: Readonly<Record<TypeField, string>> = {
  comments: `Up to ${LINES_LIMIT} comments, one per line.`,
  keywords: `Up to ${LINES_LIMIT} keywords, one per line.`,
  usernames: `Up to ${LINES_LIMIT} usernames, one per line.`,
  hashtags: `Up to ${LINES_LIMIT} hashtags, one per line.`,
  hashtag: "The hashtag whose users are mentioned.",
  username: "The account whose followers are mentioned, or the author of the comment.",
  media: "The post whose likers are mentioned.",
  answer_number: "The number of the answer.",
  groups: `Up to ${LINES_LIMIT} groups, one per line.`,
  country: "Country of the visitors.",
  device: "Device of the visitors.",
  type_of_traffic: "Source of the visitors: 1 a search, 2 a link, 3 direct.",
  google_keyword: "What the visitors search for. May be empty unless they come by a search.",
  referring_url: "Page with the link. May be empty unless the visitors come by a link.",
};

const EXAMPLES: Readonly<Record<TypeField, string | number>> = {
  comments: "Lovely\nWhere is this?",
  keywords: "shoes\nred shoes",
  usernames: "anna\nbert",
  hashtags: "#shoes\n#red",
  hashtag: "#shoes",
  username: "anna",
  media: "https://example.com/p/1",
  answer_number: 2,
  groups: "https://example.com/g/1\nhttps://example.com/g/2",
  country: "US",
  device: "1",
  type_of_traffic: "1",
  google_keyword: "red shoes",
  referring_url: "https://example.com/from",
};

const NUMBERS: Readonly<Partial<Record<TypeField, number>>> = { answer_number: ANSWER_LIMIT };

const drip = {
  runs: {
    ...whole(
      "For services with a drip-feed: how many times the quantity is delivered.",
      1,
      RUNS_LIMIT,
    ),
    examples: [3],
  },
  interval: {
    ...whole("Minutes from one run to the next. Only with `runs`.", 1, INTERVAL_LIMIT),
    examples: [60],
  },
};

/** Schemas of the fields in responses. */
export const EXTRA_FIELD_VALUES: Readonly<Record<ExtraField, Schema>> = {
  ...mapFields((field, description) => {
    const most = NUMBERS[field];
    return most === undefined ? text(description) : whole(description, 1, most);
  }),
  ...drip,
};

/** Schemas of the fields in requests. Fields that are only passed on may be numbers or text. */
export const EXTRA_FIELD_SCHEMAS: Readonly<Record<ExtraField, Schema>> = {
  ...mapFields((field, description) => {
    if (LINE_FIELDS.has(field)) return text(description, { minLength: 1 });
    const limit = NUMBERS[field] === undefined ? { maxLength: TEXT_LENGTH_LIMIT } : {};
    return { type: ["string", "integer"], description, ...limit };
  }),
  ...drip,
};

function mapFields(schemaOf: (field: TypeField, description: string) => Schema) {
  const fields = Object.entries(MEANINGS) as [TypeField, string][];
  const schemas = fields.map(([field, meaning]) => [
    field,
    { ...schemaOf(field, describe(field, meaning)), examples: [EXAMPLES[field]] },
  ]);
  return Object.fromEntries(schemas) as Record<TypeField, Schema>;
}

function describe(field: TypeField, meaning: string): string {
  const types = SERVICE_TYPES.filter((type) => typeTerms(type).fields.includes(field));
  return `${meaning} For the type${types.length > 1 ? "s" : ""} ${types.join(", ")}.`;
}

/** Rows of the table of types for readers: what an order of each type needs besides its link. */
export const TYPE_ROWS = SERVICE_TYPES.map((type) => {
  const { quantity, fields } = typeTerms(type);
  const named = quantity === "named" ? ["quantity"] : [];
  const optional = type === "default" ? ["[runs, interval]"] : [];
  const counted = quantity === "named" ? "for the quantity" : `for the lines of ${quantity}`;
  const charged = isPackage(type) ? "its price" : counted;
  return { type, fields: [...named, ...fields, ...optional], charged };
});
