// Routes of this folder.

import { get, post, type Route } from "../server/route.ts";
import {
  changeEmail,
  changeRole,
  disableMember,
  enableMember,
  endMembersSessions,
  inviteAgain,
  inviteMember,
  removeMembersSecondFactor,
  resetMember,
  setMemberKeys,
  turnPortalOff,
  turnPortalOn,
} from "./member-changes.tsx";
import { viewPortal } from "./inspections.tsx";
import { membersPage } from "./members.tsx";
import { addNotice, noticesPage, removeNotice } from "./notices.tsx";
import { approveRegistration, declineRegistration, registrationsPage } from "./registrations.tsx";
import { userMembersPage } from "./user-members.tsx";

const OF_USER = "/users/:user/members";
const REGISTRATIONS = "/members/registrations";

export const routes: readonly Route[] = [
  get("/members", "support", membersPage),
  get(REGISTRATIONS, "support", registrationsPage),
  post(`${REGISTRATIONS}/:registration/approve`, "operator", approveRegistration, REGISTRATIONS),
  post(`${REGISTRATIONS}/:registration/decline`, "operator", declineRegistration, REGISTRATIONS),
  get("/members/notices", "support", noticesPage),
  post("/members/notices", "operator", addNotice, "/members/notices"),
  post("/members/notices/:notice/remove", "operator", removeNotice, "/members/notices"),
  get(OF_USER, "support", userMembersPage),
  post(OF_USER, "operator", inviteMember, OF_USER),
  post(`${OF_USER}/view`, "support", viewPortal, OF_USER),
  post(`${OF_USER}/:member/role`, "operator", changeRole, OF_USER),
  post(`${OF_USER}/:member/email`, "operator", changeEmail, OF_USER),
  post(`${OF_USER}/:member/disable`, "operator", disableMember, OF_USER),
  post(`${OF_USER}/:member/enable`, "operator", enableMember, OF_USER),
  post(`${OF_USER}/:member/invite`, "operator", inviteAgain, OF_USER),
  post(`${OF_USER}/:member/password`, "operator", resetMember, OF_USER),
  post(`${OF_USER}/:member/second-factor`, "operator", removeMembersSecondFactor, OF_USER),
  post(`${OF_USER}/:member/sessions`, "operator", endMembersSessions, OF_USER),
  post("/users/:user/portal/off", "operator", turnPortalOff, OF_USER),
  post("/users/:user/portal/on", "operator", turnPortalOn, OF_USER),
  post("/users/:user/portal/keys", "operator", setMemberKeys, OF_USER),
];
