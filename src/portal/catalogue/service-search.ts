// Finds services by category and by words of their number, name or category.

import type { NumberedService } from "../../db/catalogue/services.ts";
import type { Form } from "../../web/server/form.ts";

export interface ServiceSearch {
  /** Categories of all services, in their order. */
  categories: string[];
  found: NumberedService[];
}

/** Reads `category` and `q` of the filters. Empty filters find all services. */
export function searchServices(services: readonly NumberedService[], filters: Form): ServiceSearch {
  const category = filters.raw("category");
  const words = filters.raw("q").toLowerCase().split(/\s+/).filter(Boolean);
  return {
    categories: [...new Set(services.map((service) => service.category))],
    found: services.filter(
      (service) =>
        (category === "" || service.category === category) &&
        words.every((word) => textOf(service).includes(word)),
    ),
  };
}

function textOf({ number, name, category }: NumberedService): string {
  return `${number} ${name} ${category}`.toLowerCase();
}
