// Providers: what needs attention at each, and new providers.

/** @jsxImportSource preact */

import { useContext } from "preact/hooks";
import { type AttemptCount, countAttemptsSince } from "../../db/providers/provider-figures.ts";
import {
  findProvider,
  listProviders,
  type Provider,
  type ProviderOrders,
  readProviderOrders,
} from "../../db/providers/providers.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { isProviderKey } from "../../domain/providers/providers.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { CURRENCY, PROVIDER_URL, RATE_TO_USD } from "../../domain/values/kinds.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import { IDENTIFIER_FORM } from "../../domain/values/text.ts";
import { PROTOCOL_DEFAULT, PROTOCOL_NAMES } from "../../providers/protocols.ts";
import { Box, Choice, Field, Form, Refused } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { PageHead, Pop } from "../../web/components/page-head.tsx";
import { Badge, Time, Typed } from "../../web/components/shown.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { answerText, Balance, fetchBalance, recordBalance } from "./provider-balances.tsx";
import { providerPath, ProviderStates, UNKNOWN_TAB } from "./provider-head.tsx";
import { OF_LIST } from "./provider-states.tsx";

export interface ShownProvider extends Provider, ProviderOrders {
  /** Attempts of the last 24 h by outcome. */
  attempts: AttemptCount[];
}

export async function providersPage(call: Call, panel: Panel): Promise<View> {
  const since = panel.now() - DAY_MS;
  const rows = await call.read((reader): ShownProvider[] => {
    const attempts = countAttemptsSince(reader, since);
    return reader.each(listProviders(reader), (provider) => ({
      ...provider,
      ...readProviderOrders(reader, provider.providerId),
      attempts: attempts.filter(({ providerId }) => providerId === provider.providerId),
    }));
  });
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  return {
    title: "Providers",
    body: (
      <>
        <PageHead title="Providers">
          {mayChange && (
            <span class="inline end">
              {rows.length > 0 && (
                <Form action="/provider-balances">
                  <button>Refresh all balances</button>
                </Form>
              )}
              <NewProvider />
            </span>
          )}
        </PageHead>
        <List
          caption="Providers"
          rows={rows}
          empty="No providers yet: services are delivered by hand."
          columns={columnsOf(panel, mayChange)}
        />
      </>
    ),
  };
}

function columnsOf(panel: Panel, mayChange: boolean) {
  return [
    {
      heading: "Provider",
      place: "title" as const,
      cell: (provider: ShownProvider) => (
        <>
          <a href={providerPath(provider.name)}>{provider.name}</a> <ProviderStates {...provider} />
        </>
      ),
    },
    { heading: "Address", wide: true, cell: ({ url }: ShownProvider) => <Typed text={url} /> },
    {
      heading: "Balance",
      place: "first" as const,
      cell: (provider: ShownProvider) => <Balance provider={provider} panel={panel} />,
    },
    {
      heading: "Open",
      number: true,
      cell: ({ name, open }: ShownProvider) => <a href={`/orders?provider=${name}`}>{open}</a>,
    },
    {
      heading: "Unknown",
      number: true,
      place: "end" as const,
      cell: (provider: ShownProvider) => <Unknown {...provider} />,
    },
    {
      heading: "Last success (UTC)",
      cell: ({ lastSuccessAt }: ShownProvider) => <Time at={lastSuccessAt} />,
    },
    {
      heading: "All checked since (UTC)",
      wide: true,
      cell: ({ oldestUncheckedAt }: ShownProvider) => <Time at={oldestUncheckedAt} />,
    },
    {
      heading: "Errors in 24 h",
      cell: ({ attempts }: ShownProvider) => <Errors attempts={attempts} />,
    },
    ...(mayChange
      ? [
          {
            heading: "Orders",
            place: "state" as const,
            cell: ({ name, pausedAt }: ShownProvider) => (
              <Form
                action={`${providerPath(name)}/${pausedAt === null ? "pause" : "resume"}`}
                hidden={{ [OF_LIST]: "yes" }}
              >
                <button aria-label={`${pausedAt === null ? "Pause" : "Resume"} ${name}`}>
                  {pausedAt === null ? "Pause" : "Resume"}
                </button>
              </Form>
            ),
          },
        ]
      : []),
  ];
}

