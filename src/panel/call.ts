// What a page and an action get of a request, and what they return.

import type { ComponentChildren } from "preact";
import type { Reader, ReadStore, Synchronous } from "../db/port.ts";
import { authorOf, type Role } from "../domain/administrators.ts";
import type { Actor } from "../domain/ledger.ts";
import type { ActivityCounter } from "../monitoring/activity.ts";
import type { Logger } from "../monitoring/log.ts";
import type {
  CommandInput,
  CommandOutput,
  SubmittableName,
  UnsignedInput,
} from "../operations/commands.ts";
import type { Writer } from "../writer/writer.ts";
import { type Confirmation, requireConfirmation } from "./confirmation.tsx";
import { Form } from "./form.ts";

/** The parts of the server that the panel uses. */
export interface Panel {
  store: ReadStore;
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "info" | "warn" | "error">;
  now(): number;
  activity: ActivityCounter;
  system(): SystemFacts;
}

/** What the machine says of itself; absent: it does not concern this server. */
export interface SystemFacts {
  /** Null: there is none. */
  newestBackupAt?: number | null;
  freeBytes?: number;
}

export interface Administrator {
  name: string;
  role: Role;
}

/** What a page shows in the layout. */
export interface View {
  title: string;
  body: ComponentChildren;
  /** 200 unless it says otherwise. */
  status?: number;
}

/** Where a completed action leads, and what it says there once. */
export interface Redirect {
  to: string;
  note?: string;
}

/** A Response is a file to download, which the panel gives its headers. */
export type Page = (call: Call, panel: Panel) => View | Response | Promise<View | Response>;
/** A View is for what is shown once, such as a new key. */
export type Action = (
  submission: Submission,
  panel: Panel,
) => Redirect | View | Promise<Redirect | View>;

/** A request of an administrator who is signed in. */
export class Call {
  /** The query string. `filters.below()` is the cursor of a list. */
  readonly filters: Form;

  constructor(
    protected readonly panel: Panel,
    /** Without the query. */
    readonly path: string,
    query: string,
    readonly params: Readonly<Record<string, string>>,
    readonly administrator: Administrator,
  ) {
    this.filters = new Form(new URLSearchParams(query));
  }

  /** Runs queries of src/db/; `body` may run several times. */
  async read<T>(body: (reader: Reader) => Synchronous<T>): Promise<T> {
    return this.panel.store.read(body);
  }
}

/** A form that was sent. */
export class Submission extends Call {
  readonly form: Form;

  constructor(call: Call, panel: Panel, values: URLSearchParams) {
    super(panel, call.path, "", call.params, call.administrator);
    this.form = new Form(values);
  }

  /** Runs an operation, signed. A field that was refused is shown before it; a refusal of the operation beside its field. */
  submit<Name extends SubmittableName>(
    name: Name,
    input: UnsignedInput<Name>,
  ): Promise<CommandOutput<Name>> {
    this.form.check();
    return this.panel.writer.submit(name, {
      ...input,
      actor: this.actor(),
    } as unknown as CommandInput<Name>);
  }

  /** Returns once the administrator has seen this and confirmed it; until then it throws the page that asks. */
  async confirm(confirmation: Confirmation): Promise<void> {
    this.form.check();
    requireConfirmation(this.form, confirmation);
  }

  actor(): Actor {
    return { keyId: null, operator: authorOf(this.administrator.name) };
  }
}
