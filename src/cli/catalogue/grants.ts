// `admin grant …`: lists the grants of services to resellers, and imports grants from a file.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { listAllGrants, type ListedGrant } from "../../db/catalogue/grants.ts";
import { findService } from "../../db/catalogue/services.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { errorCode, Refusal, refusal, sentenceOf } from "../../domain/values/error-table.ts";
import type { GrantProblem } from "../../domain/catalogue/refusals.ts";
import { counted, countedWrong } from "../../domain/values/text.ts";
import { FileError, RowError, wrongRows } from "../../imports/records.ts";
import { GRANTS_HEADER, type GrantList, grantsCsv, readGrants } from "../../imports/grants.ts";
import { refusedGrants } from "../../operations/catalogue/grants.ts";
import { requireUser } from "../../operations/users/users.ts";
import {
  CommandFailure,
  type CommonOptions,
  declare,
  declareGroup,
  withDatabase,
} from "../kernel/command.ts";
import { addConfirmation, confirm, CONFIRM_ROWS, type ConfirmOptions } from "../kernel/confirm.ts";
import { dollars, print } from "../output/output.ts";
import { readStdinText } from "../kernel/stdin.ts";
import { table } from "../output/text-table.ts";
import { serviceId, username } from "../kernel/values.ts";

interface ListOptions extends CommonOptions {
  service?: string;
  user?: string;
  csv?: true;
}

export function declareGrants(admin: Command): void {
  const group = declareGroup(
    admin,
    "grant",
    "resellers' own prices, and private services open to them",
  );
  declare(group, "list", "list grants, by service", "reseller admin grant list --user alice")
    .option("--service <id>", "only grants of this service", serviceId)
    .option("--user <username>", "only grants of this reseller", username)
    .addOption(new Option("--csv", "print them as CSV for `grant import`").conflicts("json"))
    .action(async (options: ListOptions) => {
      const grants = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const { service = null, user } = options;
          if (service !== null && !findService(reader, service)) throw refusal("service_not_found");
          const account = user === undefined ? null : requireUser(reader, user).account;
          return listAllGrants(reader, service, account);
        }),
      );
      if (options.csv) return print(undefined, grants, grantsCsv);
      print(options.json, grants.map(grantJson), () => grantTable(grants));
    });
  const command = declare(
    group,
    "import",
    "set grants from a CSV file; if any row is wrong, none is set",
    "reseller admin grant import prices.csv",
  ).argument("<file>", `with the header ${GRANTS_HEADER}; - reads stdin`);
  addConfirmation(command).action(async (file: string, options: CommonOptions & ConfirmOptions) => {
    const list = await listIn(file);
    const { grants } = list;
    if (list.wrong.length > 0) {
      const refused = await withDatabase(options, ({ store }) =>
        store.read((reader) => refusedGrants(reader, grants)),
      );
      throw failureOf(list, refused);
    }
    if (grants.length > CONFIRM_ROWS) {
      await confirm(options, `set ${grants.length} grants`, `more than ${CONFIRM_ROWS}`);
    }
    const result = await withDatabase(options, async ({ execute }) => {
      try {
        return await execute("importGrants", { grants });
      } catch (error) {
        throw isRowsRefusal(error) ? failureOf(list, error.details.rows) : error;
      }
    });
    print(options.json, result, ({ imported, unchanged }) => {
      return `set ${counted(imported, "grant")}, ${unchanged} unchanged`;
    });
  });
}

async function listIn(file: string): Promise<GrantList> {
  try {
    return readGrants(file === "-" ? "stdin" : file, await textOf(file));
  } catch (error) {
    if (error instanceof FileError || error instanceof RowError) {
      throw new CommandFailure(error.message);
    }
    throw error;
  }
}

async function textOf(file: string): Promise<string> {
  if (file === "-") return readStdinText();
  const path = resolve(file);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const code = errorCode(error);
    throw new CommandFailure(`cannot read ${path} (${code}): choose a UTF-8 text file`);
  }
}

function isRowsRefusal(error: unknown): error is Refusal<"grants_invalid"> {
  return error instanceof Refusal && error.code === "grants_invalid";
}

/** Returns a failure that lists every wrong row. */
function failureOf(list: GrantList, refused: readonly GrantProblem[]): CommandFailure {
  const wrong = wrongRows(list, refused, (code) => sentenceOf(refusal(code)));
  return new CommandFailure(
    `${countedWrong(wrong.length)}: nothing was imported, correct them and import again`,
    "failed",
    wrong.map(({ message }) => message),
  );
}

function grantJson({ serviceId: service, priceMicros, ...grant }: ListedGrant) {
  const { serviceName: name, username: user, listPriceMicros } = grant;
  const price = priceMicros === null ? null : jsonAmount(priceMicros);
  return { service, name, username: user, price, standardPrice: jsonAmount(listPriceMicros) };
}

function grantTable(grants: readonly ListedGrant[]): string {
  const rows = grants.map(({ priceMicros, ...grant }) => ({
    service: grant.serviceId,
    name: grant.serviceName,
    user: grant.username,
    "its price usd": priceMicros === null ? "the service's" : dollars(priceMicros),
    "standard usd": dollars(grant.listPriceMicros),
  }));
  return table(rows, "no grants: all resellers pay the catalogue's prices");
}