function NewProvider() {
  return (
    <Pop button="New provider" primary atEnd open={useContext(Refused)?.action === "/providers"}>
      <Form action="/providers" submit="Add and test">
        <Field name="name" label="Name" hint={IDENTIFIER_FORM} required />
        <Field name="url" label="Address of its API" type="url" required />
        <Field
          name="key"
          label="Our key at the provider"
          type="password"
          hint="stored, and never shown again"
          required
        />
        <CurrencyFields />
        {PROTOCOL_NAMES.length > 1 && (
          <Choice
            name="protocol"
            label="Protocol"
            options={PROTOCOL_NAMES}
            value={PROTOCOL_DEFAULT}
          />
        )}
        <Box name="untested" label="Add it without the test" />
      </Form>
    </Pop>
  );
}

function Unknown({ name, unknown }: ShownProvider) {
  if (unknown === 0) return <>0</>;
  return (
    <a href={providerPath(name) + UNKNOWN_TAB}>
      <Badge state={`${unknown} to settle`} tone="bad" />
    </a>
  );
}

const WORDS: Partial<Record<AttemptCount["outcome"], string>> = {
  refused: "refused",
  not_sent: "not sent",
  unknown: "unknown",
};

export function Errors({ attempts }: { attempts: readonly AttemptCount[] }) {
  const errors = attempts.filter(({ outcome }) => outcome in WORDS);
  if (errors.length === 0) return <>none</>;
  return (
    <>{errors.map(({ outcome, attempts: count }) => `${count} ${WORDS[outcome]}`).join(", ")}</>
  );
}

export async function createProvider(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form } = submission;
  const name = form.identifier("name");
  const url = requireUrl(form) ?? "";
  const key = requireKey(form) ?? "";
  const protocol = form.optionalChoice("protocol", PROTOCOL_NAMES) ?? PROTOCOL_DEFAULT;
  if (form.raw("url") === "") form.addError("url", "url is required");
  if (form.raw("key") === "") form.addError("key", "key is required");
  const terms = currencyOf(form);
  form.check();
  const isTaken = await submission.read((reader) => findProvider(reader, name) !== undefined);
  if (isTaken) throw refusal("provider_name_taken");
  const address = { protocol, url, key };
  // Asked before the provider is created, so that a wrong address or key is not stored.
  const asked = form.isChecked("untested") ? null : await fetchBalance(panel, address);
  if (asked && !asked.balance) {
    const { text } = asked;
    form.addError(
      "key",
      `The test failed: ${text}. It was not added: check the address and the key, or add it untested`,
    );
    form.check();
  }
  const { providerId } = await submission.submit("createProvider", { name, ...address, ...terms });
  const to = providerPath(name);
  if (!asked?.balance) return { to, note: `${name} was added, and not tested.` };
  await recordBalance(panel, providerId, asked.balance);
  return { to, note: `${name} was added. ${answerText(asked.balance)}` };
}

/** Fields for the currency of a provider, new or existing. */
export function CurrencyFields({ provider }: { provider?: Provider }) {
  return (
    <div class="pair">
      <Field
        name="rate-to-usd"
        label="Rate to USD"
        inputmode="decimal"
        hint="US dollars in one unit of its currency"
        value={provider?.rateToUsd ?? "1"}
      />
      <Field
        name="currency"
        label="Its currency"
        hint="empty: USD, or, with a rate, the currency of its first charge"
        value={provider?.currency ?? ""}
      />
    </div>
  );
}

/** Returns the fields that were given. */
export function currencyOf(form: Values): { rateToUsd?: string; currency?: string } {
  const rateToUsd = form.optional("rate-to-usd", RATE_TO_USD, "");
  const currency = form.optional("currency", CURRENCY, "");
  return { ...(rateToUsd ? { rateToUsd } : {}), ...(currency ? { currency } : {}) };
}

/** Returns the address, or null if none is given. */
export function requireUrl(form: Values): string | null {
  return form.optional("url", PROVIDER_URL, "");
}

/** Returns the key, or null if none is given. */
export function requireKey(form: Values): string | null {
  const key = form.raw("key");
  if (key === "") return null;
  if (!isProviderKey(key)) form.refuse("key", "1 to 1024 visible characters");
  return key;
}
