// Routes of this folder.

import { get, post, postForAll, type Route } from "../server/route.ts";
import { confirm, confirmPage, register, registrationPage } from "./registration.tsx";
import {
  changeRole,
  disableMember,
  enableMember,
  inviteAgain,
  inviteMember,
  resetMemberPassword,
  teamPage,
} from "./team.tsx";
import { askReset, forgottenPage } from "./forgotten.tsx";
import {
  endInspection,
  inspectionEndedPage,
  inspectionPage,
  openInspection,
} from "./inspections.tsx";
import {
  enableSecondFactor,
  offerSecondFactor,
  removeOwnSecondFactor,
  secondFactorPage,
} from "./second-factor.tsx";
import { addressPage, proveAddress } from "./address.tsx";
import { setUp, setUpPage } from "./set-up.tsx";
import { endOtherSessions, endOwnSession } from "./sessions.tsx";
import { changePassword, saveSettings, setLowBalance, settingsPage } from "./settings.tsx";
import { unsubscribe, unsubscribePage } from "./unsubscribe.tsx";
import { chooseLanguage, codePage, passCode, signIn, signInPage, signOut } from "./sign-in.tsx";

export const routes: readonly Route[] = [
  get("/sign-in", "anyone", signInPage),
  post("/sign-in", "anyone", signIn, "/sign-in"),
  get("/sign-in/code", "anyone", codePage),
  post("/sign-in/code", "anyone", passCode, "/sign-in/code"),
  post("/sign-out", "anyone", signOut, "/sign-in"),
  post("/language", "anyone", chooseLanguage, "/sign-in"),
  get("/set-up", "anyone", setUpPage),
  post("/set-up", "anyone", setUp, "/set-up"),
  get("/forgotten", "anyone", forgottenPage),
  post("/forgotten", "anyone", askReset, "/forgotten"),
  get("/register", "anyone", registrationPage),
  post("/register", "anyone", register, "/register"),
  get("/register/confirm", "anyone", confirmPage),
  post("/register/confirm", "anyone", confirm, "/register/confirm"),
  get("/unsubscribe/:mail", "anyone", unsubscribePage),
  postForAll("/unsubscribe/:mail", unsubscribe),
  get("/inspection", "anyone", inspectionPage),
  post("/inspection", "anyone", openInspection, "/inspection"),
  post("/inspection/end", "anyone", endInspection, "/inspection/ended"),
  get("/inspection/ended", "anyone", inspectionEndedPage),
  get("/settings", "read", settingsPage),
  post("/settings", "read", saveSettings, "/settings"),
  get("/settings/address", "read", addressPage),
  post("/settings/address", "read", proveAddress, "/settings/address"),
  post("/settings/low-balance", "members", setLowBalance, "/settings"),
  post("/settings/password", "read", changePassword, "/settings"),
  post("/settings/sessions", "read", endOwnSession, "/settings"),
  post("/settings/sessions/others", "read", endOtherSessions, "/settings"),
  get("/members", "members", teamPage),
  post("/members", "members", inviteMember, "/members"),
  post("/members/:member/role", "members", changeRole, "/members"),
  post("/members/:member/disable", "members", disableMember, "/members"),
  post("/members/:member/enable", "members", enableMember, "/members"),
  post("/members/:member/invite", "members", inviteAgain, "/members"),
  post("/members/:member/password", "members", resetMemberPassword, "/members"),
  get("/settings/second-factor", "read", secondFactorPage),
  post("/settings/second-factor/offer", "read", offerSecondFactor, "/settings/second-factor"),
  post("/settings/second-factor/enable", "read", enableSecondFactor, "/settings/second-factor"),
  post("/settings/second-factor/remove", "read", removeOwnSecondFactor, "/settings/second-factor"),
];
