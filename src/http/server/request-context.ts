// One request: its id, its key, its response, and what the log and the metrics record of it. Both forms of the API use
// it: endpoint.ts, and http/smm-api/endpoint.ts.

import type { Network } from "../../config/networks.ts";
import { TransientError } from "../../db/port/port.ts";
import { IMPORTED_KEY_LEAST } from "../../domain/users/imported-keys.ts";
import { looksLikeTestKey, maskKeys } from "../../domain/users/keys.ts";
import { REQUEST_ID_PATTERN } from "../../domain/values/limits.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import type { RateExceeded } from "../../domain/values/request-refusals.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { NO_RESPONSE, type ResponseTemplate, type TextResponse } from "../../http1/response.ts";
import type { Logger } from "../../monitoring/log.ts";
import type { Observer } from "../../monitoring/observer.ts";
import type { RequestLog } from "../../monitoring/request-line.ts";
import type { AuthDeps, AuthRequest } from "./auth.ts";
import type { Allowance } from "./rate-limits.ts";
import { clientAddress, FORWARDED_HEADER } from "./client-address.ts";
import { type ErrorResponse, errorResponseOf, INTERNAL } from "./errors.ts";

/** Dependencies of every endpoint. Each handler declares more of its own. */
export interface EndpointDeps extends AuthDeps, InternalErrorDeps {
  log: Logger;
  observer: Observer;
  /** The proxies whose X-Forwarded-For is trusted. */
  trustedProxy: readonly Network[];
  /** Counts a request with a known key. `isError`: it got an error. */
  countKeyRequest(keyId: string, isError: boolean): void;
  /** Called for a request with X-Forwarded-For whose client's address is needed, if no proxy is trusted. */
  noteUntrustedProxy(): void;
  /** The share of successful reads that is logged, 0 to 1. */
  logReads: number;
  /** Makes responses with the headers that all of them have; see response-template.ts. */
  template: ResponseTemplate;
}

export interface InternalErrorDeps {
  log: Pick<Logger, "error">;
  /** Called with every error that is not a refusal: a fatal database error ends the server. */
  onInternalError(error: unknown): void;
}

/** The members of a request that its response and its log line need. */
export type RequestHead = Pick<IncomingRequest, "sentMethod" | "headers" | "address">;

/** Marks every response to a test key. */
export const TEST_MODE = "x-test-mode";
/** Status in the log and the metrics for a response that was not sent, as in other servers. */
const CLOSED = 444;
const REQUEST_ID = new RegExp(REQUEST_ID_PATTERN);

/** One request and what its log line needs. */
export class RequestContext implements AuthRequest {
  readonly started = performance.now();
  readonly requestId: string;
  /** The request id with keys of our form masked: a caller may have put one there. */
  readonly #maskedId: string;
  readonly #hasGivenId: boolean;
  keyId: string | null = null;
  username: string | null = null;
  isTest = false;
  keyText: string | null = null;
  allowance: Allowance | null = null;
  /** Whether the request writes nothing. If it fails, a later try may succeed. */
  isRead: boolean;
  /** The code of a refusal or of an internal error. */
  code: string | null = null;

  constructor(
    readonly deps: EndpointDeps,
    readonly request: RequestHead,
    /** The route's pattern, never the requested path; null if no route matches. */
    public route: string | null,
    public log: RequestLog = deps.log.requests(request.sentMethod, route),
  ) {
    this.isRead = request.sentMethod === "GET";
    const given = request.headers.get("x-request-id");
    const isGiven = given !== null && REQUEST_ID.test(given);
    this.requestId = isGiven ? given : crypto.randomUUID();
    this.#hasGivenId = isGiven;
    this.#maskedId = isGiven ? maskKeys(given) : this.requestId;
  }

  /** The request id for the log, without the key of the request: an imported key may have any form. */
  get loggedId(): string {
    const { keyText } = this;
    const mayHold = this.#hasGivenId && keyText !== null && keyText.length >= IMPORTED_KEY_LEAST;
    return mayHold ? this.#maskedId.replaceAll(keyText, "***") : this.#maskedId;
  }

  /** Returns whether the response goes to a test key. If no key was found, the text of the sent key decides. */
  isInTestMode(): boolean {
    if (this.keyId !== null) return this.isTest;
    const text = this.keyText ?? this.request.headers.get("x-api-key");
    return text !== null && looksLikeTestKey(text);
  }

