// Commands of this folder, by name.

import { command, one } from "../batch/command.ts";
import { acceptLateReport, dismissLateReports } from "./late-reports.ts";
import { correctLink, placeOrderFor, resendOrder } from "./operator-orders.ts";
import {
  countOrders,
  needsOfOrders,
  needsOfOrdersOnce,
  placeOrders,
  placeOrdersOnce,
} from "./order-batches.ts";
import { decideRequest, makeRequest, makeRequestOnce, makeRequests } from "./order-requests.ts";
import {
  needsOfOrder,
  needsOfOrderOnce,
  noteOrder,
  placeOrder,
  placeOrderForResponse,
  placeOrderOnce,
  placeOrderOnceForResponse,
  progressOrder,
  transitionOrder,
} from "./orders.ts";
import { transitionTestOrder } from "./test-orders.ts";

export const commands = {
  placeOrder: command(placeOrder, { ids: one, needs: needsOfOrder }),
  placeOrderForResponse: command(placeOrderForResponse, { ids: one, needs: needsOfOrder }),
  placeOrders: command(placeOrders, { ids: countOrders, needs: needsOfOrders }),
  placeOrdersOnce: command(placeOrdersOnce, { ids: countOrders, needs: needsOfOrdersOnce }),
  placeOrderFor: command(placeOrderFor, { ids: one }),
  resendOrder: command(resendOrder, { ids: one }),
  correctLink: command(correctLink),
  transitionOrder: command(transitionOrder),
  transitionTestOrder: command(transitionTestOrder),
  progressOrder: command(progressOrder),
  noteOrder: command(noteOrder),
  makeRequest: command(makeRequest, { ids: one }),
  makeRequestOnce: command(makeRequestOnce, { ids: one }),
  makeRequests: command(makeRequests, { ids: ({ ids }) => ids.length }),
  decideRequest: command(decideRequest),
  acceptLateReport: command(acceptLateReport),
  dismissLateReports: command(dismissLateReports),
  placeOrderOnce: command(placeOrderOnce, { ids: one, needs: needsOfOrderOnce }),
  placeOrderOnceForResponse: command(placeOrderOnceForResponse, {
    ids: one,
    needs: needsOfOrderOnce,
  }),
};
