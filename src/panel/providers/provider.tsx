// One provider: its address and key, a test of both, and the sync of its list into the catalogue.

/** @jsxImportSource preact */

import { countForeignCosts } from "../../db/delivery/costs.ts";
import { type HeldOrders, readHeldOrders } from "../../db/delivery/held-orders.ts";
import { countAttemptsSince } from "../../db/providers/provider-figures.ts";
import type { Reader } from "../../db/port/port.ts";
import { findProvider, type Provider, readProviderOrders } from "../../db/providers/providers.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { listServicesOfProvider } from "../../db/catalogue/services.ts";
import { readCategoryMarkups } from "../../domain/providers/pricing.ts";
import { expectedCurrency } from "../../domain/delivery/costs.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { counted, IDENTIFIER_FORM } from "../../domain/values/text.ts";
import { utcText } from "../../domain/values/times.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Box, Field, Form } from "../../web/components/fields.tsx";
import { Facts } from "../../web/components/lists.tsx";
import { Held, HoldForm } from "./fund-holds.tsx";
import { States } from "./provider-states.tsx";
import { askBalance, Balance } from "./provider-balances.tsx";
import { ProviderHead, providerPath, UNKNOWN_TAB } from "./provider-head.tsx";
import { CurrencyFields, currencyOf, Errors, requireKey, requireUrl } from "./providers.tsx";
import { Badge, Sentence, Time, Typed } from "../../web/components/shown.tsx";
import { SyncSettings } from "./sync-settings.tsx";
import { DAY_MS } from "../../domain/values/spans.ts";

/** What every page of a provider reads. */
function readProvider(reader: Reader, name: string) {
  const provider = requireProvider(reader, name);
  return { provider, orders: readProviderOrders(reader, provider.providerId) };
}

export async function providerPage(call: Call, panel: Panel): Promise<View> {
  const since = panel.now() - DAY_MS;
  const { provider, held, orders, attempts, uncounted } = await call.read((reader) => {
    const found = readProvider(reader, call.params["provider"]!);
    const { providerId, pausedBy } = found.provider;
    return {
      ...found,
      held: pausedBy === "funds" ? readHeldOrders(reader, providerId) : null,
      uncounted: countForeignCosts(reader).get(providerId) ?? 0,
      attempts: countAttemptsSince(reader, since).filter((each) => each.providerId === providerId),
    };
  });
  const { name } = provider;
  const path = providerPath(name);
  const isUnknown = orders.unknown > 0;
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  return {
    title: `Provider ${name}`,
    body: (
      <>
        <ProviderHead provider={provider} tab="" unknown={orders.unknown} mayChange={mayChange} />
        {provider.pausedAt !== null && <Paused {...{ provider, held, mayChange }} />}
        {provider.syncHeld !== null && (
          <p class="notice busy">
            The scheduled sync was not applied: <Typed text={provider.syncHeld} />.{" "}
            <a href={`${path}/prices`}>Check its changes, and apply them by hand.</a>
          </p>
        )}
        <div class="columns">
          <section class="card">
            <Facts
              facts={[
                ["Balance", <Balance provider={provider} panel={panel} />],
                ["Alert below", lowBalanceText(provider)],
                ["Open orders", <a href={`/orders?provider=${name}`}>{orders.open}</a>],
                [
                  "Unknown",
                  isUnknown ? (
                    <a href={path + UNKNOWN_TAB}>
                      <Badge state={`${orders.unknown} to settle`} tone="bad" />
                    </a>
                  ) : (
                    "0"
                  ),
                ],
                ["Errors in 24 h", <Errors attempts={attempts} />],
                ["Last success (UTC)", <Time at={provider.lastSuccessAt} />],
                ["All orders checked since (UTC)", <Time at={orders.oldestUncheckedAt} />],
                ["Its currency", <Currency provider={provider} uncounted={uncounted} />],
                ["Markup", markupText(provider)],
                ["Last sync (UTC)", <LastSync provider={provider} />],
                ["Address", <Typed text={provider.url} />],
                ["Added (UTC)", <Time at={provider.createdAt} />],
              ]}
            />
            <div class="actions">
              {mayChange && (
                <Form action={`${path}/test`}>
                  <button>Test it: ask for our balance</button>
                </Form>
              )}
              <a href={`/services?provider=${name}`}>Its services</a>
              <a href={`/audit?subject=${name}`}>Changes in the audit log</a>
            </div>
          </section>
          {mayChange && <States provider={provider} path={path} />}
        </div>
      </>
    ),
  };
}

