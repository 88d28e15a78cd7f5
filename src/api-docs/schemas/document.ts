// The type of the parts of the OpenAPI document that this program reads.

import type { Schema } from "./operation.ts";

export interface OpenApiDocument {
  openapi: string;
  info: {
    title: string;
    version: string;
    description: string;
    contact?: { name?: string; email?: string; url?: string };
  };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  webhooks: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, Schema>; [member: string]: unknown };
  [member: string]: unknown;
}

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters: OpenApiParameter[];
  requestBody?: { required: boolean; content: Content };
  /** By status. */
  responses: Record<string, OpenApiResponse>;
}

export interface OpenApiParameter {
  name: string;
  in: string;
  required: boolean;
  description: string;
  schema: Schema;
  [member: string]: unknown;
}

export interface OpenApiResponse {
  description: string;
  headers: Record<string, { description?: string; required?: boolean; schema?: Schema }>;
  content: Content;
}

/** By media type. */
export type Content = Record<
  string,
  { schema: Schema; examples?: Record<string, DocumentExample> }
>;

export interface DocumentExample {
  summary: string;
  value: unknown;
  /** The request that leads to an example of a response. */
  "x-request"?: ExampleRequest;
}

export interface ExampleRequest {
  parameters?: Record<string, string>;
  body?: object;
}
