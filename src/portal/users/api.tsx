// API: the first request, and the keys and webhooks of the reseller.

/** @jsxImportSource preact */

import { listWebhooks } from "../../db/webhooks/webhooks.ts";
import { baseOf } from "../../web/server/origin.ts";
import type { View } from "../../web/server/results.ts";
import type { Call } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";
import { Webhooks } from "../webhooks/webhooks.tsx";
import { Keys, listOwnKeys } from "./keys.tsx";

export async function apiPage(call: Call, portal: Portal): Promise<View> {
  const { visitor } = call;
  const { keys, webhooks } = await call.read((reader) => ({
    keys: listOwnKeys(reader, visitor),
    webhooks: listWebhooks(reader, visitor.account),
  }));
  return {
    title: visitor.t("api.title"),
    body: (
      <>
        <h1>{visitor.t("api.title")}</h1>
        <FirstRequest visitor={visitor} portal={portal} />
        <Keys visitor={visitor} keys={keys} now={portal.now()} />
        <Webhooks visitor={visitor} webhooks={webhooks} />
      </>
    ),
  };
}

/** An example to copy. A portal with a listener of its own does not know the address of the API. */
function FirstRequest({
  visitor: { t, request, isTest },
  portal: { prefix, settings },
}: {
  visitor: Visitor;
  portal: Portal;
}) {
  if (prefix === "") return <p>{t("api.text")}</p>;
  const base = baseOf(request, settings);
  return (
    <section class="card">
      <p>
        {t("api.text")} <a href={`${base}/docs`}>{t("api.docs")}</a>
      </p>
      <h2>{t("api.first")}</h2>
      <pre id="first-request">{`curl ${base}/api/v1/balance -H "X-API-Key: rk_${isTest ? "test_" : ""}…"`}</pre>
      <p class="actions">
        <button type="button" data-copy="first-request" data-copied={t("site.copied")} hidden>
          {t("site.copy")}
        </button>
      </p>
    </section>
  );
}
