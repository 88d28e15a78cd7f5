// Providers: what needs attention at each, and new providers.

/** @jsxImportSource preact */

import { RATE_TO_USD, CURRENCY, PROVIDER_URL } from "../../domain/values/kinds.ts";
import { type AttemptCount, countAttemptsSince } from "../../db/providers/provider-figures.ts";
import {
  findProvider,
  listProviders,
  type Provider,
  type ProviderOrders,
  readProviderOrders,
} from "../../db/providers/providers.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { isProviderKey } from "../../domain/providers/providers.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { IDENTIFIER_FORM } from "../../domain/values/text.ts";
import {
  PROTOCOL_DEFAULT,
  PROTOCOL_NAMES,
  type ProviderAddress,
} from "../../providers/protocols.ts";
import { ProviderFailure } from "../../providers/provider.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Box, Choice, Field, Form } from "../../web/components/fields.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import { List } from "../../web/components/lists.tsx";
import { Badge, Time, Typed } from "../../web/components/shown.tsx";
import { DAY_MS } from "../../domain/values/spans.ts";

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
        <h1>Providers</h1>
        <List
          caption="Providers"
          rows={rows}
          empty="No providers yet: services are delivered by hand."
          columns={[
            {
              heading: "Provider",
              cell: ({ name, pausedAt }) => (
                <>
                  <a href={`/providers/${name}`}>{name}</a>{" "}
                  {pausedAt !== null && <Badge state="paused" tone="bad" />}
                </>
              ),
            },
            { heading: "Address", cell: ({ url }) => <Typed text={url} /> },
            {
              heading: "Balance",
              number: true,
              cell: (provider) => <Balance provider={provider} panel={panel} />,
            },
            {
              heading: "Open",
              number: true,
              cell: ({ name, open }) => <a href={`/orders?provider=${name}`}>{open}</a>,
            },
            { heading: "Unknown", number: true, cell: (provider) => <Unknown {...provider} /> },
            {
              heading: "Last success (UTC)",
              cell: ({ lastSuccessAt }) => <Time at={lastSuccessAt} />,
            },
            {
              heading: "All checked since (UTC)",
              cell: ({ oldestUncheckedAt }) => <Time at={oldestUncheckedAt} />,
            },
            { heading: "Errors in 24 h", cell: ({ attempts }) => <Errors attempts={attempts} /> },
          ]}
        />
        {mayChange && (
          <section class="card narrow-card">
            <Form action="/providers" submit="Add and test">
              <h2>New provider</h2>
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
          </section>
        )}
      </>
    ),
  };
}

function Unknown({ name, unknown }: ShownProvider) {
  if (unknown === 0) return <>0</>;
  return (
    <a href={`/providers/${name}/unknown`}>
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

/** The balances that were last asked for, by provider. Showing a page never calls a provider. */
const balances = new WeakMap<Panel["connect"], Map<number, { text: string; at: number }>>();

export function Balance({ provider, panel }: { provider: Provider; panel: Panel }) {
  const known = balances.get(panel.connect)?.get(provider.providerId);
  return (
    <>
      {known ? (
        <>
          <Typed text={known.text} /> <Time at={known.at} />
        </>
      ) : (
        <NotedBalance provider={provider} />
      )}
      {provider.outOfFundsAt !== null && (
        <>
          {" "}
          <Badge state="out of funds" tone="bad" /> <Time at={provider.outOfFundsAt} />
        </>
      )}
    </>
  );
}

/** The balance that was last read for the alert about low balances. */
function NotedBalance({ provider }: { provider: Provider }) {
  const { balanceMicros, balanceCurrency, balanceAt } = provider;
  if (balanceMicros === null) return <>not asked</>;
  return (
    <>
      <Typed text={`${formatMicros(balanceMicros)} ${balanceCurrency ?? ""}`.trim()} />{" "}
      <Time at={balanceAt} />
    </>
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
  const asked = form.isChecked("untested") ? null : await ask(panel, address);
  if (asked?.ok === false) {
    const { text } = asked;
    form.addError(
      "key",
      `${text} It was not added: check the address and the key, or add it untested`,
    );
    form.check();
  }
  const { providerId } = await submission.submit("createProvider", { name, ...address, ...terms });
  if (asked === null) {
    return { to: `/providers/${name}`, note: `${name} was added, and not tested.` };
  }
  await keep(panel, providerId, asked.balance!);
  return { to: `/providers/${name}`, note: `${name} was added. ${asked.text}` };
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

/** Tests the address and the key by asking for our balance. */
export async function testAddress(
  panel: Panel,
  provider: ProviderAddress & Pick<Provider, "providerId">,
): Promise<{ ok: boolean; text: string }> {
  const asked = await ask(panel, provider);
  if (asked.ok) await keep(panel, provider.providerId, asked.balance!);
  return asked;
}

async function ask(
  panel: Panel,
  address: ProviderAddress,
): Promise<{ ok: boolean; text: string; balance?: string }> {
  try {
    const asked = await panel.connect(address).balance(new AbortController().signal);
    const balance = `${asked.balance} ${asked.currency}`.trim();
    return { ok: true, text: `It answers: our balance there is ${balance}.`, balance };
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    return { ok: false, text: `The test failed: ${error.message}.` };
  }
}

/** Stores a balance for the pages. */
async function keep(panel: Panel, providerId: number, text: string): Promise<void> {
  const known = balances.get(panel.connect) ?? new Map<number, { text: string; at: number }>();
  balances.set(panel.connect, known.set(providerId, { text, at: panel.now() }));
  await panel.writer.submit("noteProviderSuccess", { providerId });
}
