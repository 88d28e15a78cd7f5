// Commands of this folder, each a group below `admin`.

import { declareOrderRequests } from "./order-requests.ts";
import { declareOrders } from "./orders.ts";

export const commands = [declareOrders, declareOrderRequests];
