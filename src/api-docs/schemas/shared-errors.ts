// Lists each error response only once: operations refer to `components/responses`.

import type { OpenApiDocument, OpenApiResponse } from "./document.ts";

/**
 * Returns the document with its error responses under `components/responses`, because client generators make a type of each.
 * Operations with the same response share one, such as `Error401`. A response of only one operation is named after it, such
 * as `PlaceOrderError400`.
 */
export function shareErrors(document: OpenApiDocument): OpenApiDocument {
  const errors = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([status]) => Number(status) >= 400)
        .map(([status, response]) => ({ operationId, status, text: JSON.stringify(response) })),
    ),
  );
  const groups = Object.values(Object.groupBy(errors, ({ status, text }) => `${status} ${text}`));
  const names = new Map<string, string>();
  const responses: Record<string, OpenApiResponse> = {};
  for (const group of groups) {
    const [{ operationId, status, text }] = group as [(typeof errors)[number]];
    const common = `Error${status}`;
    const isCommon = group!.length > 1 && responses[common] === undefined;
    const own = `${operationId[0]!.toUpperCase()}${operationId.slice(1)}${common}`;
    const name = isCommon ? common : own;
    names.set(`${status} ${text}`, name);
    responses[name] = JSON.parse(text) as OpenApiResponse;
  }
  const shared = structuredClone(document);
  for (const { responses: own } of Object.values(shared.paths).flatMap(Object.values)) {
    for (const [status, response] of Object.entries(own)) {
      const name = names.get(`${status} ${JSON.stringify(response)}`);
      if (name !== undefined) own[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return { ...shared, components: { ...shared.components, responses } };
}
