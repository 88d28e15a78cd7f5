// From the bytes of a connection to its requests. llhttp, Node's HTTP parser, frames them: it ignores empty lines
// before a request line, accepts trailers and refuses ambiguous framing (RFC 9112, request smuggling).

import { HTTPParser, methods } from "node:_http_common";

/** Maximum of a request line with its header fields. */
export const HEAD_LIMIT_BYTES = 16 * 1024;
/** Maximum length of an unknown method; a longer one is malformed. */
const METHOD_LIMIT = 32;
/** The method of a request whose method llhttp does not know: no text of a client's choice is logged or counted. */
export const UNKNOWN_METHOD = "UNKNOWN";
/** What llhttp parses in its place. */
const SUBSTITUTE_METHOD = "TRACE";

const METHODS = new Set(methods);
/** Maximum of the last line of an incomplete header that is kept to be parsed again. */
const LINE_LIMIT = 2048;

const NOT_LENIENT = 0;
const TOKEN_CHARACTER = /[!#$%&'*+\-.^_`|~0-9A-Za-z]/;
const LINE_START = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}(?: |$)/;
const REQUEST_LINE = /^([^ ]+) ([^ ]+) (HTTP\/\d\.\d\r)$/;

/** The response status for bytes that are not a valid request. */
export type Malformed = 400 | 431 | 505;

/** A request whose header is complete and whose body may still be arriving. */
export class Message {
  isComplete = false;
  /** Its response has begun. */
  hasResponse = false;
  #chunks: Uint8Array[] = [];
  #length = 0;
  #body: PromiseWithResolvers<Uint8Array | null> | undefined;
  /** Called when a handler waits for the body. */
  onAwaited: (() => void) | undefined;

  constructor(
    readonly method: string,
    readonly target: string,
    /** Name, value, name, value. */
    readonly fields: readonly string[],
    /** The connection closes after its response. */
    readonly isLast: boolean,
    readonly isHttp10: boolean,
    readonly bodyLimitBytes: number,
  ) {}

  /** A field's value by its name in lower case; the values of a repeated field are joined (RFC 9110, 5.3). */
  get(name: string): string | null {
    const { fields } = this;
    let found: string | null = null;
    for (let index = 0; index < fields.length; index += 2) {
      const field = fields[index]!;
      if (field.length !== name.length || field.toLowerCase() !== name) continue;
      const value = fields[index + 1]!;
      found = found === null ? value : `${found}, ${value}`;
    }
    return found;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  get isTooLong(): boolean {
    return this.#length > this.bodyLimitBytes;
  }

  get isAwaited(): boolean {
    return this.#body !== undefined;
  }

  /** Resolves with the whole body, or null as soon as it exceeds the limit. Rejects when the connection ends first. */
  body(): Promise<Uint8Array | null> {
    if (!this.#body) {
      this.#body = Promise.withResolvers();
      if (this.isTooLong) this.#body.resolve(null);
      else if (this.isComplete) this.#body.resolve(this.#bytes());
      else this.onAwaited?.();
    }
    return this.#body.promise;
  }

  add(chunk: Uint8Array): void {
    this.#length += chunk.byteLength;
    if (this.isTooLong) {
      this.#chunks = [];
      this.#body?.resolve(null);
    } else if (!this.hasResponse) this.#chunks.push(chunk);
  }

  complete(): void {
    this.isComplete = true;
    if (!this.isTooLong) this.#body?.resolve(this.#bytes());
  }

  breakOff(): void {
    this.#body ??= Promise.withResolvers();
    // No handler may be waiting for it: that is no unhandled rejection.
    this.#body.promise.catch(() => {});
    this.#body.reject(new Error("the request broke off"));
  }

  #bytes(): Uint8Array {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
  }
}

export class RequestParser {
  /** In order of arrival; the connection removes them. */
  readonly messages: Message[] = [];
  /** What follows the messages is not a valid request; nothing more is read. */
  malformed: Malformed | null = null;
  /** What follows the messages is ignored: the last request said `Connection: close`. */
  isOver = false;
  /** A request has begun and is not complete. */
  isInside = false;
  readonly #bodyLimitBytes: number;
  #parser = this.#createParser();
  /** The message whose body or trailers are arriving. */
  #current: Message | null = null;
  #fields: string[] = [];
  #target = "";
  /** The last line of an incomplete header, or what arrived of it. */
  #lastLine = "";
  /** The beginning of a request line that llhttp rejects, until the line is complete. */
  #rejected: string | null = null;
  #isMethodUnknown = false;

  constructor(bodyLimitBytes: number) {
    this.#bodyLimitBytes = bodyLimitBytes;
  }

