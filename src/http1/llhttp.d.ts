// llhttp, Node's HTTP parser, as Bun exposes it: the part that parser.ts uses.

declare module "node:_http_common" {
  /** Callbacks are set as properties of the parser under these numbers. */
  export class HTTPParser {
    static readonly REQUEST: number;
    static readonly kOnMessageBegin: number;
    static readonly kOnHeaders: number;
    static readonly kOnHeadersComplete: number;
    static readonly kOnBody: number;
    static readonly kOnMessageComplete: number;
    [callback: number]: (...values: never[]) => number | void;
    initialize(type: number, resource: object, maxHeadBytes: number, lenient: number): void;
    /** Returns the number of consumed bytes, or the parse error. */
    execute(bytes: Uint8Array): number | (Error & { code: string; bytesParsed: number });
  }
  export const methods: readonly string[];
}
