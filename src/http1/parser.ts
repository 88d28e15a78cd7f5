// Parses the bytes of a connection into requests. llhttp, Node's HTTP parser, frames them: it ignores empty lines
// before a request line, accepts trailers and refuses ambiguous framing (RFC 9112, request smuggling).

import { HTTPParser, methods } from "node:_http_common";

/** Limit for a request line with its header fields, the bytes around its chunks and its trailers. */
export const HEAD_LIMIT_BYTES = 16 * 1024;
/** Maximum number of header fields, and of trailer fields. */
export const FIELDS_LIMIT = 100;
/** Bytes of framing allowed for each byte of content. A chunk of one byte needs five. */
const CHUNK_OVERHEAD = 8;
/** Maximum length of an unknown method; a longer one is malformed. */
const METHOD_LIMIT = 32;
/** Replaces a method that llhttp does not know, so that no text of a client's choice is logged or counted. */
export const UNKNOWN_METHOD = "UNKNOWN";
/** The method that llhttp parses instead of an unknown one. */
const SUBSTITUTE_METHOD = "TRACE";

const METHODS = new Set(methods);
const NO_BYTES = new Uint8Array();
const LINE_FEED = 10;
/** Limit for the last line of an incomplete header, which is kept to be parsed again. */
const LINE_LIMIT = 2048;

const NOT_LENIENT = 0;
const TOKEN_CHARACTER = /[!#$%&'*+\-.^_`|~0-9A-Za-z]/;
const LINE_START = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}(?: |$)/;
const BEYOND_ASCII = /[\x80-\xff]+/g;
const HEX_BYTE = /../g;
const REQUEST_LINE = /^([^ ]+) ([^ ]+) (HTTP\/\d\.\d\r)$/;

/** The response status for bytes that are not a valid request. */
export type Malformed = 400 | 431 | 505;

/** The request ended before its body was complete: the connection closed, or what followed is malformed. */
export class BrokenOff extends Error {
  override name = "BrokenOff";

  constructor(readonly status: Malformed) {
    super("the request broke off");
  }
}

/** Thrown by a callback: llhttp stops at once instead of parsing the rest of the bytes. */
const STOP = new Error("stop");

/** Paths whose bodies may be longer than those of other paths. */
export interface WideBodies {
  prefix: string;
  limitBytes: number;
}

/** A path whose bodies are read while they arrive (Message.stream), and their limit. */
export interface StreamedBodies {
  path: string;
  limitBytes: number;
}

/** A request whose header is complete and whose body may still be arriving. */
export class Message {
  isComplete = false;
  /** Whether its response has begun. */
  hasResponse = false;
  /** The part of the body that has arrived, in the first `#length` bytes. */
  #bytes: Uint8Array = NO_BYTES;
  #length = 0;
  #body: PromiseWithResolvers<Uint8Array | null> | undefined;
  /** Called when a handler waits for the body. */
  onAwaited: (() => void) | undefined;
  /** Called when more of a streamed body may be parsed. */
  onTaken: (() => void) | undefined;
  /** The parts of a streamed body that its reader has not taken. */
  readonly #parts: Uint8Array[] = [];
  #isStreaming = false;
  /** Wakes the reader of a streamed body. */
  #wake: (() => void) | undefined;
  #brokenOff: BrokenOff | null = null;

  constructor(
    readonly method: string,
    readonly target: string,
    /** Names and values alternate. */
    readonly fields: readonly string[],
    /** Whether the connection closes after its response. */
    readonly isLast: boolean,
    readonly isHttp10: boolean,
    readonly bodyLimitBytes: number,
    /** Whether the body is read while it arrives. */
    readonly isStreamed = false,
  ) {}

