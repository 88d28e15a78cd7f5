// An order by /api/v2, whose calls are forms, as code that runs unchanged, in each language. Each run has a new reference, so
// that a retry with the same one places no second order.

import { URL_PLACEHOLDER } from "./languages.ts";

/** Returns the code by id of the language. `fields`: those of the form other than key and reference. */
export function formsOf(fields: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(fields);
  const lines = (write: (name: string, value: string) => string) =>
    entries.map(([name, value]) => write(name, value)).join("\n");
  return {
    curl: `reference=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')
curl '${URL_PLACEHOLDER}/api/v2' \\
  -d key="$RESELLER_KEY" \\
${lines((name, value) => `  -d ${name}='${value}' \\`)}
  -d reference="$reference"`,
    js: `const reference = crypto.randomUUID();
const response = await fetch("${URL_PLACEHOLDER}/api/v2", {
  method: "POST",
  body: new URLSearchParams({
    key: process.env.RESELLER_KEY,
${lines((name, value) => `    ${name}: "${value}",`)}
    reference,
  }),
});
console.log(response.status, await response.text());`,
    python: `import os
import urllib.parse
import urllib.request
import uuid

form = urllib.parse.urlencode({
    "key": os.environ["RESELLER_KEY"],
${lines((name, value) => `    "${name}": "${value}",`)}
    "reference": str(uuid.uuid4()),
}).encode()
with urllib.request.urlopen("${URL_PLACEHOLDER}/api/v2", form) as response:
    print(response.status, response.read().decode())`,
    php: `<?php
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => 'Content-Type: application/x-www-form-urlencoded',
    'content' => http_build_query([
        'key' => getenv('RESELLER_KEY'),
${lines((name, value) => `        '${name}' => '${value}',`)}
        'reference' => bin2hex(random_bytes(16)),
    ]),
    'ignore_errors' => true, // the body of an error too
]]);
echo file_get_contents('${URL_PLACEHOLDER}/api/v2', false, $context), "\\n";`,
  };
}
