// Commands of this folder, by name.

import { command, one } from "../batch/command.ts";
import { eraseHistory, eraseUser } from "./erasures.ts";
import {
  createKey,
  deactivateKeys,
  endExpiredKeys,
  countKeyRequests,
  recordKeyUsage,
  rotateKey,
  setKeyActive,
  updateKey,
} from "./keys.ts";
import { createKeys, createUsers } from "./user-import.ts";
import { setLimits } from "./reseller-limits.ts";
import { addUser, createUser, setDiscount, setUserActive, updateUser } from "./users.ts";

export const commands = {
  createUsers: command(createUsers, { ids: ({ users }) => users.length }),
  createKeys: command(createKeys, { ids: ({ keys }) => keys.length }),
  createUser: command(createUser, { ids: one }),
  updateUser: command(updateUser),
  setUserActive: command(setUserActive),
  eraseUser: command(eraseUser),
  eraseHistory: command(eraseHistory),
  setDiscount: command(setDiscount),
  setLimits: command(setLimits),
  addUser: command(addUser, { ids: one }),
  createKey: command(createKey, { ids: ({ test }) => (test ? 2 : 1) }),
  setKeyActive: command(setKeyActive),
  updateKey: command(updateKey),
  deactivateKeys: command(deactivateKeys),
  rotateKey: command(rotateKey, { ids: one }),
  recordKeyUsage: command(recordKeyUsage),
  countKeyRequests: command(countKeyRequests),
  endExpiredKeys: command(endExpiredKeys),
};