  /** Returns a field's value by its lower-case name. The values of a repeated field are joined (RFC 9110, 5.3). */
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
    return this.#body !== undefined || this.#isStreaming;
  }

  /** Whether nothing more may be parsed yet: the reader of a streamed body is not ready. */
  get isHeld(): boolean {
    if (!this.isStreamed || this.hasResponse || this.isTooLong) return false;
    return !this.#isStreaming || this.#parts.length > 0;
  }

  /**
   * Returns the parts of the body as they arrive: what is not taken is not read from the connection. Ends early if the
   * body exceeds its limit (`isTooLong`). Throws BrokenOff if the request ends first.
   */
  async *stream(): AsyncGenerator<Uint8Array> {
    if (!this.isStreamed) {
      const whole = await this.body();
      if (whole) yield whole;
      return;
    }
    this.#isStreaming = true;
    if (!this.isComplete) this.onAwaited?.();
    for (;;) {
      const part = this.#parts.shift();
      if (this.isTooLong) return;
      if (part) {
        yield part;
        continue;
      }
      if (this.isComplete) return;
      if (this.#brokenOff) throw this.#brokenOff;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      // The first part may be asked for while the connection hands the request over.
      queueMicrotask(() => this.onTaken?.());
      await promise;
    }
  }

  /**
   * Resolves with the whole body, or null as soon as it exceeds the limit. Rejects with BrokenOff when it ends first.
   */
  body(): Promise<Uint8Array | null> {
    if (this.isStreamed) throw new Error("the body is read by stream()");
    if (!this.#body) {
      this.#body = Promise.withResolvers();
      if (this.isTooLong) this.#body.resolve(null);
      else if (this.isComplete) this.#body.resolve(this.#received());
      else this.onAwaited?.();
    }
    return this.#body.promise;
  }

  add(chunk: Uint8Array): void {
    const start = this.#length;
    this.#length += chunk.byteLength;
    if (this.isTooLong) {
      this.#bytes = NO_BYTES;
      this.#body?.resolve(null);
    } else if (this.hasResponse) return;
    else if (this.isStreamed) this.#parts.push(chunk);
    else this.#append(chunk, start);
    this.#wake?.();
  }

  complete(): void {
    this.isComplete = true;
    this.#wake?.();
    if (!this.isTooLong && !this.isStreamed) this.#body?.resolve(this.#received());
  }

  breakOff(status: Malformed = 400): void {
    this.#brokenOff = new BrokenOff(status);
    this.#wake?.();
    this.#body ??= Promise.withResolvers();
    // If no handler waits for the body, its rejection must not count as unhandled.
    this.#body.promise.catch(() => {});
    this.#body.reject(new BrokenOff(status));
  }

  /**
   * Appends a chunk. Most bodies are one chunk; many small ones go into one buffer, because separately they would take
   * 100 times the memory.
   */
  #append(chunk: Uint8Array, start: number): void {
    if (start === 0) {
      this.#bytes = chunk;
      return;
    }
    if (this.#length > this.#bytes.byteLength) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * start, this.#length));
      larger.set(this.#bytes.subarray(0, start));
      this.#bytes = larger;
    }
    this.#bytes.set(chunk, start);
  }

  #received(): Uint8Array {
    const isWhole = this.#bytes.byteLength === this.#length;
    return isWhole ? this.#bytes : this.#bytes.subarray(0, this.#length);
  }
}

export class RequestParser {
  /** In order of arrival; the connection removes them. */
  readonly messages: Message[] = [];
  /** Status for invalid bytes after the messages; null while all bytes are valid. After it nothing more is read. */
  malformed: Malformed | null = null;
  /** Whether bytes after the messages are ignored, because the last request had `Connection: close`. */
  isOver = false;
  /** Whether a request has begun and is not complete. */
  isInside = false;
  readonly #bodyLimitBytes: number;
  readonly #wide: WideBodies | null;
  readonly #streamed: StreamedBodies | null;
  #parser = this.#createParser();
  /** The message whose body or trailers are arriving. */
  #current: Message | null = null;
  #fields: string[] = [];
  #target = "";
  /** How many messages have begun. */
  #begun = 0;
  /** Bytes of the message and of blank lines before it, without its content. */
  #overhead = 0;
  /** Bytes of content of the current message, and the number of its trailer fields. */
  #content = 0;
  #trailers = 0;
  /** The last line of an incomplete header, or the part of it that has arrived. */
  #lastLine = "";
  /** The beginning of a request line that llhttp rejects, until the line is complete. */
  #rejected: string | null = null;
  #isMethodUnknown = false;

  constructor(
    bodyLimitBytes: number,
    wide: WideBodies | null = null,
    streamed: StreamedBodies | null = null,
  ) {
    this.#bodyLimitBytes = bodyLimitBytes;
    this.#wide = wide;
    this.#streamed = streamed;
  }