  address(): string {
    const { deps, request } = this;
    const forwarded = request.headers.get(FORWARDED_HEADER);
    if (forwarded !== null && deps.trustedProxy.length === 0) deps.noteUntrustedProxy();
    return clientAddress(request.address, forwarded, deps.trustedProxy);
  }

  noteUnknownKey(mistyped: boolean): void {
    // deploy/fail2ban/filter.d/reseller.conf reads this line.
    const fields = { requestId: this.loggedId, mistyped, address: this.address() };
    this.deps.log.info(fields, "unknown key");
  }
}

/** Returns the response to a thrown error. Counts a refusal, logs anything else. */
export function errorResponseFor(context: RequestContext, thrown: unknown): ErrorResponse {
  const { deps, loggedId: requestId } = context;
  const error = unavailableFor(context, thrown) ?? thrown;
  const response = error instanceof Refusal ? errorResponseOf(error) : undefined;
  if (error instanceof Refusal && response) {
    if (!context.isInTestMode()) noteRefusal(deps, error);
    return response;
  }
  noteInternalError(deps, requestId, error);
  return INTERNAL;
}

function noteRefusal({ observer }: EndpointDeps, { code, details }: Refusal): void {
  observer.refusal(code);
  if (code === "too_many_requests") observer.rateLimited((details as RateExceeded).by);
}

/**
 * Returns the refusal for a read that failed and may succeed later; null for a request that may have written something.
 */
function unavailableFor(context: RequestContext, error: unknown): Refusal | null {
  const { deps, isRead, loggedId: requestId, keyId } = context;
  if (!(error instanceof TransientError)) return null;
  if (!isRead && keyId !== null) return null;
  deps.log.warn({ requestId, error: errorText(error) }, "the database cannot be read");
  return refusal("service_unavailable");
}

/** Logs an error that is not a refusal, even if the response has already begun. */
export function noteInternalError(
  deps: InternalErrorDeps,
  requestId: string,
  error: unknown,
): void {
  deps.log.error({ requestId: maskKeys(requestId), error: errorText(error) }, "internal error");
  deps.onInternalError(error);
}

function errorText(error: unknown): string {
  return maskKeys(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

export function write(
  context: RequestContext,
  status: number,
  body: string,
  headers?: Record<string, string>,
): TextResponse {
  const { deps, requestId } = context;
  recordRequest(context, status);
  const fields: Record<string, string> = { "x-request-id": requestId, ...headers };
  if (context.isInTestMode()) fields[TEST_MODE] = "true";
  // A refusal by a limit has its own RateLimit, which replaces that of the allowance.
  const lines = context.allowance?.lines(fields["ratelimit"] === undefined);
  return deps.template.make(status, body, fields, lines);
}

/** Closes the connection instead of sending a response. */
export function closeUnanswered(context: RequestContext): TextResponse {
  recordRequest(context, CLOSED);
  return NO_RESPONSE;
}

export function recordRequest(context: RequestContext, status: number): void {
  const { deps, route, loggedId: requestId, started, keyId, username, code } = context;
  const { sentMethod: method } = context.request;
  const elapsed = performance.now() - started;
  if (keyId !== null) deps.countKeyRequest(keyId, code !== null);
  if (context.isInTestMode()) deps.observer.testRequest(status);
  else deps.observer.request(method, route, status, elapsed / 1000);
  if (!isLogged(context, status)) return;
  const milliseconds = Math.round(elapsed * 1000) / 1000;
  const address = code === null ? null : callerAddress(context, code);
  context.log({ requestId, keyId, username, status, code, address, milliseconds });
}

/** Returns the refused caller's address if no key identifies it, or if the address is the reason; else null. */
function callerAddress(context: RequestContext, code: string): string | null {
  const isAnonymous = context.keyId === null || code === "api_key_address_refused";
  return isAnonymous ? context.address() : null;
}

/** Returns whether a request is logged. Of successful reads, only the share in --log-reads is. */
function isLogged({ deps, isRead, code }: RequestContext, status: number): boolean {
  const { logReads } = deps;
  return logReads === 1 || !isRead || status !== 200 || code !== null || Math.random() < logReads;
}
