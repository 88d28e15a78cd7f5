// Types of services: the fields of their orders besides the link, the source of the quantity, and the price unit.
// docs/specification/catalogue.md#service-types. The values of an order are read in order-fields.ts.

import { Refusal } from "../values/error-table.ts";

export const SERVICE_TYPES = [
  "default",
  "package",
  "custom_comments",
  "custom_comments_package",
  "seo",
  "mentions_with_hashtags",
  "mentions_custom_list",
  "mentions_hashtag",
  "mentions_user_followers",
  "mentions_media_likers",
  "comment_likes",
  "comment_replies",
  "poll",
  "invites_from_groups",
  "web_traffic",
] as const;
export type ServiceType = (typeof SERVICE_TYPES)[number];
export const DEFAULT_SERVICE_TYPE: ServiceType = "default";

/** The fields of orders that only some types have, without the fields of drip-feeds. */
export const TYPE_FIELDS = [
  "comments",
  "keywords",
  "usernames",
  "hashtags",
  "hashtag",
  "username",
  "media",
  "answer_number",
  "groups",
  "country",
  "device",
  "type_of_traffic",
  "google_keyword",
  "referring_url",
] as const;
export type TypeField = (typeof TYPE_FIELDS)[number];

interface TypeTerms {
  /** The name that panels and providers use. */
  words: string;
  /**
   * The source of the quantity: the order names it, the service has one size, or the lines of this field are counted.
   */
  quantity: "named" | "size" | TypeField;
  /** Required fields besides the link and a named quantity. */
  fields: readonly TypeField[];
}

const TYPES: Readonly<Record<ServiceType, TypeTerms>> = {
  default: { words: "Default", quantity: "named", fields: [] },
  package: { words: "Package", quantity: "size", fields: [] },
  custom_comments: { words: "Custom Comments", quantity: "comments", fields: ["comments"] },
  custom_comments_package: {
    words: "Custom Comments Package",
    quantity: "size",
    fields: ["comments"],
  },
  seo: { words: "SEO", quantity: "named", fields: ["keywords"] },
  mentions_with_hashtags: {
    words: "Mentions with Hashtags",
    quantity: "named",
    fields: ["usernames", "hashtags"],
  },
  mentions_custom_list: {
    words: "Mentions Custom List",
    quantity: "usernames",
    fields: ["usernames"],
  },
  mentions_hashtag: { words: "Mentions Hashtag", quantity: "named", fields: ["hashtag"] },
  mentions_user_followers: {
    words: "Mentions User Followers",
    quantity: "named",
    fields: ["username"],
  },
  mentions_media_likers: { words: "Mentions Media Likers", quantity: "named", fields: ["media"] },
  comment_likes: { words: "Comment Likes", quantity: "named", fields: ["username"] },
  comment_replies: {
    words: "Comment Replies",
    quantity: "comments",
    fields: ["username", "comments"],
  },
  poll: { words: "Poll", quantity: "named", fields: ["answer_number"] },
  invites_from_groups: { words: "Invites from Groups", quantity: "named", fields: ["groups"] },
  web_traffic: {
    words: "Web Traffic",
    quantity: "named",
    fields: ["country", "device", "type_of_traffic", "google_keyword", "referring_url"],
  },
};

export function typeTerms(type: ServiceType): TypeTerms {
  return TYPES[type];
}

/**
 * Parses a type as providers write it: `Mentions with Hashtags` or `mentions_with_hashtags`; null for any other text.
 */
export function parseServiceType(text: string): ServiceType | null {
  const name = text
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, "_");
  return SERVICE_TYPES.find((type) => type === name) ?? null;
}

/** Returns whether the price is for a whole order, whatever it contains. */
export function isPackage(type: ServiceType): boolean {
  return TYPES[type].quantity === "size";
}

/** Returns the default price unit of a service of this type. */
export function standardUnit(type: ServiceType): "1000" | "order" {
  return isPackage(type) ? "order" : "1000";
}

/** The fields of a service that its type restricts. */
export interface TypedService {
  type: ServiceType;
  /** A PriceUnit. */
  per: string;
  dripfeed: boolean;
}

/**
 * Returns whether the price unit fits the type. Type default also allows a price per order, as before types existed.
 */
export function fitsUnit({ type, per }: Pick<TypedService, "type" | "per">): boolean {
  return type === "default" || isPackage(type) === (per === "order");
}

/** Returns whether the service may have a drip-feed, which repeats a quantity that is charged by units. */
export function mayDripFeed({ type, per }: Pick<TypedService, "type" | "per">): boolean {
  return type === "default" && per !== "order";
}

/** Refuses what the type does not allow. Refuses: service_unit_unfit, service_dripfeed_unfit. */
export function refuseUnfitType(service: TypedService): void {
  const { type } = service;
  if (!fitsUnit(service)) {
    throw new Refusal("service_unit_unfit", { type, per: isPackage(type) ? "order" : "1000 or 1" });
  }
  if (service.dripfeed && !mayDripFeed(service)) throw new Refusal("service_dripfeed_unfit", null);
}