  read(bytes: Uint8Array): void {
    let rest: Uint8Array | null = bytes;
    while (rest && !this.isOver && this.malformed === null) {
      rest = this.#rejected === null ? this.#parse(rest) : this.#readRejected(rest, this.#rejected);
    }
  }

  /** Returns the bytes after the beginning of a request line that llhttp rejects; null when all was parsed. */
  #parse(bytes: Uint8Array): Uint8Array | null {
    const { isInside } = this;
    const begun = this.#begun;
    const content = this.#content;
    const messages = this.messages.length;
    const result = this.#execute(bytes);
    if (result === null) return null;
    if (typeof result === "number") {
      // After CONNECT and Upgrade llhttp stops parsing. Another protocol follows, which is not supported here.
      if (result < bytes.byteLength) this.isOver = true;
      // Most reads hold whole requests, and nothing needs to be counted.
      if (this.isInside || this.#overhead > 0 || this.#begun === begun) {
        this.#count(bytes.byteLength, isInside, this.#begun - begun, content, messages);
      }
      if (this.isInside && !this.#current) this.#keepLastLine(latin1(bytes));
      else this.#lastLine = "";
      return null;
    }
    if (result.code === "HPE_INVALID_METHOD" || result.code === "HPE_INVALID_URL") {
      const before = this.#lastLine + latin1(bytes.subarray(0, result.bytesParsed));
      this.#rejected = before.slice(startOfLine(before, result.code === "HPE_INVALID_URL"));
      this.#lastLine = "";
      this.#overhead = 0;
      this.isInside = true;
      return bytes.subarray(result.bytesParsed);
    }
    // What follows a request with `Connection: close` is ignored.
    if (result.code === "HPE_CLOSED_CONNECTION") this.isOver = true;
    else this.malformed ??= statusOf(result.code);
    return null;
  }

