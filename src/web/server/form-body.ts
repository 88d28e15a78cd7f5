// Reads the body of a request that sends a form.

import type { IncomingRequest } from "../../http1/request.ts";

export class TooLarge extends Error {}
export class Unreadable extends Error {}

/** The fields of a form. A file counts as its text, and is also in `files` if it is not empty. */
export interface FormBody {
  values: URLSearchParams;
  files: ReadonlyMap<string, Uint8Array>;
}

/**
 * Returns the fields of a form. A body above the limit is not parsed: parsing 4 MB of fields takes 0.7 s.
 */
export async function formOf(request: IncomingRequest, limitBytes: number): Promise<FormBody> {
  if (Number(request.headers.get("content-length") ?? 0) > limitBytes) throw new TooLarge();
  // Rejects if the request breaks off.
  const bytes = await request.body().catch(() => {
    throw new Unreadable();
  });
  if (bytes === null || bytes.byteLength > limitBytes) throw new TooLarge();
  const values = new URLSearchParams();
  const files = new Map<string, Uint8Array>();
  if (bytes.length === 0) return { values, files };
  const headers = { "content-type": request.headers.get("content-type") ?? "" };
  const data = await new Response(bytes as BodyInit, { headers }).formData().catch(() => {
    throw new Unreadable();
  });
  for (const [name, value] of data) {
    if (typeof value === "string") {
      values.append(name, value);
      continue;
    }
    const file = new Uint8Array(await (value as Blob).arrayBuffer());
    if (file.length > 0) files.set(name, file);
    values.append(name, new TextDecoder().decode(file));
  }
  return { values, files };
}
