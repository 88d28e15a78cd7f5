// A message as a Request, and what a Request does not hold: where it came from, and its body as it arrives.

import type { Message } from "./parser.ts";

/** The Host field is of no concern to any route, and one of any form must change no response. */
const ORIGIN = "http://localhost";
const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

const ARRIVAL = Symbol("arrival");

interface RouteContext {
  message: Message;
  /** Where the connection comes from. */
  address: string;
}

interface ArrivedRequest extends Request {
  [ARRIVAL]?: RouteContext;
}

/** Null when it names no host or several, or what Headers do not take: RFC 9112, 3.2 has these refused. */
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
    return originalRequests(request, { message, address });
  } catch {
    return null;
  }
}

/** The same request under another address. */
export function readdressed(request: Request, url: string): Request {
  const arrival = arrivalOf(request);
  const other = new Request(url, request);
  return arrival ? originalRequests(other, arrival) : other;
}

/** The peer's address; undefined for a request that came over no connection. */
export function peerAddress(request: Request): string | undefined {
  return arrivalOf(request)?.address;
}

/** All of the body; null as soon as it is longer than the limit. Rejects when it breaks off. */
export function bodyOf(request: Request): Promise<Uint8Array | null> {
  return arrivalOf(request)?.message.body() ?? request.bytes();
}

function originalRequests(request: Request, arrival: RouteContext): Request {
  (request as ArrivedRequest)[ARRIVAL] = arrival;
  return request;
}

function arrivalOf(request: Request): RouteContext | undefined {
  return (request as ArrivedRequest)[ARRIVAL];
}

/** Of an origin, an absolute form, or what neither is: `*` and the authority of CONNECT are no path of ours. */
function pathOf(target: string): string {
  const path = target.startsWith("/") ? target : target.replace(ABSOLUTE, "");
  return path.startsWith("/") ? path : `/${path}`;
}
