// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import {
  activateUser,
  changeContact,
  deactivateUser,
  eraseUser,
  renameUser,
} from "./user-account.tsx";
import { adjustBalance } from "./user-balance.tsx";
import { setLimits } from "./reseller-limits.tsx";
import { setBilling } from "./user-billing.tsx";
import { setDiscount } from "./user-discount.tsx";
import {
  activateKey,
  createKey,
  deactivateAllKeys,
  deactivateKey,
  rotateKey,
  updateKey,
} from "./user-keys.tsx";
import { newOrderPage, placeOrder } from "./user-order.tsx";
import { removeOwnPrice, setOwnPrice } from "./user-prices.tsx";
import { transactionsCsv, transactionsPage } from "./user-transactions.tsx";
import { createWebhook } from "./user-webhooks.tsx";
import { userPage } from "./user.tsx";
import { importPage, importUsers } from "./user-import.tsx";
import { createUser, usersPage } from "./users.tsx";

export const routes: readonly Route[] = [
  get("/users", "support", usersPage),
  post("/users", "operator", createUser, "/users"),
  get("/import-users", "owner", importPage),
  post("/import-users", "owner", importUsers, "/import-users"),
  get("/users/:user", "support", userPage),
  post("/users/:user/balance", "owner", adjustBalance, "/users/:user"),
  post("/users/:user/discount", "operator", setDiscount, "/users/:user"),
  post("/users/:user/billing", "operator", setBilling, "/users/:user"),
  post("/users/:user/limits", "operator", setLimits, "/users/:user"),
  post("/users/:user/rename", "operator", renameUser, "/users/:user"),
  post("/users/:user/contact", "operator", changeContact, "/users/:user"),
  post("/users/:user/deactivate", "operator", deactivateUser, "/users/:user"),
  post("/users/:user/activate", "operator", activateUser, "/users/:user"),
  post("/users/:user/erase", "owner", eraseUser, "/users/:user"),
  get("/users/:user/order", "operator", newOrderPage),
  get("/users/:user/order/:service", "operator", newOrderPage),
  post("/users/:user/order/:service", "operator", placeOrder, "/users/:user/order/:service"),
  get("/users/:user/transactions", "support", transactionsPage),
  get("/users/:user/transactions.csv", "support", transactionsCsv),
  post("/users/:user/keys", "operator", createKey, "/users/:user"),
  post("/users/:user/keys/deactivate-all", "operator", deactivateAllKeys, "/users/:user"),
  post("/users/:user/keys/:key/update", "operator", updateKey, "/users/:user"),
  post("/users/:user/keys/:key/rotate", "operator", rotateKey, "/users/:user"),
  post("/users/:user/keys/:key/activate", "operator", activateKey, "/users/:user"),
  post("/users/:user/keys/:key/deactivate", "operator", deactivateKey, "/users/:user"),
  post("/users/:user/webhooks", "operator", createWebhook, "/users/:user"),
  post("/users/:user/prices", "operator", setOwnPrice, "/users/:user"),
  post("/users/:user/prices/remove", "operator", removeOwnPrice, "/users/:user"),
];
