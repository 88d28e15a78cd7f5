// Commands of this folder, by name.

import { command, one } from "../batch/command.ts";
import { proveAddress, setMemberEmail } from "./addresses.ts";
import { closeInspection, endInspections, offerInspection, openInspection } from "./inspections.ts";
import {
  inviteMember,
  inviteOwnMember,
  resetMember,
  resetOwnMember,
  setMemberActive,
  setMemberRole,
  setOwnMemberActive,
  setOwnMemberRole,
  updateMember,
} from "./members.ts";
import { addNotice, removeNotice } from "./notices.ts";
import { makeMemberRequest, placeMemberOrder, placeMemberOrders } from "./portal-orders.ts";
import { createOwnKey, deactivateOwnKey, rotateOwnKey } from "./portal-keys.ts";
import { openOwnTestAccount, setLowBalance, setPortal } from "./portal.ts";
import { turnOffMails } from "./mail-choices.ts";
import { askReset } from "./password-resets.ts";
import {
  approveRegistration,
  askAccount,
  confirmAccount,
  declineRegistration,
  openAccount,
  proveRegistration,
  register,
} from "./registrations.ts";

/** A member and its reseller. */
const two = () => 2;

export const commands = {
  inviteMember: command(inviteMember, { ids: one }),
  inviteOwnMember: command(inviteOwnMember, { ids: one }),
  resetMember: command(resetMember),
  resetOwnMember: command(resetOwnMember),
  setMemberRole: command(setMemberRole),
  setOwnMemberRole: command(setOwnMemberRole),
  setMemberActive: command(setMemberActive),
  setOwnMemberActive: command(setOwnMemberActive),
  updateMember: command(updateMember),
  proveAddress: command(proveAddress),
  setMemberEmail: command(setMemberEmail),
  placeMemberOrder: command(placeMemberOrder, { ids: one }),
  placeMemberOrders: command(placeMemberOrders, { ids: ({ orders }) => orders.length }),
  makeMemberRequest: command(makeMemberRequest, { ids: one }),
  createOwnKey: command(createOwnKey, { ids: two }),
  rotateOwnKey: command(rotateOwnKey, { ids: one }),
  deactivateOwnKey: command(deactivateOwnKey),
  openOwnTestAccount: command(openOwnTestAccount, { ids: one }),
  setPortal: command(setPortal),
  setLowBalance: command(setLowBalance),
  addNotice: command(addNotice, { ids: one }),
  removeNotice: command(removeNotice),
  offerInspection: command(offerInspection),
  openInspection: command(openInspection),
  closeInspection: command(closeInspection),
  endInspections: command(endInspections),
  register: command(register, { ids: one }),
  askReset: command(askReset),
  turnOffMails: command(turnOffMails),
  askAccount: command(askAccount, { ids: one }),
  confirmAccount: command(confirmAccount, { ids: two }),
  proveRegistration: command(proveRegistration),
  openAccount: command(openAccount, { ids: two }),
  approveRegistration: command(approveRegistration, { ids: two }),
  declineRegistration: command(declineRegistration),
};