/** The page with the settings of the provider's syncs (markup, rounding, schedule), and a form for a sync by hand. */
export async function providerPricesPage(call: Call): Promise<View> {
  const { provider, orders, categories } = await call.read((reader) => {
    const found = readProvider(reader, call.params["provider"]!);
    const services = listServicesOfProvider(reader, found.provider.providerId);
    return { ...found, categories: [...new Set(services.map(({ category }) => category))] };
  });
  const path = providerPath(provider.name);
  const mayChange = mayAct(call.visitor.administrator.role, "operator");
  return {
    title: `Prices of ${provider.name}`,
    body: (
      <>
        <ProviderHead
          provider={provider}
          tab="/prices"
          unknown={orders.unknown}
          mayChange={mayChange}
        />
        {mayChange ? (
          <div class="columns">
            <SyncForm provider={provider} path={path} />
            <SyncSettings provider={provider} categories={categories} path={path} />
          </div>
        ) : (
          <p>Markup: {markupText(provider)}.</p>
        )}
      </>
    ),
  };
}

export async function providerSettingsPage(call: Call): Promise<View> {
  const { provider, orders } = await call.read((reader) =>
    readProvider(reader, call.params["provider"]!),
  );
  const path = providerPath(provider.name);
  return {
    title: `Settings of ${provider.name}`,
    body: (
      <>
        <ProviderHead provider={provider} tab="/settings" unknown={orders.unknown} mayChange />
        <div class="columns">
          <Connection provider={provider} path={path} />
          <HoldForm provider={provider} path={path} />
        </div>
      </>
    ),
  };
}

function markupText({ markup, categoryMarkups, roundPrices }: Provider): string {
  const own = Object.keys(readCategoryMarkups(categoryMarkups)).length;
  const parts = [
    markup === null ? "none is stored" : `${markup} %`,
    ...(own === 0 ? [] : [`another for ${own === 1 ? "a category" : `${own} categories`}`]),
    ...(roundPrices === "none" ? [] : [`rounded up to ${roundPrices}`]),
  ];
  return parts.join(", ");
}

function Paused({
  provider,
  held,
  mayChange,
}: {
  provider: Provider;
  held: HeldOrders | null;
  mayChange: boolean;
}) {
  const { pausedAt, pausedBy, pausedUntil, unknownInRow } = provider;
  return (
    <p class="notice busy">
      {held ? (
        <Held provider={provider} held={held} />
      ) : pausedBy === "operator" ? (
        <>
          An operator paused it: it gets no orders until{" "}
          {pausedUntil === null ? "it is resumed" : <Sentence text={utcText(pausedUntil)} />}.
        </>
      ) : (
        `Unknown submissions in a row: ${unknownInRow}. It gets no orders until it reports our balance or is resumed.`
      )}{" "}
      Since {pausedAt !== null && <Sentence text={utcText(pausedAt)} />}. Queued orders go to their
      next route, or wait. {mayChange && <a href="#state">Resume it</a>}
    </p>
  );
}

/** The time at which a sync last read the list, and whether that list was not applied. */
function LastSync({ provider: { syncedAt, syncHeld } }: { provider: Provider }) {
  return (
    <>
      <Time at={syncedAt} /> {syncHeld !== null && <Badge state="not applied" tone="busy" />}
    </>
  );
}

