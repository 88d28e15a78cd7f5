// Commands of this folder, by name. Each names the site whose persons and sessions it concerns.

import { command } from "../batch/command.ts";
import {
  acceptInvitation,
  enableSecondFactor,
  offerSecondFactor,
  removeSecondFactor,
  revokeSessions,
  setPassword,
} from "./credentials.ts";
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
} from "./sign-ins.ts";

export const commands = {
  acceptInvitation: command(acceptInvitation),
  setPassword: command(setPassword),
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
