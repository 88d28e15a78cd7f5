// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import { accountPage, changePassword, changeTimeZone, endOwnSession } from "./account.tsx";
import {
  administratorsPage,
  changeRole,
  disable,
  enable,
  endOthersSession,
  invite,
  removeOthersSecondFactor,
} from "./administrators.tsx";
import { auditPage } from "./audit.tsx";
import {
  enableSecondFactor,
  offerSecondFactor,
  removeOwnSecondFactor,
  secondFactorPage,
} from "./second-factor.tsx";
import { setUp, setUpPage } from "./set-up.tsx";
import { codePage, passCode, signIn, signInPage, signOut } from "./sign-in.tsx";

export const routes: readonly Route[] = [
  get("/sign-in", "anyone", signInPage),
  post("/sign-in", "anyone", signIn, "/sign-in"),
  get("/sign-in/code", "anyone", codePage),
  post("/sign-in/code", "anyone", passCode, "/sign-in/code"),
  post("/sign-out", "anyone", signOut, "/sign-in"),
  get("/setup", "anyone", setUpPage),
  post("/setup", "anyone", setUp, "/setup"),
  get("/audit", "support", auditPage),
  get("/administrators", "owner", administratorsPage),
  post("/administrators", "owner", invite, "/administrators"),
  post("/administrators/sessions", "owner", endOthersSession, "/administrators"),
  post("/administrators/:name/role", "owner", changeRole, "/administrators"),
  post("/administrators/:name/disable", "owner", disable, "/administrators"),
  post("/administrators/:name/enable", "owner", enable, "/administrators"),
  post("/administrators/:name/second-factor", "owner", removeOthersSecondFactor, "/administrators"),
  get("/account", "support", accountPage),
  post("/account/password", "support", changePassword, "/account"),
  post("/account/time-zone", "support", changeTimeZone, "/account"),
  post("/account/sessions", "support", endOwnSession, "/account"),
  get("/account/second-factor", "support", secondFactorPage),
  post("/account/second-factor/offer", "support", offerSecondFactor, "/account/second-factor"),
  post("/account/second-factor/enable", "support", enableSecondFactor, "/account/second-factor"),
  post("/account/second-factor/remove", "support", removeOwnSecondFactor, "/account/second-factor"),
];