  read(bytes: Uint8Array): void {
    if (this.isOver || this.malformed !== null) return;
    if (this.#rejected !== null) return this.#readRejected(this.#rejected + latin1(bytes));
    const result = this.#parser.execute(bytes);
    if (typeof result === "number") {
      // After CONNECT and Upgrade llhttp stops parsing: what follows is another protocol, which is not supported here.
      if (result < bytes.byteLength) this.isOver = true;
      const isHeader = this.isInside && !this.#current;
      this.#lastLine = isHeader ? lastLineOf(this.#lastLine + latin1(bytes)) : "";
    } else if (result.code === "HPE_INVALID_METHOD" || result.code === "HPE_INVALID_URL") {
      const before = this.#lastLine + latin1(bytes.subarray(0, result.bytesParsed));
      const start = startOfLine(before, result.code === "HPE_INVALID_URL");
      this.#readRejected(before.slice(start) + latin1(bytes.subarray(result.bytesParsed)));
    } else {
      // What follows a request with `Connection: close` is ignored.
      if (result.code === "HPE_CLOSED_CONNECTION") this.isOver = true;
      else this.malformed ??= statusOf(result.code);
    }
  }

  /**
   * llhttp has a list of methods and rejects non-ASCII bytes in a target. But a method may be any token (RFC 9110, 9.1),
   * and gets the same 405 as any unsupported one; and some clients (curl) send UTF-8 in a target without escaping it.
   */
  #readRejected(text: string): void {
    this.isInside = true;
    this.#rejected = null;
    const end = text.indexOf("\n");
    if (end === -1 && text.length < HEAD_LIMIT_BYTES && LINE_START.test(text)) {
      this.#rejected = text;
      return;
    }
    const [, method, target, version] = REQUEST_LINE.exec(text.slice(0, end)) ?? [];
    const escaped = target?.replace(
      /[\x80-\xff]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16)}`,
    );
    const isUnknown = method !== undefined && !METHODS.has(method);
    // A line that neither substitution changes would be rejected again.
    if (method === undefined || !LINE_START.test(text) || (!isUnknown && escaped === target)) {
      this.malformed = 400;
      return;
    }
    this.#isMethodUnknown = isUnknown;
    this.#lastLine = "";
    this.#parser = this.#createParser();
    const line = `${isUnknown ? SUBSTITUTE_METHOD : method} ${escaped} ${version}`;
    this.read(Buffer.from(line + text.slice(end), "latin1"));
  }

  #createParser(): HTTPParser {
    const parser = new HTTPParser();
    parser.initialize(HTTPParser.REQUEST, {}, HEAD_LIMIT_BYTES, NOT_LENIENT);
    parser[HTTPParser.kOnMessageBegin] = () => {
      this.isInside = true;
      this.#fields = [];
      this.#target = "";
    };
    parser[HTTPParser.kOnHeaders] = (fields: string[], target: string) => {
      // Called with a part of the fields when there are many, and with trailers, which are ignored.
      if (this.#current) return;
      this.#fields = [...this.#fields, ...fields];
      this.#target += target;
    };
    parser[HTTPParser.kOnHeadersComplete] = (
      major: number,
      minor: number,
      fields: string[] | undefined,
      method: number,
      target: string | undefined,
      _status: undefined,
      _reason: undefined,
      isUpgrade: boolean,
      isKeptAlive: boolean,
    ) => {
      // llhttp goes on behind a request that is refused here.
      if (this.malformed !== null) return 0;
      if (major !== 1) {
        this.malformed = 505;
        return 0;
      }
      const isHttp10 = minor === 0;
      this.#current = new Message(
        this.#isMethodUnknown ? UNKNOWN_METHOD : methods[method]!,
        target ?? this.#target,
        fields ?? this.#fields,
        isHttp10 || isUpgrade || !isKeptAlive,
        isHttp10,
        this.#bodyLimitBytes,
      );
      this.messages.push(this.#current);
      this.#isMethodUnknown = false;
      return 0;
    };
    parser[HTTPParser.kOnBody] = (chunk: Uint8Array) => this.#current?.add(chunk);
    parser[HTTPParser.kOnMessageComplete] = () => {
      this.isInside = false;
      this.#current?.complete();
      if (this.#current?.isLast) this.isOver = true;
      this.#current = null;
    };
    return parser;
  }
}

/** Empty when it is long. */
function lastLineOf(text: string): string {
  const line = text.slice(text.lastIndexOf("\n") + 1);
  return line.length > LINE_LIMIT ? "" : line;
}

/** Start of the request line that `text` ends in, inside its target or its method. A body before it need not end a line. */
function startOfLine(text: string, isInTarget: boolean): number {
  let start = isInTarget ? text.lastIndexOf(" ") : text.length;
  const limit = start - METHOD_LIMIT;
  while (start > 0 && start > limit && TOKEN_CHARACTER.test(text[start - 1]!)) start--;
  return Math.max(start, 0);
}

function statusOf(code: string): Malformed {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "HPE_INVALID_VERSION" || code === "HPE_PAUSED_H2_UPGRADE" ? 505 : 400;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
