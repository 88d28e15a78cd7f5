// One endpoint: its parameters, its body and its answer on one side, calls and answers as code on the other; its errors.

/** @jsxImportSource preact */

import { callOf } from "../code/languages.ts";
import type { OpenApiDocument, OpenApiOperation } from "../schemas/document.ts";
import {
  type DocumentedError,
  type Endpoint,
  errorsOf,
  examplesOf,
  JSON_TYPE,
  isSame,
  sharedErrors,
} from "./documented-endpoints.ts";
import { Fields, Meaning } from "./fields.tsx";
import { Calls, Code, Json, Prose, Table } from "./parts.tsx";

interface ArticleParts {
  endpoint: Endpoint;
  /** The endpoints whose common errors are only named. */
  shared: readonly Endpoint[];
  /** Level of the headings in it. */
  level: "h2" | "h3";
}

export function EndpointArticle({
  document,
  endpoint,
  shared,
  level: Heading,
}: ArticleParts & { document: OpenApiDocument }) {
  const { path, method, operation } = endpoint;
  const { operationId: id, summary } = operation;
  const body = operation.requestBody?.content[JSON_TYPE]?.schema;
  const response = operation.responses["200"]!.content[JSON_TYPE]!.schema;
  return (
    <article class="endpoint">
      <div class="about">
        <p class="route">
          <span class={`method ${method}`}>{method.toUpperCase()}</span> <span>{path}</span>
        </p>
        <p>
          <Prose text={operation.description} />
        </p>
      </div>
      <Examples endpoint={endpoint} />
      <div class="parts">
        <Parameters operation={operation} level={Heading} />
        {body && (
          <>
            <Heading id={`${id}.body`}>Body</Heading>
            <Fields
              document={document}
              schema={body}
              about={`Body: ${summary}`}
              prefix={`${id}.body`}
            />
          </>
        )}
        <Heading id={`${id}.answer`}>Answer</Heading>
        <Fields
          document={document}
          schema={response}
          about={`Answer: ${summary}`}
          prefix={`${id}.answer`}
        />
        <Errors endpoint={endpoint} shared={shared} level={Heading} />
      </div>
    </article>
  );
}

function Parameters({
  operation: { operationId: id, parameters, summary },
  level: Heading,
}: Pick<ArticleParts, "level"> & { operation: OpenApiOperation }) {
  // The guide describes once the parameter that every call takes.
  const own = parameters.filter(({ name }) => name !== "x-request-id");
  if (own.length === 0) return undefined;
  const rows = own.map(({ name, in: where, required, description, schema }) => [
    <>
      <code id={`${id}.${name}`}>{name}</code>
      <span class="type">
        {where}
        {required && ", required"}
      </span>
    </>,
    <Meaning schema={{ ...schema, description }} />,
  ]);
  return (
    <>
      <Heading id={`${id}.parameters`}>Parameters and headers</Heading>
      <Table headings={["Name", "Meaning"]} rows={rows} about={`Parameters: ${summary}`} />
    </>
  );
}

function Examples({ endpoint: { path, method, operation } }: { endpoint: Endpoint }) {
  const { operationId: id, responses } = operation;
  const [first, ...others] = examplesOf(operation);
  const call = callOf(method, path, operation, first!["x-request"] ?? {});
  const csv = Object.values(responses["200"]!.content["text/csv"]?.examples ?? {})[0];
  return (
    <div class="code">
      <Calls name={id} call={call} />
      <p class="note">
        <Prose text="The example reads your key from `RESELLER_KEY`: [set it once](/docs#quick-start)." />
        {call.isIdempotent && (
          <Prose text=" Each run makes a new `Idempotency-Key`. A retry must send the same one: [Retrying safely](/docs/errors#idempotency)." />
        )}
      </p>
      <Json value={first!.value} label="200" />
      {others.map(({ summary, value, "x-request": { body, parameters } = {} }) => (
        <details>
          <summary>
            <Prose text={summary} />
          </summary>
          {parameters && <Code text={queryOf(parameters)} label="Parameters" />}
          {body && <Json value={body} label="Body" />}
          <Json value={value} label="200" />
        </details>
      ))}
      {csv && (
        <details>
          <summary>{csv.summary}</summary>
          <Code text={String(csv.value)} label="200, text/csv" />
        </details>
      )}
    </div>
  );
}

function queryOf(parameters: Record<string, string>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

function Errors({ endpoint, shared, level: Heading }: ArticleParts) {
  const { operationId: id, summary, requestBody } = endpoint.operation;
  const alike = shared.filter(({ operation }) => !requestBody || operation.requestBody);
  const common = sharedErrors(alike);
  const own = errorsOf(endpoint.operation).filter((error) => !common.some(isSame(error)));
  const codes = [...new Set(common.map(({ code }) => code))];
  return (
    <>
      <Heading id={`${id}.errors`}>Errors</Heading>
      <ErrorTable errors={own} about={`Errors: ${summary}`} />
      <p class="note">
        And those of any call:{" "}
        {codes.map((code, index) => (
          <>
            {index > 0 && ", "}
            <a href={`/docs/errors#${code}`}>
              <code>{code}</code>
            </a>
          </>
        ))}
        .
      </p>
    </>
  );
}

function ErrorTable({ errors, about }: { errors: readonly DocumentedError[]; about: string }) {
  const rows = errors.map(({ code, status, message }) => [
    <>
      <code>{code}</code>
      <span class="type">{status}</span>
    </>,
    message,
  ]);
  return <Table headings={["Code", "Message"]} rows={rows} about={about} />;
}
