// A message as a Request, and what a Request cannot carry: the peer's address, and the body as it arrives.

import type { Message } from "./parser.ts";

/** No route depends on the Host field, and no value of it may change a response. */
const ORIGIN = "http://localhost";
const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

const CONTEXT = Symbol("context");

interface MessageContext {
  message: Message;
  /** The peer's address. */
  address: string;
}

interface RequestWithContext extends Request {
  [CONTEXT]?: MessageContext;
}

/** Null (a 400) without a Host field or with several (RFC 9112, 3.2), and for fields that Headers rejects. */
export function requestOf(message: Message, address: string): Request | null {
  const { method, target, fields, isHttp10 } = message;
  try {
    const url = ORIGIN + pathOf(target);
    const request = method === "GET" ? new Request(url) : new Request(url, { method });
    const { headers } = request;
    let hosts = 0;
    for (let index = 0; index < fields.length; index += 2) {
      const name = fields[index]!;
      if (name.length === 4 && name.toLowerCase() === "host") hosts++;
      headers.append(name, fields[index + 1]!);
    }
    if (hosts > 1 || (hosts === 0 && !isHttp10)) return null;
    return withContext(request, { message, address });
  } catch {
    return null;
  }
}

/** The same request under another URL. */
export function readdressed(request: Request, url: string): Request {
  const context = contextOf(request);
  const other = new Request(url, request);
  return context ? withContext(other, context) : other;
}

/** The peer's address; undefined for a request that came over no connection. */
export function peerAddress(request: Request): string | undefined {
  return contextOf(request)?.address;
}

/** The whole body; null as soon as it exceeds the limit. Rejects when the connection ends before its end. */
export function bodyOf(request: Request): Promise<Uint8Array | null> {
  return contextOf(request)?.message.body() ?? request.bytes();
}

function withContext(request: Request, context: MessageContext): Request {
  (request as RequestWithContext)[CONTEXT] = context;
  return request;
}

function contextOf(request: Request): MessageContext | undefined {
  return (request as RequestWithContext)[CONTEXT];
}

/** The path of an origin-form or absolute-form target. `*` and CONNECT's authority become a path that no route has. */
function pathOf(target: string): string {
  const path = target.startsWith("/") ? target : target.replace(ABSOLUTE, "");
  return path.startsWith("/") ? path : `/${path}`;
}
