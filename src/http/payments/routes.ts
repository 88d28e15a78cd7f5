// Notices of payment methods. They need no key: the method verifies them. docs/specification/payments.md#payment-callback.

import type { ErrorResponse } from "../server/errors.ts";
import { errorBody, methodNotAllowed } from "../server/errors.ts";
import { FORWARDED_HEADER } from "../server/client-address.ts";
import type { NoticeLimits } from "./notice-limits.ts";
import { announcesTooMuch, refuseBroken } from "../read/body.ts";
import {
  type EndpointDeps,
  errorResponseFor,
  RequestContext,
  write,
} from "../server/request-context.ts";
import type { RouteContext } from "../server/router.ts";
import type { MountedRoute } from "../server/server.ts";
import type { RequestHeaders } from "../../http1/request.ts";
import type { TextResponse } from "../../http1/response.ts";
import { refusal } from "../../domain/values/error-table.ts";

/** The route as the log and the metrics name it. */
export const NOTICE_ROUTE = "/payments/:kind/:method";

/** What came of a notice: see payments/payments.ts. */
export type NoticeOutcome =
  "recorded" | "ignored" | "refused" | "wrong" | "absent" | "unknown" | "conflict" | "unavailable";

export interface NoticeDeps extends EndpointDeps {
  receiveNotice(
    kind: string,
    methodId: string,
    notice: { body: Uint8Array; headers: Pick<RequestHeaders, "get">; now: number },
  ): Promise<NoticeOutcome>;
  noticeLimits: NoticeLimits;
  now: () => number;
}

const RESPONSES: Record<Exclude<NoticeOutcome, "recorded" | "ignored">, ErrorResponse> = {
  refused: { status: 401, code: "notice_refused", message: "The signature is not valid" },
  wrong: { status: 422, code: "notice_wrong", message: "The notice cannot be read" },
  absent: { status: 404, code: "not_found", message: "Not found" },
  unknown: { status: 404, code: "not_found", message: "Not found" },
  conflict: {
    status: 409,
    code: "notice_conflict",
    message: "The payment was paid under another id, or the id belongs to another payment",
  },
  unavailable: {
    status: 503,
    code: "service_unavailable",
    message: "Nothing was recorded; send it again",
    headers: { "retry-after": "60" },
  },
};

/** Outcomes of notices that are not signed for a method. */
const FORGED: ReadonlySet<NoticeOutcome> = new Set(["refused", "absent"]);

function tooMany(seconds: number): ErrorResponse {
  const message = "Too many notices from this address were refused";
  const headers = { "retry-after": String(seconds) };
  return { status: 429, code: "too_many_notices", message, headers };
}

export function noticeRoutes(deps: NoticeDeps): MountedRoute[] {
  const log = deps.log.requests("POST", NOTICE_ROUTE);
  const handle = async ({ request, params }: RouteContext): Promise<TextResponse> => {
    const context = new RequestContext(deps, request, NOTICE_ROUTE, log);
    const limits = deps.noticeLimits;
    try {
      const address = context.address();
      // Without a trusted proxy, the address may be one that all share.
      const isForwarded = request.headers.get(FORWARDED_HEADER) !== null;
      const isShared = isForwarded && deps.trustedProxy.length === 0;
      const wait = limits.waitOf(address, isShared);
      if (wait > 0) return fail(context, tooMany(wait));
      const body = announcesTooMuch(request) ? null : await request.body().catch(refuseBroken);
      if (!body) throw refusal("body_too_large");
      const notice = { body, headers: request.headers, now: deps.now() };
      const outcome = await deps.receiveNotice(params["kind"]!, params["method"]!, notice);
      if (FORGED.has(outcome)) {
        const seconds = limits.noteForged(address);
        if (seconds > 0) return fail(context, tooMany(seconds));
      } else limits.noteGenuine(address);
      if (outcome === "recorded" || outcome === "ignored") {
        return write(context, 200, JSON.stringify({ status: "ok" }));
      }
      return fail(context, RESPONSES[outcome]);
    } catch (error) {
      return fail(context, errorResponseFor(context, error));
    }
  };
  const refuseMethod = ({ request }: RouteContext) =>
    fail(new RequestContext(deps, request, NOTICE_ROUTE), methodNotAllowed("POST"));
  return [{ method: "POST", path: NOTICE_ROUTE, handle, refuseMethod }];
}

function fail(context: RequestContext, response: ErrorResponse): TextResponse {
  context.code = response.code;
  const body = errorBody(response, context.requestId);
  const unread = announcesTooMuch(context.request);
  const { status, headers } = response;
  return write(context, status, body, unread ? { ...headers, connection: "close" } : headers);
}
