// From the bytes of a connection to its requests. llhttp, the parser of Node, frames them: it ignores empty lines
// before a request line, takes trailers and refuses whatever could be framed in two ways (RFC 9112).

import { HTTPParser, methods } from "node:_http_common";

/** Of a request line with its fields. */
export const HEAD_LIMIT_BYTES = 16 * 1024;
/** Of an unknown method's name; a longer one is no request. */
const METHOD_LIMIT = 32;
/** A Request cannot have a method that Bun does not know: it would become a GET. No route takes this one either. */
const UNKNOWN_METHOD = "TRACE";

const NOT_LENIENT = 0;
/** Both look at no more characters than a method may have: where it is not, a longer search would be quadratic. */
const TOKEN_END = /[!#$%&'*+\-.^_`|~0-9A-Za-z]*$/;
const METHOD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32})( |$)/;

/** Why bytes are no request: the status that says so. */
export type Malformed = 400 | 431 | 505;

/** A request whose fields are there, and whose body may still be under way. */
export class Message {
  isComplete = false;
  /** Its response is on its way. */
  isAnswered = false;
  #chunks: Uint8Array[] = [];
  #length = 0;
  #body: PromiseWithResolvers<Uint8Array | null> | undefined;
  /** Called when somebody asks for the body. */
  onAwaited: (() => void) | undefined;

  constructor(
    readonly method: string,
    readonly target: string,
    /** Name, value, name, value. */
    readonly fields: readonly string[],
    /** The connection ends with its response. */
    readonly isLast: boolean,
    readonly isHttp10: boolean,
    readonly bodyLimitBytes: number,
  ) {}

  get isTooLong(): boolean {
    return this.#length > this.bodyLimitBytes;
  }

  get isAwaited(): boolean {
    return this.#body !== undefined;
  }

  /** The body once all of it is there; null as soon as it is longer than the limit. Rejects when it breaks off. */
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
    } else if (!this.isAnswered) this.#chunks.push(chunk);
  }

  complete(): void {
    this.isComplete = true;
    if (!this.isTooLong) this.#body?.resolve(this.#bytes());
  }

  breakOff(): void {
    this.#body ??= Promise.withResolvers();
    // Nobody may be waiting for it.
    this.#body.promise.catch(() => {});
    this.#body.reject(new Error("the request broke off"));
  }

  #bytes(): Uint8Array {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
  }
}

export class RequestParser {
  /** In the order they came, and the connection takes them from here. */
  readonly messages: Message[] = [];
  /** What comes after the messages is no request, and nothing is read any more. */
  malformed: Malformed | null = null;
  /** What comes after the messages is of no concern: a request said that it is the last. */
  isOver = false;
  /** A request has begun and is not complete. */
  isInside = false;
  readonly #bodyLimitBytes: number;
  #parser = this.#createParser();
  /** Whose body or trailers are under way. */
  #current: Message | null = null;
  #fields: string[] = [];
  #target = "";
  /** The beginning of a request whose method llhttp does not know. */
  #unknown: string | null = null;
  #isMethodUnknown = false;

  constructor(bodyLimitBytes: number) {
    this.#bodyLimitBytes = bodyLimitBytes;
  }

  read(bytes: Uint8Array): void {
    if (this.isOver || this.malformed !== null) return;
    if (this.#unknown !== null) return this.#readUnknown(this.#unknown + latin1(bytes));
    const result = this.#parser.execute(bytes);
    if (typeof result === "number") {
      // After CONNECT and Upgrade llhttp expects another protocol, which is never spoken here.
      if (result < bytes.byteLength) this.isOver = true;
    } else if (result.code === "HPE_INVALID_METHOD") {
      const start = Math.max(0, result.bytesParsed - METHOD_LIMIT);
      const before = TOKEN_END.exec(latin1(bytes.subarray(start, result.bytesParsed)))![0];
      this.#readUnknown(before + latin1(bytes.subarray(result.bytesParsed)));
    } else {
      // Whatever follows a request that said `Connection: close` is ignored.
      if (result.code === "HPE_CLOSED_CONNECTION") this.isOver = true;
      else this.malformed ??= statusOf(result.code);
    }
  }

  /** A method may be any token: one that llhttp does not know is refused like one that a path does not take. */
  #readUnknown(text: string): void {
    this.isInside = true;
    this.#unknown = null;
    const [, method, end] = METHOD.exec(text) ?? [];
    if (method !== undefined && end === " ") {
      this.#parser = this.#createParser();
      this.#isMethodUnknown = true;
      return this.read(Buffer.from(`${UNKNOWN_METHOD}${text.slice(method.length)}`, "latin1"));
    }
    if (method === undefined) this.malformed = 400;
    else this.#unknown = text;
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
      // Fields come in parts when there are many; trailers do too, and are not read.
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
        this.#isMethodUnknown ? UNKNOWN_METHOD : knownMethod(methods[method]!),
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

const KNOWN_METHODS = new Set(
  methods.filter((method) => new Request("http://localhost/", { method }).method === method),
);

function knownMethod(method: string): string {
  return KNOWN_METHODS.has(method) ? method : UNKNOWN_METHOD;
}

function statusOf(code: string): Malformed {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "HPE_INVALID_VERSION" || code === "HPE_PAUSED_H2_UPGRADE" ? 505 : 400;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
