// The body of a request that sends a form.

import type { IncomingRequest } from "../http1/request.ts";

export class TooLarge extends Error {}
export class Unreadable extends Error {}

/** The fields of a form; of a file its text. */
export async function formOf(request: IncomingRequest): Promise<URLSearchParams> {
  const bytes = await request.body();
  if (bytes === null) throw new TooLarge();
  const values = new URLSearchParams();
  if (bytes.length === 0) return values;
  const headers = { "content-type": request.headers.get("content-type") ?? "" };
  const data = await new Response(bytes as BodyInit, { headers }).formData().catch(() => {
    throw new Unreadable();
  });
  for (const [name, value] of data) {
    values.append(name, typeof value === "string" ? value : await (value as Blob).text());
  }
  return values;
}
