// A call of the API as code that runs unchanged, in each language. The key comes from the environment, so that no
// program contains it. A call that takes an Idempotency-Key makes a new one each time it is run.

import type { ExampleRequest, OpenApiOperation } from "../schemas/document.ts";
import type { Syntax } from "./highlight.ts";
import { JAVASCRIPT, literal, PHP, PYTHON } from "./literals.ts";

/** Replaced by the address of the server that the reader asks. */
export const URL_PLACEHOLDER = "RESELLER_URL_HERE";

export interface CodeCall {
  method: string;
  /** With the query. */
  path: string;
  body?: object | undefined;
  isIdempotent: boolean;
}

export interface Language {
  id: string;
  name: string;
  syntax: Syntax;
  /** Name of a file that holds the code; how to run it follows from the ending. */
  file: string;
  write: (call: CodeCall) => string;
}

export const LANGUAGES: readonly Language[] = [
  { id: "curl", name: "curl", syntax: "shell", file: "example.sh", write: curl },
  { id: "js", name: "JavaScript", syntax: "javascript", file: "example.mjs", write: javascript },
  { id: "python", name: "Python", syntax: "python", file: "example.py", write: python },
  { id: "php", name: "PHP", syntax: "php", file: "example.php", write: php },
];

/** The call that an example shows. */
export function callOf(
  method: string,
  path: string,
  operation: Pick<OpenApiOperation, "parameters">,
  { parameters = {}, body }: ExampleRequest,
): CodeCall {
  const written = path.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? name);
  const query = Object.entries(parameters)
    .filter(([name]) => !path.includes(`{${name}}`))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  return {
    method: method.toUpperCase(),
    path: query === "" ? written : `${written}?${query}`,
    body,
    isIdempotent: operation.parameters.some(({ name }) => name === "Idempotency-Key"),
  };
}

/** Left out of the shell's example, because a zsh into which it is pasted accepts no comments. */
const KEY_COMMENT = ["New for each request.", "Keep it: a retry sends the same key."] as const;

function curl({ method, path, body, isIdempotent }: CodeCall): string {
  // curl sends a GET, or a POST if -d is given.
  const needsMethod = method !== (body ? "POST" : "GET");
  const lines = [
    `curl ${needsMethod ? `-X ${method} ` : ""}'${URL_PLACEHOLDER}${path}'`,
    '-H "x-api-key: $RESELLER_KEY"',
    ...(body ? ["-H 'Content-Type: application/json'"] : []),
    ...(isIdempotent ? ['-H "Idempotency-Key: $key"'] : []),
    ...(body ? [`-d '${jsonInShell(body)}'`] : []),
  ];
  const key = "key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')\n";
  return (isIdempotent ? key : "") + lines.join(" \\\n  ");
}

/**
 * Returns the body for a shell's text in single quotes, indented like the options of curl. A single quote in the body
 * ends that text and begins it again.
 */
function jsonInShell(body: object): string {
  const text = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`);
  return text.replaceAll("\n", "\n  ");
}

function javascript({ method, path, body, isIdempotent }: CodeCall): string {
  const key = `// ${KEY_COMMENT.join(" ")}
const key = crypto.randomUUID();

`;
  return `${isIdempotent ? key : ""}const response = await fetch("${URL_PLACEHOLDER}${path}", {
${lines(
  method !== "GET" && `  method: "${method}",`,
  "  headers: {",
  '    "x-api-key": process.env.RESELLER_KEY,',
  body && '    "Content-Type": "application/json",',
  isIdempotent && '    "Idempotency-Key": key,',
  "  },",
  body && `  body: JSON.stringify(${literal(body, JAVASCRIPT, 2)}),`,
)}});
console.log(response.status, await response.text());`;
}

function python({ method, path, body, isIdempotent }: CodeCall): string {
  const key = `# ${KEY_COMMENT.join("\n# ")}
key = str(uuid.uuid4())

`;
  const modules = [body && "json", "os", "urllib.error", "urllib.request", isIdempotent && "uuid"];
  return `${lines(...modules.map((name) => name && `import ${name}`))}
${isIdempotent ? key : ""}request = urllib.request.Request(
    "${URL_PLACEHOLDER}${path}",
${lines(
  method !== "GET" && `    method="${method}",`,
  "    headers={",
  '        "x-api-key": os.environ["RESELLER_KEY"],',
  body && '        "Content-Type": "application/json",',
  isIdempotent && '        "Idempotency-Key": key,',
  "    },",
  body && `    data=json.dumps(${literal(body, PYTHON, 4)}).encode(),`,
)})
try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    response = error
print(response.status, response.read().decode())`;
}

function php({ method, path, body, isIdempotent }: CodeCall): string {
  const key = `// ${KEY_COMMENT.join(" ")}
$key = bin2hex(random_bytes(16));

`;
  return `<?php
${isIdempotent ? key : ""}$context = stream_context_create(['http' => [
${lines(
  `    'method' => '${method}',`,
  "    'header' => [",
  "        'x-api-key: ' . getenv('RESELLER_KEY'),",
  body && "        'Content-Type: application/json',",
  isIdempotent && '        "Idempotency-Key: $key",',
  "    ],",
  body && `    'content' => json_encode(${literal(body, PHP, 4)}),`,
  "    'ignore_errors' => true, // the body of an error too",
)}]]);
echo file_get_contents('${URL_PLACEHOLDER}${path}', false, $context), "\\n";`;
}

/** Returns the lines that are given, each with its line break. */
function lines(...given: readonly (string | false | undefined)[]): string {
  return given
    .filter((line) => typeof line === "string")
    .map((line) => `${line}\n`)
    .join("");
}
