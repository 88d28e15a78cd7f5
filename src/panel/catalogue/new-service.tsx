// A new service, or a duplicate of one: its terms are in the form, to be changed before it is added.

/** @jsxImportSource preact */

import { findService } from "../../db/catalogue/services.ts";
import { listProviders } from "../../db/providers/providers.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { IDENTIFIER_FORM } from "../../domain/values/text.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import { confirmBelowCost } from "./margins.tsx";
import { TermsFields, termsOf } from "./service-terms.tsx";

export async function newServicePage(call: Call): Promise<View> {
  const from = call.filters.raw("from");
  const { service, providers } = await call.read((reader) => {
    const service = from === "" ? undefined : findService(reader, from);
    if (from !== "" && !service) throw refusal("service_not_found");
    return { service, providers: listProviders(reader) };
  });
  const provider = providers.find(({ providerId }) => providerId === service?.providerId)?.name;
  const title = service ? "Duplicate a service" : "New service";
  return {
    title,
    body: (
      <>
        <PageHead title={title} />
        <section class="card narrow-card">
          <Form action="/services" submit="Add the service">
            <TermsFields
              {...(service ? { service: { ...service, name: `${service.name} (copy)` } } : {})}
              names={providers.map(({ name }) => name)}
              {...(provider ? { provider } : {})}
            />
            <Field name="id" label="Id" hint={`${IDENTIFIER_FORM}; empty: a new one`} />
          </Form>
        </section>
      </>
    ),
  };
}

export async function createService(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const { terms, serviceProvider } = termsOf(form);
  const id = form.optionalIdentifier("id");
  const provider = serviceProvider === null ? {} : { provider: serviceProvider };
  form.check();
  await confirmBelowCost(submission, `Add ${terms.name} below cost`, (reader) => {
    const found = listProviders(reader).find(({ name }) => name === serviceProvider?.name);
    const route = {
      providerId: found?.providerId ?? null,
      providerService: serviceProvider?.service ?? null,
    };
    return [{ name: terms.name, before: null, after: { ...terms, ...route } }];
  });
  const created = await submission.submit("createService", { id, ...terms, ...provider });
  return { to: `/services/${created.id}`, note: `${created.name} was added.` };
}
