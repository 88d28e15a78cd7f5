// One call to the API of a server, in this process or another.

import { expectDocumented } from "./openapi.ts";

/** A JSON body of unknown shape, for assertions. */
// oxlint-disable-next-line typescript/no-explicit-any -- an answer's shape is what the tests look at
export type Body = any;

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: Body;
}

/** One call to a server's API; the answer must be JSON, and one that the OpenAPI document foresees. */
export async function callApi(
  url: string,
  method: string,
  path: string,
  key?: string | null,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      ...(key ? { "x-api-key": key } : {}),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = {
    status: response.status,
    headers: response.headers,
    text,
    body: text === "" ? null : JSON.parse(text),
  };
  expectDocumented(method, path, answer);
  return answer;
}
