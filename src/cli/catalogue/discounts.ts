// `admin user discount`: sets a reseller's discount from the catalogue prices.

import type { Command } from "commander";
import { countFallingBelowCost } from "../../db/catalogue/service-lists.ts";
import { findUser, findUserByAccount } from "../../db/users/users.ts";
import { counted } from "../../domain/values/text.ts";
import { discountPercent, FULL_DISCOUNT_PPM } from "../../domain/catalogue/prices.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { addConfirmation, confirm, type ConfirmOptions } from "../kernel/confirm.ts";
import { print } from "../output/output.ts";
import { stateJson, userText, shownUser } from "../users/user-output.ts";
import { discount, username } from "../kernel/values.ts";

export function declareDiscount(group: Command): void {
  const command = declare(
    group,
    "discount",
    "give a reseller a discount on the catalogue; its own prices do not change",
    "reseller admin user discount alice 10%",
  )
    .argument("<username>", "the reseller", username)
    .argument("<percent>", "0 to 100, at most four decimals; 0 removes the discount", discount);
  addConfirmation(command).action(
    async (user: string, discountPpm: number, options: CommonOptions & ConfirmOptions) => {
      if (discountPpm === FULL_DISCOUNT_PPM) {
        await confirm(
          options,
          `give ${user} 100 % off`,
          "every service without a price of its own becomes free",
        );
      } else {
        const below = await withDatabase(options, ({ store }) =>
          store.read((reader) => {
            const found = findUser(reader, user);
            return found ? countFallingBelowCost(reader, found, discountPpm) : 0;
          }),
        );
        const what = `give ${user} ${discountPercent(discountPpm)} % off`;
        const losses = `${counted(below, "more service")} would be sold below cost`;
        if (below > 0) await confirm(options, what, losses);
      }
      const changed = await withDatabase(options, async ({ execute, store }) => {
        const { account } = await execute("setDiscount", { username: user, discountPpm });
        return store.read((reader) => shownUser(reader, findUserByAccount(reader, account)!));
      });
      print(options.json, stateJson(changed), () => userText(changed));
    },
  );
}
