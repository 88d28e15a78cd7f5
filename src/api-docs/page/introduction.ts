// The introduction of the OpenAPI document.

export const INTRODUCTION = `Order catalogue services, follow the orders, read the balance and the statement, look up users and add credit.

- Every call carries the header \`x-api-key\`. Bodies and answers are JSON; a success is always a 200.
- Amounts are numbers in USD with at most six decimals, exact to the last. Times are ISO 8601 in UTC.
- Every answer carries \`x-request-id\`. An error also has a stable \`code\` for programs.
- \`POST\` calls take an \`Idempotency-Key\`: a request sent again with the same \`Idempotency-Key\` has one effect and one answer.
- A 429 or a 503 means that nothing was changed: wait for \`Retry-After\` seconds and try again.
- \`RateLimit-Policy\` lists the limits that apply to your key: \`requests\`, which also limits bursts, and for your account \`orders-per-minute\`, \`spend-per-day\` and \`spend-per-month\` (UTC, in millionths of a dollar, less refunds) and \`open-orders\`. \`RateLimit\` says what is left of your requests. A refusal by a limit names it in \`limit\`.
- Anything that is not a JSON answer of this API, such as a proxy's 502, counts as no answer: send the request again with the same \`Idempotency-Key\`.
- A key that begins with \`rk_test_\` is a test key: the same calls with test money, and nothing is delivered.`;
