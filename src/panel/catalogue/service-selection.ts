// The services that were selected in the catalogue: those that were ticked, or all that match its filters.

import { listServicesAfter } from "../../db/catalogue/service-lists.ts";
import { findService, type Service } from "../../db/catalogue/services.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { Form as Values } from "../../web/server/form.ts";
import type { Submission } from "../server/call.ts";
import { filterOf } from "./service-filters.ts";

/** Limit for "all services", above the size of any catalogue. */
const ALL = 10_000_000;

/** Reads the selected services. `field`: the field that shows an empty selection. Refuses: service_not_found. */
export function selectedServices(submission: Submission, field: string): Promise<Service[]> {
  const { form } = submission;
  const ids = [...new Set(form.all("service"))];
  const isWholeList = form.isChecked("all");
  if (ids.length === 0 && !isWholeList) form.addError(field, "Select services, or the whole list");
  form.check();
  return submission.read((reader) => {
    if (isWholeList) {
      const filters = new Values(new URLSearchParams(form.raw("query")));
      const { payer: _, ...filter } = filterOf(filters, reader);
      return listServicesAfter(reader, filter, null, ALL).rows;
    }
    return reader.each(ids, (id) => {
      const service = findService(reader, id);
      if (!service) throw refusal("service_not_found");
      return service;
    });
  });
}

/** Returns the path of the list that the form was sent from, with its filters. */
export function listPath({ form }: Submission): string {
  const query = form.raw("query");
  return query === "" ? "/services" : `/services?${new URLSearchParams(query)}`;
}
