// Requests to the API: authentication, version, faults on demand, and the answer.

import type { IncomingMessage, ServerResponse } from "node:http";
import { Stripe } from "stripe";
import type { Account } from "./account.ts";
import { ApiError } from "./errors.ts";
import { parseForm, type Param } from "./form.ts";
import { createOnce } from "./idempotency.ts";
import { newId } from "./objects.ts";
import { answer } from "./routes.ts";

/** What happens to one request instead of the usual answer. */
export type Fault =
  /** Too many requests: nothing was done. */
  | "429"
  /** A restricted key without the permission. */
  | "403"
  /** Failed before anything was done, which is not remembered for the idempotency key. */
  | "500 before"
  /** Failed after the object was written, which is remembered. */
  | "500 after"
  | "503 page"
  /** Another request holds a lock: https://docs.stripe.com/rate-limits#object-lock-timeouts. */
  | "lock_timeout"
  /** No answer, and nothing done. */
  | "no answer before"
  /** No answer, although it was done. */
  | "no answer after"
  | "cut before"
  | "cut after"
  | "cut in answer"
  | "no json"
  | "endless"
  | "redirect"
  /** An error whose message repeats the secret key, which Stripe's do not. */
  | "echo"
  /** A header that makes the package warn on the console. */
  | "notice";

export interface Asked {
  method: string;
  path: string;
  params: Param;
  headers: IncomingMessage["headers"];
  status: number;
}

interface Options {
  account: Account;
  key: string;
  nowMs: () => number;
  origin: () => string;
}

export function createApi({ account, key, nowMs, origin: originNow }: Options) {
  const asked: Asked[] = [];
  const faults: { fault: Fault; path: RegExp; isLasting: boolean }[] = [];
  const held: { path: RegExp; until: Promise<void> }[] = [];
  const once = createOnce(nowMs);

  function authenticate({ authorization = "" }: IncomingMessage["headers"]): void {
    const [, bearer] = /^Bearer (\S+)$/.exec(authorization) ?? [];
    const [, basic] = /^Basic (\S+)$/.exec(authorization) ?? [];
    const given = bearer ?? (basic && Buffer.from(basic, "base64").toString().replace(/:$/, ""));
    if (given === undefined)
      throw new ApiError(
        401,
        "invalid_request_error",
        "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
      );
    if (given === key) return;
    const masked = given.slice(0, 8) + "*".repeat(Math.max(given.length - 12, 0)) + given.slice(-4);
    throw new ApiError(401, "invalid_request_error", `Invalid API Key provided: ${masked}`);
  }

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
  ): Promise<void> {
    const { method = "", headers } = request;
    const origin = originNow();
    const { pathname: path, search } = new URL(request.url ?? "/", origin);
    const requestId = newId("req", 14);
    const entry: Asked = { method, path, params: {}, headers, status: 0 };
    asked.push(entry);
    const met = faults.find((each) => each.path.test(`${method} ${path}`));
    if (met && !met.isLasting) faults.splice(faults.indexOf(met), 1);
    const fault = met?.fault ?? null;
    const send = (status: number, text: string, more: Record<string, string> = {}) => {
      entry.status = status;
      response.writeHead(status, {
        "content-type": "application/json",
        "request-id": requestId,
        "stripe-version": Stripe.API_VERSION,
        ...more,
      });
      response.end(text);
    };
    const sendError = (error: ApiError) =>
      send(error.status, JSON.stringify(error.body(requestId), null, 2));
    const cut = () => void request.socket.destroy();
    try {
      authenticate(headers);
      if (headers["stripe-version"] !== Stripe.API_VERSION)
        throw new ApiError(
          400,
          "invalid_request_error",
          `Invalid Stripe API version: ${String(headers["stripe-version"])}`,
        );
      if (fault === "429")
        throw new ApiError(429, "invalid_request_error", "Request rate limit exceeded.", {
          code: "rate_limit",
        });
      if (fault === "403")
        throw new ApiError(
          403,
          "invalid_request_error",
          `The provided key '${key.slice(0, 8)}***' does not have the required permissions for this endpoint.`,
        );
      if (fault === "no answer before") return;
      if (fault === "cut before") return cut();
      if (fault === "503 page")
        return send(503, "<html><h1>Service unavailable</h1></html>", {
          "content-type": "text/html",
        });
      if (fault === "no json") return send(200, '{"id": "cs_test_');
      if (fault === "endless") return send(200, JSON.stringify({ id: "x".repeat(3_000_000) }));
      if (fault === "redirect") return send(302, "", { location: `${origin}/elsewhere` });
      if (fault === "echo")
        throw new ApiError(400, "invalid_request_error", `Not understood: ${key} ${key}`);
      if (fault === "500 before") throw new ApiError(500, "api_error", "An unknown error occurred");
      if (fault === "lock_timeout")
        throw new ApiError(
          429,
          "invalid_request_error",
          "This object cannot be accessed right now because another API request or Stripe process is currently accessing it.",
          { code: "lock_timeout" },
        );
      if (
        method === "POST" &&
        !/^application\/x-www-form-urlencoded\b/.test(headers["content-type"] ?? "")
      )
        throw new ApiError(
          400,
          "invalid_request_error",
          "Invalid request (check that your POST content type is application/x-www-form-urlencoded).",
        );
      entry.params = parseForm(method === "GET" ? search.slice(1) : body);
      const idempotencyKey = method === "POST" ? headers["idempotency-key"]?.toString() : undefined;
      const reply = await once(
        idempotencyKey,
        `${method} ${path} ${JSON.stringify(entry.params)}`,
        async () => {
          for (const hold of held) if (hold.path.test(`${method} ${path}`)) await hold.until;
          try {
            const found = answer(account, {
              method,
              path,
              params: entry.params,
              now: Math.floor(nowMs() / 1000),
              origin,
            });
            if (fault === "500 after") {
              const failed = new ApiError(500, "api_error", "An unknown error occurred");
              return {
                status: 500,
                text: JSON.stringify(failed.body(requestId)),
                isExecuted: true,
              };
            }
            return { status: 200, text: JSON.stringify(found, null, 2), isExecuted: true };
          } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            return {
              status: error.status,
              text: JSON.stringify(error.body(requestId)),
              isExecuted: false,
            };
          }
        },
      );
      if (fault === "no answer after") return;
      if (fault === "cut after") return cut();
      if (fault === "cut in answer") {
        entry.status = reply.status;
        response.writeHead(reply.status, {
          "content-type": "application/json",
          "content-length": String(reply.text.length),
        });
        response.write(reply.text.slice(0, 20), cut);
        return;
      }
      const more = {
        ...(reply.isReplay && { "idempotent-replayed": "true" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
        ...(fault === "notice" && { "stripe-notice": "a notice for developers" }),
      };
      send(reply.status, reply.text, more);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      sendError(error);
    }
  }

  return {
    asked,
    handle,
    /** Makes the next requests that match fail, such as /POST .*sessions$/. */
    fail(path: RegExp, ...kinds: Fault[]): void {
      faults.push(...kinds.map((fault) => ({ fault, path, isLasting: false })));
    },
    /** Makes all requests that match fail, until `mend`. */
    failAll: (path: RegExp, fault: Fault) => void faults.push({ fault, path, isLasting: true }),
    mend: () => void faults.splice(0),
    /** Holds requests that match, once their key is taken. Returns what lets them go on. */
    hold(path: RegExp): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      const hold = { path, until: promise };
      held.push(hold);
      return () => {
        held.splice(held.indexOf(hold), 1);
        resolve();
      };
    },
  };
}
