// Commands of this folder, by name.

import { command } from "../batch/command.ts";
import {
  acceptInvitation,
  enableSecondFactor,
  inviteAdministrator,
  offerSecondFactor,
  removeSecondFactor,
  revokeSessions,
  setAdministratorActive,
  setAdministratorPassword,
  setAdministratorRole,
} from "./administrators.ts";
import {
  beginProof,
  beginSignIn,
  endAttempt,
  endSession,
  noteSession,
  openSession,
  passCode,
  proveAgain,
  takeConfirmation,
} from "../sign-ins/sign-ins.ts";

export const commands = {
  inviteAdministrator: command(inviteAdministrator),
  acceptInvitation: command(acceptInvitation),
  setAdministratorPassword: command(setAdministratorPassword),
  setAdministratorRole: command(setAdministratorRole),
  setAdministratorActive: command(setAdministratorActive),
  revokeSessions: command(revokeSessions),
  offerSecondFactor: command(offerSecondFactor),
  enableSecondFactor: command(enableSecondFactor),
  removeSecondFactor: command(removeSecondFactor),
  beginSignIn: command(beginSignIn),
  beginProof: command(beginProof),
  openSession: command(openSession),
  passCode: command(passCode),
  proveAgain: command(proveAgain),
  noteSession: command(noteSession),
  endSession: command(endSession),
  endAttempt: command(endAttempt),
  takeConfirmation: command(takeConfirmation),
};
