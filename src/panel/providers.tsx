// Providers: what needs attention at each, and new ones.

/** @jsxImportSource preact */

import { type AttemptCount, countAttemptsSince } from "../db/provider-figures.ts";
import {
  listProviders,
  type Provider,
  type ProviderOrders,
  readProviderOrders,
} from "../db/providers.ts";
import { mayAct } from "../domain/administrators.ts";
import { CURRENCY_FORM, parseCurrency, parseRateToUsd, RATE_TO_USD_FORM } from "../domain/costs.ts";
import { formatMicros } from "../domain/money.ts";
import { isProviderKey, isProviderUrl } from "../domain/providers.ts";
import { IDENTIFIER_FORM } from "../domain/text.ts";
import { PROTOCOL_DEFAULT, PROTOCOL_NAMES } from "../providers/protocols.ts";
import { ProviderFailure } from "../providers/provider.ts";
import type { Call, Panel, Redirect, Submission, View } from "./call.ts";
import { Choice, Field, Form } from "./fields.tsx";
import type { Form as Values } from "./form.ts";
import { List } from "./lists.tsx";
import { Badge, Time, Typed } from "./shown.tsx";

const DAY_MS = 86_400_000;
const URL_LIMIT = 2000;

export interface ShownProvider extends Provider, ProviderOrders {
  /** Attempts of 24 h by their outcome. */
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
  const mayChange = mayAct(call.administrator.role, "operator");
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
            { heading: "Provider", cell: ({ name }) => <a href={`/providers/${name}`}>{name}</a> },
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
              heading: "Oldest unchecked (UTC)",
              cell: ({ oldestUncheckedAt }) => <Time at={oldestUncheckedAt} />,
            },
            { heading: "Errors of 24 h", cell: ({ attempts }) => <Errors attempts={attempts} /> },
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
                label="Our key there"
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
    <a href={`/orders?provider=${name}&status=PENDING&placement=unknown`}>
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

/** Balances as they were last asked for: a page asks no provider by itself. */
const balances = new WeakMap<Panel["connect"], Map<number, { text: string; at: number }>>();

export function Balance({ provider, panel }: { provider: Provider; panel: Panel }) {
  const known = balances.get(panel.connect)?.get(provider.providerId);
  if (provider.outOfFundsAt !== null) {
    return (
      <>
        <Badge state="out of funds" tone="bad" /> <Time at={provider.outOfFundsAt} />
      </>
    );
  }
  if (!known) return <NotedBalance provider={provider} />;
  return (
    <>
      <Typed text={known.text} /> <Time at={known.at} />
    </>
  );
}

/** Of the last time that it was asked for, to know whether to alert. */
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
  if (form.raw("url") === "") form.note("url", "url is required");
  if (form.raw("key") === "") form.note("key", "key is required");
  const terms = currencyOf(form);
  const created = await submission.submit("createProvider", { name, protocol, url, key, ...terms });
  const tested = await testOf(panel, created);
  return { to: `/providers/${name}`, note: `${name} was added. ${tested.text}` };
}

/** Of a new provider, or as they are. */
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
        hint="empty: USD, or with a rate what it charges in first"
        value={provider?.currency ?? ""}
      />
    </div>
  );
}

/** What was given. */
export function currencyOf(form: Values): { rateToUsd?: string; currency?: string } {
  const [rate, code] = [form.raw("rate-to-usd"), form.raw("currency")];
  const rateToUsd = rate === "" ? undefined : parseRateToUsd(rate);
  const currency = code === "" ? undefined : parseCurrency(code);
  if (rateToUsd === null) form.refuse("rate-to-usd", RATE_TO_USD_FORM);
  if (currency === null) form.refuse("currency", CURRENCY_FORM);
  return { ...(rateToUsd ? { rateToUsd } : {}), ...(currency ? { currency } : {}) };
}

/** Null where none is given. */
export function requireUrl(form: Values): string | null {
  const url = form.optionalText("url", URL_LIMIT);
  if (url !== null && !isProviderUrl(url)) {
    form.refuse("url", "an http or https address without a user name or password");
  }
  return url;
}

/** Null where none is given. */
export function requireKey(form: Values): string | null {
  const key = form.raw("key");
  if (key === "") return null;
  if (!isProviderKey(key)) form.refuse("key", "1 to 1024 visible characters");
  return key;
}

/** Asks for our balance there, which tries the address and the key. */
export async function testOf(
  panel: Panel,
  provider: Pick<Provider, "providerId" | "protocol" | "url" | "key">,
): Promise<{ ok: boolean; text: string }> {
  const { providerId } = provider;
  try {
    const { balance, currency } = await panel
      .connect(provider)
      .balance(new AbortController().signal);
    const text = `${balance} ${currency}`.trim();
    const known = balances.get(panel.connect) ?? new Map<number, { text: string; at: number }>();
    balances.set(panel.connect, known.set(providerId, { text, at: panel.now() }));
    await panel.writer.submit("noteProviderSuccess", { providerId });
    return { ok: true, text: `It answers: our balance there is ${text}.` };
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    return { ok: false, text: `It does not answer as it should: ${error.message}.` };
  }
}
