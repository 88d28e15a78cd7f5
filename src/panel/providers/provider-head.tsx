// The head of a provider's pages: its name and state, and the tabs.

/** @jsxImportSource preact */

import type { Provider } from "../../db/providers/providers.ts";
import { PageHead, Tabs } from "../../web/components/page-head.tsx";
import { Badge } from "../../web/components/shown.tsx";

const TABS = { "": "Overview", "/prices": "Prices and syncs", "/settings": "Settings" } as const;
/** Shown only to those who may change it. */
const OF_OPERATORS = "/settings";
export const UNKNOWN_TAB = "/unknown";

export function providerPath(name: string): string {
  return `/providers/${name}`;
}

export function ProviderHead({
  provider: { name, active, pausedAt },
  tab,
  unknown,
  mayChange,
}: {
  provider: Pick<Provider, "name" | "active" | "pausedAt">;
  tab: keyof typeof TABS | typeof UNKNOWN_TAB;
  /** Number of its unknown orders. */
  unknown: number;
  mayChange: boolean;
}) {
  const path = providerPath(name);
  const shown = Object.entries(TABS).filter(([end]) => mayChange || end !== OF_OPERATORS);
  const tabs = shown.map(([end, text]) => ({
    text,
    href: path + end,
    isChosen: end === tab,
  }));
  const unknownTab = {
    text: "Unknown orders",
    href: path + UNKNOWN_TAB,
    isChosen: tab === UNKNOWN_TAB,
    count: String(unknown),
  };
  return (
    <>
      <PageHead
        title={
          <>
            {name} <ProviderStates active={active} pausedAt={pausedAt} />
          </>
        }
      />
      <Tabs label={`Pages of ${name}`} tabs={[...tabs, unknownTab]} />
    </>
  );
}

export function ProviderStates({ active, pausedAt }: Pick<Provider, "active" | "pausedAt">) {
  return (
    <>
      {!active && <Badge state="inactive" tone="bad" />}{" "}
      {pausedAt !== null && <Badge state="paused" tone="bad" />}
    </>
  );
}
