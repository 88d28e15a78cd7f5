// The endpoints of the documentation pages, each with its address, its examples and its errors.

import type {
  Content,
  DocumentExample,
  OpenApiDocument,
  OpenApiOperation,
} from "../schemas/document.ts";
import { SMM_API_PATH } from "../endpoints/smm-api.ts";

export interface Endpoint {
  path: string;
  method: string;
  operation: OpenApiOperation;
  /** The operation's group. */
  tag: string;
  /** Address of its description. */
  url: string;
}

/** The group that only programs for payments use. */
export const PAYMENT_TAG = "Users";
export const PAYMENT_PATH = "/docs/payments";
export const REFERENCE_PATH = "/docs/reference";

export const JSON_TYPE = "application/json";

/** Returns the endpoints of /api/v1. */
export function endpointsOf({ paths }: OpenApiDocument): Endpoint[] {
  return Object.entries(paths)
    .filter(([path]) => path !== SMM_API_PATH)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const { operationId: id } = operation;
        const tag = operation.tags[0]!;
        const name = id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
        const url = tag === PAYMENT_TAG ? `${PAYMENT_PATH}#${id}` : `${REFERENCE_PATH}/${name}`;
        return { path, method, operation, tag, url };
      }),
    );
}

/** Returns the endpoints that a customer uses. */
export function customerEndpointsOf(document: OpenApiDocument): Endpoint[] {
  return endpointsOf(document).filter(({ tag }) => tag !== PAYMENT_TAG);
}

export function paymentEndpointsOf(document: OpenApiDocument): Endpoint[] {
  return endpointsOf(document).filter(({ tag }) => tag === PAYMENT_TAG);
}

/** Returns the examples of a success. */
export function examplesOf({ responses }: OpenApiOperation): DocumentExample[] {
  return Object.values(exampledIn(responses["200"]!.content));
}

function exampledIn(content: Content): Record<string, DocumentExample> {
  return content[JSON_TYPE]!.examples ?? {};
}

export interface DocumentedError {
  code: string;
  status: string;
  message: string;
}

/** Returns the errors of an operation, by status. */
export function errorsOf({ responses }: OpenApiOperation): DocumentedError[] {
  return Object.entries(responses)
    .filter(([status]) => status !== "200")
    .flatMap(([status, { content }]) =>
      Object.values(exampledIn(content)).map(({ value }) => {
        const { code, message } = value as { code: string; message: string };
        return { code, status, message };
      }),
    );
}

/** Returns the errors that every one of these endpoints has, in the same words. */
export function sharedErrors(endpoints: readonly Endpoint[]): DocumentedError[] {
  const [first = [], ...others] = endpoints.map(({ operation }) => errorsOf(operation));
  return first.filter((error) => others.every((errors) => errors.some(isSame(error))));
}

export function isSame(error: DocumentedError): (other: DocumentedError) => boolean {
  return ({ code, message }) => code === error.code && message === error.message;
}
