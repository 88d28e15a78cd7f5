// Links between the pages of a list, with the same filters.

/** @jsxImportSource preact */

import type { Call } from "../server/call.ts";

/** `next`: the next page's cursor; null at the end. */
export function Pages({ call, next }: { call: Call; next: number | null }) {
  const { t } = call.visitor;
  const { values } = call.filters;
  if (next === null && !values.has("below")) return null;
  const query = (below: number | null) => {
    const changed = new URLSearchParams(values);
    changed.delete("below");
    if (below !== null) changed.set("below", String(below));
    return `${call.path}?${changed}`;
  };
  return (
    <nav class="pager" aria-label={t("orders.listPages")}>
      {values.has("below") && <a href={query(null)}>{t("orders.newest")}</a>}
      {next !== null && (
        <a href={query(next)} rel="next">
          {t("orders.older")}
        </a>
      )}
    </nav>
  );
}
