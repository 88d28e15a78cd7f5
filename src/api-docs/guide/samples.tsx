// The page of complete programs that place an order.

/** @jsxImportSource preact */

import curlSample from "../../../docs/samples/order.sh" with { type: "text" };
import jsSample from "../../../docs/samples/order.mjs" with { type: "text" };
import phpSample from "../../../docs/samples/order.php" with { type: "text" };
import pythonSample from "../../../docs/samples/order.py" with { type: "text" };
import { LANGUAGES } from "../code/languages.ts";
import { Code, Prose, Tabs } from "../page/parts.tsx";
import type { GuidePage } from "./guide.ts";

/** By id of the language. */
const PROGRAMS: Readonly<Record<string, readonly [file: string, text: string]>> = {
  curl: ["order.sh", curlSample],
  js: ["order.mjs", jsSample],
  python: ["order.py", pythonSample],
  php: ["order.php", phpSample],
};

function Samples() {
  return (
    <>
      <p>
        Each program places one order and sends it again until an answer arrives. Until then it
        keeps the request in a file. If it gave up or was stopped, run it again. The programs read
        the address and the key from the environment:
      </p>
      <Code
        text="export RESELLER_URL='RESELLER_URL_HERE' RESELLER_KEY='RESELLER_KEY_HERE'"
        label="Terminal"
        syntax="shell"
      />
      <Tabs
        name="sample"
        panels={LANGUAGES.map(({ id, name, syntax }) => {
          const [label, text] = PROGRAMS[id]!;
          return { id, name, label, syntax, text };
        })}
      />
      <p>
        <Prose text="Receivers of webhooks are in [Webhooks](/docs/webhooks#webhook-samples); a program for panels is in [API v2 for panels](/docs/panels#panel-sample)." />
      </p>
    </>
  );
}

export const SAMPLES: GuidePage = {
  path: "/docs/samples",
  title: "Sample programs",
  lead: "Programs to start from: they retry as they should, and place each order once.",
  sections: [
    {
      id: "samples",
      title: "Place an order",
      about: "Complete programs in shell, JavaScript, Python and PHP with retries",
      Body: Samples,
    },
  ],
};
