// Commands of this folder, by name.

import { command } from "../batch/command.ts";
import { orderCategories } from "./category-order.ts";
import { importGrants } from "./grants.ts";
import { importServices } from "./service-import.ts";
import { putRoute, removeRoute } from "./service-routes.ts";
import { setServiceActive } from "./service-states.ts";
import {
  changePrices,
  countWithoutId,
  createService,
  deleteService,
  grantService,
  revokeService,
  updateService,
} from "./services.ts";

export const commands = {
  createService: command(createService, { ids: (service) => countWithoutId([service]) }),
  updateService: command(updateService),
  setServiceActive: command(setServiceActive),
  changePrices: command(changePrices),
  importServices: command(importServices, { ids: ({ services }) => countWithoutId(services) }),
  deleteService: command(deleteService),
  grantService: command(grantService),
  importGrants: command(importGrants),
  revokeService: command(revokeService),
  orderCategories: command(orderCategories),
  putRoute: command(putRoute),
  removeRoute: command(removeRoute),
};
