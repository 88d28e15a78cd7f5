// What a panel does with a provider: one POST of a form, and its JSON reply, which must be one that the OpenAPI document
// foresees.

import { expectSmmApiDocumented } from "./openapi.ts";
import type { Body } from "./api.ts";

export interface SmmAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: Body;
}

export async function readAnswer(response: Response): Promise<SmmAnswer> {
  const { status, headers } = response;
  const text = await response.text();
  const answer = { status, headers, text, body: JSON.parse(text) };
  expectSmmApiDocumented(answer);
  return answer;
}

/** A form, as most clients send it. */
export async function askSmmApi(url: string, fields: Record<string, string>): Promise<SmmAnswer> {
  const body = new URLSearchParams(fields);
  return readAnswer(await fetch(`${url}/api/v2`, { method: "POST", body, redirect: "error" }));
}

/** `act` with a key. */
export const smmClientOf =
  (url: string, key: string) =>
  (action: string, fields: Record<string, string> = {}): Promise<SmmAnswer> =>
    askSmmApi(url, { key, action, ...fields });
