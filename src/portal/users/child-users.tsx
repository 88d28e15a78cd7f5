// The reseller's child users with their balances. They cannot sign in, and are changed only by the API.

/** @jsxImportSource preact */

import { findTestAccount } from "../../db/users/users.ts";
import { listUsersBelow, type ListedUser } from "../../db/users/user-lists.ts";
import { List, Pager } from "../../web/components/lists.tsx";
import { Badge, Typed } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import { Time } from "../parts/shown.tsx";
import type { Call } from "../server/call.ts";

const PAGE_SIZE = 100;

export async function childUsersPage(call: Call): Promise<View> {
  const { visitor, filters } = call;
  const { t, formats } = visitor;
  const filter = { parentAccount: visitor.payer.account, search: filters.raw("q") || null };
  const { rows, next } = await call.read((reader) => {
    const page = listUsersBelow(reader, filter, filters.below(), PAGE_SIZE);
    if (!visitor.isTest) return page;
    const rows = reader.each(page.rows, (user) => {
      const balanceMicros = findTestAccount(reader, user.account)?.balanceMicros ?? 0n;
      return { ...user, balanceMicros };
    });
    return { ...page, rows };
  });
  return {
    title: t("users.title"),
    body: (
      <>
        <h1>{t("users.title")}</h1>
        <p class="hint">{t("users.text")}</p>
        <List<ListedUser>
          caption={t("users.title")}
          rows={rows}
          empty={t("users.empty")}
          columns={[
            { heading: t("users.username"), cell: ({ username }) => <Typed text={username} /> },
            { heading: t("field.name"), cell: ({ name }) => <Typed text={name} /> },
            {
              heading: t("site.balance"),
              number: true,
              cell: ({ balanceMicros }) => formats.cents(balanceMicros),
            },
            {
              heading: t("team.state"),
              cell: ({ active }) => (
                <Badge
                  state={t(active ? "team.active" : "team.disabled")}
                  tone={active ? "good" : "quiet"}
                />
              ),
            },
            {
              heading: t("users.created"),
              cell: ({ createdAt }) => <Time at={createdAt} visitor={visitor} />,
            },
          ]}
        />
        <Pager call={call} next={next} />
      </>
    ),
  };
}
