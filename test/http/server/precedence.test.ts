// docs/specification/http.md#precedence: of two errors in a request the earlier one decides the response. Every pair is tried, not only neighbours.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BODY_LIMIT_BYTES } from "../../../src/domain/values/limits.ts";
import type { KeyType } from "../../../src/domain/users/keys.ts";
import { fill, type Market, seedMarket } from "../../support/seeds/market.ts";
import { openService } from "../../support/worlds/service.ts";

let market: Market;
beforeAll(async () => {
  market = seedMarket(await openService());
});
afterAll(() => market.stop());

interface Draft {
  method: string;
  path: string;
  key: "none" | "unknown" | "known";
  active: boolean;
  type: KeyType;
  contentType: string;
  /** Sent instead of the fields. */
  text: string | null;
  padded: boolean;
  fields: Record<string, unknown>;
}

interface Fault {
  /** Faults of one rank are never sent together: they are one step of docs/specification/http.md#precedence. */
  rank: number;
  name: string;
  answer: [status: number, message: string];
  apply(draft: Draft): void;
}

const fault = (
  rank: number,
  name: string,
  status: number,
  message: string,
  apply: Fault["apply"],
): Fault => ({ rank, name, answer: [status, message], apply });

const setField = (field: string, value: unknown) => (draft: Draft) => {
  draft.fields[field] = value;
};

/** What every endpoint checks first; `wrongType` is a type of key that lacks the permission. */
const requestFaults = (permission: string, wrongType: KeyType, wrongMethod: string): Fault[] => [
  fault(1, "no such path", 404, "Not found", (draft) => void (draft.path = "/nowhere")),
  fault(1, "wrong method", 405, "Method not allowed", (draft) => void (draft.method = wrongMethod)),
  fault(2, "no key", 401, "X-API-Key header is required", (draft) => void (draft.key = "none")),
  fault(2, "unknown key", 401, "Invalid API key", (draft) => void (draft.key = "unknown")),
  fault(3, "inactive key", 403, "API key is inactive", (draft) => void (draft.active = false)),
  fault(4, "wrong type of key", 403, `This API key does not have ${permission} permission`, (d) => {
    d.type = wrongType;
  }),
];

const BODY_FAULTS: Fault[] = [
  fault(5, "too large", 413, "Request body too large", (draft) => void (draft.padded = true)),
  fault(5, "not sent as JSON", 415, "Content-Type must be application/json", (draft) => {
    draft.contentType = "text/plain";
  }),
  fault(6, "not JSON", 400, "Request body must be valid JSON", (draft) => void (draft.text = "{")),
  fault(6, "no object", 400, "Request body must be a JSON object", (d) => void (d.text = "[]")),
];

const LINK_FORM = "link must be 1 to 2048 characters without control characters";
const USERNAME_FORM = "username must be 1 to 64 of letters, digits and . _ - @ +";

const ORDER_FAULTS: Fault[] = [
  ...requestFaults("order", "recharge", "PUT"),
  ...BODY_FAULTS,
  fault(7, "no service", 400, "service is required", setField("service", null)),
  fault(7, "bad service", 400, "service must be a non-empty string", setField("service", "")),
  fault(8, "no link", 400, "link is required", setField("link", undefined)),
  fault(8, "bad link", 400, LINK_FORM, setField("link", "\n")),
  fault(9, "no quantity", 400, "quantity is required", setField("quantity", null)),
  fault(9, "bad quantity", 400, "quantity must be a whole number", setField("quantity", 0.5)),
  fault(10, "unknown service", 400, "Service not found", setField("service", "nothing")),
  fault(11, "below min", 400, "Minimum order is 10", setField("quantity", 9)),
  fault(11, "above max", 400, "Maximum order is 10000", setField("quantity", 10_001)),
  fault(12, "too little balance", 400, "Insufficient balance", (draft) => {
    if (draft.fields["service"] === market.serviceId) draft.fields["service"] = costly;
  }),
];

