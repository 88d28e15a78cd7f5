// What a panel does with a provider: one POST of a form, and its JSON reply, which must be one that the OpenAPI document
// foresees.

import { expectPanelDocumented } from "./openapi.ts";
import type { Body } from "./service.ts";

export interface PanelAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: Body;
}

export async function readAnswer(response: Response): Promise<PanelAnswer> {
  const { status, headers } = response;
  const text = await response.text();
  const answer = { status, headers, text, body: JSON.parse(text) };
  expectPanelDocumented(answer);
  return answer;
}

/** A form, as most clients send it. */
export async function askPanel(url: string, fields: Record<string, string>): Promise<PanelAnswer> {
  const body = new URLSearchParams(fields);
  return readAnswer(await fetch(`${url}/api/v2`, { method: "POST", body, redirect: "error" }));
}

/** `act` with a key. */
export const panelOf =
  (url: string, key: string) =>
  (action: string, fields: Record<string, string> = {}): Promise<PanelAnswer> =>
    askPanel(url, { key, action, ...fields });
