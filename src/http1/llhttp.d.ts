// llhttp, the parser of Node, as Bun gives it: as much of it as parser.ts uses.

declare module "node:_http_common" {
  /** Callbacks are properties of the parser, by these numbers. */
  export class HTTPParser {
    static readonly REQUEST: number;
    static readonly kOnMessageBegin: number;
    static readonly kOnHeaders: number;
    static readonly kOnHeadersComplete: number;
    static readonly kOnBody: number;
    static readonly kOnMessageComplete: number;
    [callback: number]: (...values: never[]) => number | void;
    initialize(type: number, resource: object, maxHeadBytes: number, lenient: number): void;
    /** The number of bytes it took, or what is wrong with them. */
    execute(bytes: Uint8Array): number | (Error & { code: string; bytesParsed: number });
  }
  export const methods: readonly string[];
}