function Currency({ provider, uncounted }: { provider: Provider; uncounted: number }) {
  const { rateToUsd, foreignCurrency } = provider;
  return (
    <>
      {expectedCurrency(provider) ?? "not known yet"}, 1 is {rateToUsd} USD{" "}
      {uncounted > 0 && (
        <Badge
          state={`cost of ${counted(uncounted, "order")} in ${foreignCurrency ?? "another currency"}: not counted`}
          tone="bad"
        />
      )}
    </>
  );
}

function SyncForm({ provider, path }: { provider: Provider; path: string }) {
  return (
    <section class="card">
      <Form action={`${path}/sync`} submit="Preview the sync">
        <h2>Sync its services</h2>
        <p>Brings its list into the catalogue. You see every change first.</p>
        {provider.markup === null && (
          <Field
            name="markup"
            label="Markup in percent"
            hint="added to its rates; saved for later syncs"
            inputmode="decimal"
            required
          />
        )}
        <Field
          name="only"
          label="Only these services"
          hint="their ids at the provider, separated by commas; empty: all"
        />
        <Box name="private" label="New services only for resellers with a grant" />
      </Form>
    </section>
  );
}

function Connection({ provider, path }: { provider: Provider; path: string }) {
  return (
    <section class="card">
      <Form action={path} submit="Save">
        <h2>Address and key</h2>
        <Field name="url" label="Address of its API" type="url" value={provider.url} />
        <Field
          name="key"
          label="Another key"
          type="password"
          hint="empty: keep the present key; required for a new address; never shown"
        />
        <Field name="name" label="Name" hint={IDENTIFIER_FORM} value={provider.name} />
        <CurrencyFields provider={provider} />
        <Field
          name="low-balance"
          label="Alert when our balance at the provider falls below"
          inputmode="decimal"
          value={provider.lowBalanceMicros === null ? "" : formatMicros(provider.lowBalanceMicros)}
          hint="in the provider's currency; empty: no alert"
        />
      </Form>
    </section>
  );
}

function lowBalanceText({ lowBalanceMicros: micros, balanceCurrency }: Provider): string {
  return micros === null
    ? "no threshold"
    : `${formatMicros(micros)} ${balanceCurrency ?? ""}`.trim();
}

/** Returns the provider. Throws provider_not_found. */
export function requireProvider(reader: Reader, name: string): Provider {
  const provider = findProvider(reader, name);
  if (!provider) throw refusal("provider_not_found");
  return provider;
}

export async function updateProvider(submission: Submission): Promise<Redirect> {
  const { form, params } = submission;
  const url = requireUrl(form);
  const key = requireKey(form);
  const name = form.optionalIdentifier("name");
  const provider = await submission.read((reader) => requireProvider(reader, params["provider"]!));
  const terms = currencyOf(form);
  // A rate is changed only if it differs. While costs wait for a rate, sending the same rate confirms it.
  const isSame =
    provider.foreignCurrency === null &&
    (terms.rateToUsd ?? "1") === provider.rateToUsd &&
    (terms.currency ?? null) === provider.currency;
  // Without this field the threshold stays unchanged.
  const hasThreshold = form.values.has("low-balance");
  const lowBalanceMicros = form.raw("low-balance") === "" ? null : form.amount("low-balance");
  const changes = {
    ...(isSame ? {} : terms),
    ...(hasThreshold && { lowBalanceMicros }),
    ...(url === null ? {} : { url }),
    ...(key === null ? {} : { key }),
    ...(name === null ? {} : { name }),
  };
  await submission.submit("updateProvider", { name: params["provider"]!, changes });
  return {
    to: `${providerPath(name ?? params["provider"]!)}/settings`,
    note: "The provider was saved. Calls use these settings from now on.",
  };
}

export async function testProvider(submission: Submission, panel: Panel): Promise<Redirect> {
  const name = submission.params["provider"]!;
  const provider = await submission.read((reader) => requireProvider(reader, name));
  const { ok, text } = await askBalance(panel, provider);
  if (!ok) submission.form.addError("", text);
  submission.form.check();
  return { to: `/providers/${name}`, note: text };
}