  /** Runs llhttp. Returns null if a callback stopped it. */
  #execute(bytes: Uint8Array): ReturnType<HTTPParser["execute"]> | null {
    try {
      return this.#parser.execute(bytes);
    } catch (error) {
      if (error !== STOP) throw error;
      return null;
    }
  }

  /**
   * Counts the bytes that are not content, because llhttp counts only those of names and values. llhttp does not report
   * where a message begins. If a second message begins in these bytes, its count begins with the next bytes. `begun`:
   * number of messages that begin in these bytes. `wasInside`, `content` and `messages`: the values before these bytes.
   */
  #count(
    length: number,
    wasInside: boolean,
    begun: number,
    content: number,
    messages: number,
  ): void {
    if (begun > (wasInside ? 0 : 1)) {
      this.#overhead = 0;
      return;
    }
    this.#overhead += length - this.#content + (begun === 1 ? 0 : content);
    if (this.#overhead > HEAD_LIMIT_BYTES + CHUNK_OVERHEAD * this.#content) {
      this.malformed ??= 431;
      // A message whose head was completed only now has not been handled yet.
      if (this.messages.length > messages) this.messages.pop();
    }
    if (!this.isInside && (wasInside || begun === 1)) this.#overhead = 0;
  }

  /** Keeps the last line. Searches only the new part, because a line may arrive byte by byte. */
  #keepLastLine(text: string): void {
    const end = text.lastIndexOf("\n");
    this.#lastLine = end === -1 ? this.#lastLine + text : text.slice(end + 1);
    if (this.#lastLine.length > LINE_LIMIT) this.#lastLine = "";
  }

  /**
   * Reads a request line that llhttp rejects: one with a method that is not in llhttp's list, or with non-ASCII bytes
   * in its target. But a method may be any token (RFC 9110, 9.1), and an unknown one gets a 405. Some clients (curl)
   * send UTF-8 in a target without escaping it. Returns the bytes after the line; null while it is not complete.
   */
  #readRejected(bytes: Uint8Array, before: string): Uint8Array | null {
    const end = bytes.indexOf(LINE_FEED);
    const line = before + latin1(end === -1 ? bytes : bytes.subarray(0, end));
    if (line.length >= HEAD_LIMIT_BYTES) {
      this.malformed = 431;
      return null;
    }
    // If `before` is longer than any method, the method has been checked already.
    if (before.length <= METHOD_LIMIT && !LINE_START.test(line)) {
      this.malformed = 400;
      return null;
    }
    if (end === -1) {
      this.#rejected = line;
      return null;
    }
    this.#rejected = null;
    const [, method, target, version] = REQUEST_LINE.exec(line) ?? [];
    const escaped = target?.replace(BEYOND_ASCII, (bytes) =>
      Buffer.from(bytes, "latin1").toString("hex").replace(HEX_BYTE, "%$&"),
    );
    const isUnknown = method !== undefined && !METHODS.has(method);
    // A line that neither substitution changes would be rejected again.
    if (method === undefined || (!isUnknown && escaped === target)) {
      this.malformed = 400;
      return null;
    }
    this.#isMethodUnknown = isUnknown;
    this.#parser = this.#createParser();
    this.isInside = false;
    const substitute = isUnknown ? SUBSTITUTE_METHOD : method;
    const isRejected = this.#parse(Buffer.from(`${substitute} ${escaped} ${version}\n`, "latin1"));
    if (isRejected) this.malformed = 400;
    return bytes.subarray(end + 1);
  }

  #createParser(): HTTPParser {
    const parser = new HTTPParser();
    parser.initialize(HTTPParser.REQUEST, {}, HEAD_LIMIT_BYTES, NOT_LENIENT);
    parser[HTTPParser.kOnMessageBegin] = () => {
      this.isInside = true;
      this.#begun++;
      this.#content = 0;
      this.#trailers = 0;
      this.#fields = [];
      this.#target = "";
    };
    parser[HTTPParser.kOnHeaders] = (fields: string[], target: string) => {
      // Called with a part of the fields if there are many, and with trailers, which are ignored.
      if (this.#current) {
        this.#trailers += fields.length / 2;
        return this.#trailers > FIELDS_LIMIT ? this.#stop(431) : undefined;
      }
      for (const text of fields) this.#fields.push(text);
      if (this.#fields.length > 2 * FIELDS_LIMIT) this.#stop(431);
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
      if (major !== 1) this.#stop(505);
      const isHttp10 = minor === 0;
      const path = target ?? this.#target;
      const isStreamed = path === this.#streamed?.path;
      this.#current = new Message(
        this.#isMethodUnknown ? UNKNOWN_METHOD : methods[method]!,
        path,
        fields ?? this.#fields,
        isHttp10 || isUpgrade || !isKeptAlive,
        isHttp10,
        isStreamed ? this.#streamed!.limitBytes : this.#limitOf(path),
        isStreamed,
      );
      this.messages.push(this.#current);
      this.#isMethodUnknown = false;
      return 0;
    };
    parser[HTTPParser.kOnBody] = (chunk: Uint8Array) => {
      this.#content += chunk.byteLength;
      this.#current?.add(chunk);
    };
    parser[HTTPParser.kOnMessageComplete] = () => {
      this.isInside = false;
      this.#current?.complete();
      if (this.#current?.isLast) this.isOver = true;
      this.#current = null;
    };
    return parser;
  }

  #limitOf(path: string): number {
    const isWide = this.#wide !== null && path.startsWith(this.#wide.prefix);
    return isWide ? this.#wide!.limitBytes : this.#bodyLimitBytes;
  }

  /** Stops the parsing from within a callback of llhttp. */
  #stop(status: Malformed): never {
    this.malformed = status;
    throw STOP;
  }
}

/**
 * Returns the start of the unfinished request line at the end of `text`. Of the line, only a
 * part of its method, or its method and a part of its target, has arrived. No line break need separate it from a body
 * before it.
 */
function startOfLine(text: string, isInTarget: boolean): number {
  let start = isInTarget ? text.lastIndexOf(" ") : text.length;
  const limit = start - METHOD_LIMIT;
  while (start > 0 && start > limit && TOKEN_CHARACTER.test(text[start - 1]!)) start--;
  return Math.max(start, 0);
}

function statusOf(code: string): Malformed {
  if (code === "HPE_HEADER_OVERFLOW" || code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return 431;
  return code === "HPE_INVALID_VERSION" || code === "HPE_PAUSED_H2_UPGRADE" ? 505 : 400;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
