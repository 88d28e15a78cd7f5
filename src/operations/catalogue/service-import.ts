// Imports lists of services from files: all rows of a list take effect, or none does.

import { attempt, Refusal, type Refusals } from "../../domain/values/error-table.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { findProvider, getProvider } from "../../db/providers/providers.ts";
import {
  deleteRoutes,
  isDelivered,
  listSupersededRoutes,
} from "../../db/catalogue/service-routes.ts";
import { findService, type Service } from "../../db/catalogue/services.ts";
import {
  DEFAULT_SERVICE_TYPE,
  isPackage,
  refuseUnfitType,
  standardUnit,
} from "../../domain/catalogue/service-types.ts";
import { auditService } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { changeService, listServiceListeners } from "./service-changes.ts";
import { applyChanges, create, type ServiceTerms } from "./services.ts";

/** A row of a list. With `update`, absent fields of an existing service stay as they are. */
export type ServiceRow = Partial<ServiceTerms> & Pick<ServiceTerms, "id">;

export interface ImportServices {
  services: readonly ServiceRow[];
  /** Changes services whose ids exist, instead of refusing their rows. */
  update?: boolean;
  actor: Actor;
}

type ProblemCode = Extract<keyof Refusals, `import_${string}`>;

/** What is wrong with a row: a refusal with the row's index in its details. */
export type RowProblem = { [Code in ProblemCode]: Refusal<Code> }[ProblemCode];

export interface ImportPlan {
  created: ServiceTerms[];
  updated: { before: Service; after: Service }[];
  unchanged: number;
  /** At most one for each row, in the order of the rows. */
  problems: RowProblem[];
}

/** Counts of services. Without `update`, all are created. */
export interface Imported {
  created: number;
  updated: number;
  unchanged: number;
}

const UNFIT: ReadonlySet<string> = new Set(["service_unit_unfit", "service_dripfeed_unfit"]);
const REQUIRED = { name: "name", priceMicros: "price", min: "min", max: "max" } as const;

/** Returns what an import would do now, and every wrong row. */
export function planImport(
  reader: Reader,
  rows: readonly ServiceRow[],
  isUpdate: boolean,
): ImportPlan {
  const plan: ImportPlan = { created: [], updated: [], unchanged: 0, problems: [] };
  const ids = new Set<string>();
  reader.each(rows, (given, index) => {
    const service = given.id === null ? undefined : findService(reader, given.id);
    const row = service ? given : withDefaults(given);
    const isRepeated = row.id !== null && ids.has(row.id);
    if (row.id !== null) ids.add(row.id);
    if (isRepeated || (service && !isUpdate)) {
      return plan.problems.push(new Refusal("import_id_taken", { index }));
    }
    const problem = checkProvider(reader, row, service, index) ?? checkFields(row, service, index);
    if (problem) plan.problems.push(problem);
    else if (!service) planCreation(plan, row as ServiceTerms, index);
    else planUpdate(reader, plan, service, row, index);
  });
  return plan;
}

/** Fills in the optional fields of a new service. */
function withDefaults(row: ServiceRow): ServiceRow {
  const { type = DEFAULT_SERVICE_TYPE } = row;
  const size = isPackage(type) ? { min: 1, max: 1 } : {};
  return { per: standardUnit(type), private: false, ...size, ...row };
}

function planCreation(plan: ImportPlan, service: ServiceTerms, index: number): void {
  const { type = DEFAULT_SERVICE_TYPE, per, dripfeed = false } = service;
  const unfit = attempt(() => refuseUnfitType({ type, per, dripfeed }));
  if (unfit instanceof Refusal) plan.problems.push(new Refusal("import_type_unfit", { index }));
  else plan.created.push(service);
}

/** Checks the provider of a row. A row may leave a suspended service at its inactive provider. */
function checkProvider(
  reader: Reader,
  row: ServiceRow,
  service: Service | undefined,
  index: number,
): RowProblem | null {
  const { provider, active } = row;
  const isLinked = service !== undefined && isSameProvider(reader, service, provider);
  if (isLinked && (active !== true || service.active || service.providerId === null)) return null;
  if (isLinked && isDelivered(reader, service)) return null;
  const found = isLinked
    ? getProvider(reader, service.providerId!)
    : provider && findProvider(reader, provider.name);
  if (provider && !found) return new Refusal("import_provider_unknown", { index });
  return found?.active === false ? new Refusal("import_provider_inactive", { index }) : null;
}

/** Checks the fields of a row. For a new service, all required ones must be present. */
function checkFields(
  row: ServiceRow,
  service: Service | undefined,
  index: number,
): RowProblem | null {
  if (!service) {
    for (const [name, field] of Object.entries(REQUIRED)) {
      if (row[name as keyof typeof REQUIRED] === undefined) {
        return new Refusal("import_field_missing", { index, field });
      }
    }
  }
  const { min = service!.min, max = service!.max } = row;
  return min > max ? new Refusal("import_bounds_crossed", { index }) : null;
}

function planUpdate(
  reader: Reader,
  plan: ImportPlan,
  before: Service,
  row: ServiceRow,
  index: number,
): void {
  const { provider, active, ...terms } = row;
  // The id never differs.
  const differing = Object.entries(terms).filter(
    ([name, value]) => value !== undefined && before[name as keyof typeof terms] !== value,
  );
  const changedProvider = isSameProvider(reader, before, provider) ? undefined : provider;
  const after = attempt(() =>
    applyChanges(reader, before, Object.fromEntries(differing), changedProvider),
  );
  if (after instanceof Refusal) {
    // All other faults were refused above, so here a changed field does not fit an unchanged one.
    if (!UNFIT.has(after.code)) throw after;
    return void plan.problems.push(new Refusal("import_type_unfit", { index }));
  }
  // Compared with `after`, not `before`, because a change of the provider activates a suspended service.
  if (active !== undefined && active !== after.active) {
    Object.assign(after, { active, delisted: false, suspended: false });
  }
  if (Bun.deepEquals(before, after)) plan.unchanged += 1;
  else plan.updated.push({ before, after });
}

function isSameProvider(
  reader: Reader,
  { providerId, providerService }: Service,
  provider: ServiceRow["provider"],
): boolean {
  if (provider === undefined) return true;
  if (provider === null) return providerId === null;
  const found = findProvider(reader, provider.name);
  return found?.providerId === providerId && provider.service === providerService;
}

/**
 * Applies all rows or none. Refuses the first wrong row, with its index: import_id_taken, import_provider_unknown,
 * import_provider_inactive, import_field_missing, import_bounds_crossed, import_type_unfit.
 */
export function importServices(tx: Tx, command: ImportServices, context: Context): Imported {
  const { actor } = command;
  const plan = planImport(tx, command.services, command.update ?? false);
  if (plan.problems[0]) throw plan.problems[0];
  const listeners = listServiceListeners(tx, context);
  const superseded = tx.each(plan.updated, ({ before, after }) =>
    listSupersededRoutes(tx, before, after),
  );
  // Nothing is refused from here on.
  deleteRoutes(tx, superseded.flat());
  tx.each(plan.created, (service) => create(tx, { ...service, actor }, listeners, context));
  tx.each(plan.updated, ({ before, after }) => {
    changeService(tx, listeners, before, after, context);
    auditService(tx, context, actor, "service.update", before, after);
  });
  const { created, updated, unchanged } = plan;
  return { created: created.length, updated: updated.length, unchanged };
}
