// Services of every type in the simulated market, and random orders of them: the fields of the request, the
// quantity that they count as, and the fields that the provider must receive. Shares no table with the service.

import type { Chance } from "./world.ts";

/** The fields besides the link: `lines` are counted where the type has no quantity. */
interface Shape {
  fields: Record<string, "lines" | "text" | "number">;
  counts: "quantity" | "package" | { lines: string };
}

const named = (fields: Shape["fields"]): Shape => ({ fields, counts: "quantity" });

const SHAPES = {
  default: named({}),
  package: { fields: {}, counts: "package" },
  custom_comments: { fields: { comments: "lines" }, counts: { lines: "comments" } },
  custom_comments_package: { fields: { comments: "lines" }, counts: "package" },
  seo: named({ keywords: "lines" }),
  mentions_with_hashtags: named({ usernames: "lines", hashtags: "lines" }),
  mentions_custom_list: { fields: { usernames: "lines" }, counts: { lines: "usernames" } },
  mentions_hashtag: named({ hashtag: "text" }),
  mentions_user_followers: named({ username: "text" }),
  mentions_media_likers: named({ media: "text" }),
  comment_likes: named({ username: "text" }),
  comment_replies: {
    fields: { username: "text", comments: "lines" },
    counts: { lines: "comments" },
  },
  poll: named({ answer_number: "number" }),
  invites_from_groups: named({ groups: "lines" }),
  web_traffic: named({
    country: "text",
    device: "text",
    type_of_traffic: "text",
    google_keyword: "text",
    referring_url: "text",
  }),
} satisfies Record<string, Shape>;

export type SimulatedType = keyof typeof SHAPES;

export interface SoldAs {
  type: SimulatedType;
  dripfeed: boolean;
}

const FED = {
  id: "fed",
  priceMicros: 999_983,
  per: "1" as const,
  routes: ["a:1"],
  type: "default" as const,
  dripfeed: true,
};
/** How often an order of a typed market is one of FED. */
const FED_SHARE = 0.25;

/** A service of each type, and one with a drip-feed: with prices that do not divide evenly. */
export const TYPED_SERVICES = [
  FED,
  ...(Object.keys(SHAPES) as SimulatedType[]).map((type, at) => ({
    id: `typed-${type}`,
    priceMicros: 1_234_567 + at * 77_773,
    per: SHAPES[type].counts === "package" ? ("order" as const) : ("1000" as const),
    routes: [at % 3 === 0 ? "a:1" : "b:1"],
    type,
    dripfeed: false,
  })),
];

export function pickTyped(chance: Chance) {
  return chance.happens(FED_SHARE) ? FED : chance.pick(TYPED_SERVICES);
}

export interface TypedOrder {
  /** The fields of the request. */
  request: { quantity: number | null; given?: Record<string, string | number> };
  /** What is charged, and what remains at first. */
  units: number;
  /** What its provider must be sent besides service and link. */
  form: Record<string, string>;
}

export function typedOrder(chance: Chance, { type, dripfeed }: SoldAs): TypedOrder {
  const { fields, counts }: Shape = SHAPES[type];
  const given: Record<string, string | number> = {};
  const form: Record<string, string> = {};
  let counted = 0;
  for (const [name, kind] of Object.entries(fields)) {
    const lines = chance.whole(1, 40);
    const value = kind === "number" ? chance.whole(1, 9) : textOf(chance, kind, lines);
    given[name] = value;
    form[name] = clean(value);
    if (typeof counts === "object" && counts.lines === name) counted = lines;
  }
  const quantity = chance.whole(1, 3000);
  if (counts === "quantity") form["quantity"] = String(quantity);
  const runs = dripfeed && chance.happens(0.7) ? chance.whole(1, 9) : 0;
  if (runs > 0) {
    const interval = chance.whole(1, 1440);
    Object.assign(given, { runs, interval });
    Object.assign(form, { runs: String(runs), interval: String(interval) });
  }
  const single = counts === "quantity" ? quantity : counts === "package" ? 1 : counted;
  const request = { quantity: counts === "quantity" ? quantity : null };
  return {
    request: Object.keys(given).length === 0 ? request : { ...request, given },
    units: single * Math.max(1, runs),
    form,
  };
}

function textOf(chance: Chance, kind: "lines" | "text", lines: number): string {
  if (kind === "text") return chance.pick(["1", "x y", " https://example.com/?a=b&c ", "ü💬"]);
  const breaks = () => chance.pick(["\n", "\r\n", "\r", "\n \n", "\n\n"]);
  return Array.from({ length: lines }, (_, at) => ` line ${at}${breaks()}`).join("");
}

/** Trimmed, without empty lines. */
function clean(value: string | number): string {
  const lines = String(value).split(/[\r\n]+/);
  return lines
    .map((line) => line.trim())
    .filter(Boolean)
    .join("\n");
}
