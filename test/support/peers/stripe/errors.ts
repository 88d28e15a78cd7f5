// Errors as Stripe's API answers them: https://docs.stripe.com/api/errors.

export type ErrorType = "api_error" | "card_error" | "idempotency_error" | "invalid_request_error";

export class ApiError extends Error {
  override name = "ApiError";

  constructor(
    readonly status: number,
    readonly type: ErrorType,
    message: string,
    readonly details: { code?: string; param?: string } = {},
  ) {
    super(message);
  }

  body(requestId: string) {
    const { type, message, details } = this;
    const { code } = details;
    const doc = code && {
      doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll("_", "-")}`,
    };
    const request_log_url = `https://dashboard.stripe.com/test/logs/${requestId}`;
    return { error: { ...details, ...doc, message, request_log_url, type } };
  }
}

export function invalid(code: string, message: string, param?: string): ApiError {
  const details = { code, ...(param !== undefined && { param }) };
  return new ApiError(400, "invalid_request_error", message, details);
}

/** The answer for an id that does not exist, or exists in the other mode. */
export function missing(noun: string, id: string, param: string): ApiError {
  const message = `No such ${noun}: '${id}'`;
  return new ApiError(404, "invalid_request_error", message, { code: "resource_missing", param });
}
