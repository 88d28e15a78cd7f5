// Webhooks of all users, with their problems. Each is changed on its own page.

/** @jsxImportSource preact */

import { listWebhooksBelow } from "../../db/webhooks/webhooks.ts";
import type { Call } from "../server/call.ts";
import type { View } from "../../web/server/results.ts";
import { Choice, Filters } from "../../web/components/fields.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { Time, Typed } from "../../web/components/shown.tsx";
import { WebhookState } from "../users/user-webhooks.tsx";

const PAGE = 50;

export async function webhooksPage(call: Call): Promise<View> {
  const { filters } = call;
  const state = filters.optionalChoice("state", ["active", "disabled"]);
  const active = state && state === "active";
  const webhooks = await call.read((reader) =>
    filters.errors.size > 0 ? [] : listWebhooksBelow(reader, active, filters.below(), PAGE + 1),
  );
  const rows = webhooks.slice(0, PAGE);
  return {
    title: "Webhooks",
    body: (
      <>
        <h1>Webhooks</h1>
        <Filters action="/webhooks" filters={filters}>
          <Choice name="state" label="State" any="any" options={["active", "disabled"]} />
        </Filters>
        <List
          caption="Webhooks, newest first"
          rows={rows}
          empty="No matching webhooks. Create one on the page of a user."
          columns={[
            {
              heading: "User",
              cell: ({ username }) => <a href={`/users/${username}`}>{username}</a>,
            },
            {
              heading: "Address",
              cell: ({ username, id, url }) => (
                <a href={`/users/${username}/webhooks/${id}`}>
                  <Typed text={url} />
                </a>
              ),
            },
            { heading: "State", cell: (each) => <WebhookState of={each} /> },
            { heading: "Failures", number: true, cell: ({ failures }) => failures },
            {
              heading: "Failing since (UTC)",
              cell: ({ failingSince }) => <Time at={failingSince} />,
            },
            { heading: "Created (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
        <Pager call={call} next={webhooks.length > PAGE ? rows.at(-1)!.webhookId : null} />
      </>
    ),
  };
}