const RECHARGE_FAULTS: Fault[] = [
  ...requestFaults("recharge", "order", "GET"),
  ...BODY_FAULTS,
  fault(7, "no username", 400, "username is required", setField("username", undefined)),
  fault(7, "bad username", 400, USERNAME_FORM, setField("username", "a b")),
  fault(8, "no amount", 400, "amount is required", setField("amount", null)),
  fault(8, "bad amount", 400, "amount must be a positive number", setField("amount", "1")),
  fault(9, "unknown user", 404, "User not found", setField("username", "nobody")),
  fault(10, "out of reach", 403, "This API key may not access this user", (draft) => {
    draft.fields["username"] = "rich";
  }),
  fault(
    11,
    "balance too large",
    400,
    "amount must be small enough to keep the balance at or below 9000000000",
    (draft) => {
      if (draft.fields["username"] === "cleo") draft.fields["username"] = "richchild";
    },
  ),
];

const LOOKUP_FAULTS: Fault[] = [
  ...requestFaults("user lookup", "order", "POST"),
  fault(7, "no username", 400, "username is required", setField("username", undefined)),
  fault(7, "bad username", 400, USERNAME_FORM, setField("username", "a!")),
  fault(9, "unknown user", 404, "User not found", setField("username", "nobody")),
  fault(10, "out of reach", 403, "This API key may not access this user", (draft) => {
    draft.fields["username"] = "anna";
  }),
];

let costly: string;
const keys = new Map<string, string>();

beforeAll(() => {
  costly = market.service({ name: "Costly", price: "11", per: "1" });
  market.user("richchild", undefined, "anna");
  fill(market, "richchild");
  for (const type of ["order", "recharge", "full"] as const) {
    for (const active of [true, false]) {
      const { id, text } = market.key("anna", type, "children");
      market.run("setKeyActive", { id, active });
      keys.set(`${type} ${active}`, text);
    }
  }
});

async function send(draft: Draft): Promise<[status: number, message: string]> {
  const { key, type, active, method } = draft;
  const text =
    (draft.text ?? JSON.stringify(draft.fields)) +
    (draft.padded ? " ".repeat(BODY_LIMIT_BYTES) : "");
  const hasBody = method !== "GET";
  const username = draft.fields["username"] as string | undefined;
  const query = draft.path.startsWith("/user") && username ? `?username=${username}` : "";
  const answer = await market.call(
    method,
    draft.path + query,
    { none: null, unknown: "rk_nobody", known: keys.get(`${type} ${active}`)! }[key],
    hasBody ? text : undefined,
    hasBody ? { "content-type": draft.contentType } : {},
  );
  return [answer.status, answer.body.message];
}

const drafts: Record<string, () => Draft> = {
  "POST /orders": () => ({
    ...draft("POST", "/orders"),
    fields: { service: market.serviceId, link: "x", quantity: 10 },
  }),
  "POST /recharge": () => ({
    ...draft("POST", "/recharge"),
    fields: { username: "cleo", amount: 0.000001 },
  }),
  "GET /user": () => ({ ...draft("GET", "/user"), fields: { username: "cleo" } }),
};

const draft = (method: string, path: string): Draft => ({
  method,
  path,
  key: "known",
  active: true,
  type: "full",
  contentType: "application/json",
  text: null,
  padded: false,
  fields: {},
});

describe.each([
  ["POST /orders", ORDER_FAULTS],
  ["POST /recharge", RECHARGE_FAULTS],
  ["GET /user", LOOKUP_FAULTS],
])("%s", (endpoint, faults) => {
  test("is a 200 without an error", async () => {
    expect((await send(drafts[endpoint]!()))[0]).toBe(200);
  });

  test.each(faults.map((earlier) => [earlier.name, earlier] as const))(
    "%s comes before everything ranked after it",
    async (_name, earlier) => {
      const before = market.fingerprint();
      for (const later of [undefined, ...faults.filter(({ rank }) => rank > earlier.rank)]) {
        const both = drafts[endpoint]!();
        later?.apply(both);
        earlier.apply(both);
        expect([later?.name, ...(await send(both))]).toEqual([later?.name, ...earlier.answer]);
      }
      expect(market.fingerprint()).toBe(before);
    },
  );
});
