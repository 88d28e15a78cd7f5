// What pages and actions receive of a request, and what they return.

import type { ComponentChildren } from "preact";
import type { Reader, ReadStore, Synchronous } from "../../db/port/port.ts";
import { authorOf, type Role } from "../../domain/administrators/administrators.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import type { Lateness, MachineFacts } from "../../domain/reports/conditions.ts";
import { Refusal } from "../../domain/values/refusals.ts";
import type { CheckWebhookUrl } from "../../domain/webhooks/webhook-urls.ts";
import type { ActivityCounter } from "../../reports/activity.ts";
import type { Logger } from "../../monitoring/log.ts";
import type {
  CommandInput,
  CommandOutput,
  SubmittableName,
  UnsignedInput,
} from "../../operations/batch/commands.ts";
import type { ProviderAddress } from "../../providers/protocols.ts";
import type { ProviderApi } from "../../providers/provider.ts";
import type { Writer } from "../../writer/writer.ts";
import {
  type Confirmation,
  ConfirmationNeeded,
  ConfirmedBefore,
  PROOF,
  requireConfirmation,
} from "../../web/server/confirmation.tsx";
import { Form } from "../../web/server/form.ts";
import type { Passwords } from "../../web/server/passwords.ts";
import { shownRefusal } from "../../web/server/refusals.ts";
import type { SystemFacts } from "./facts.ts";
import type { Visitor } from "./visitor.ts";

/** Settings of the panel. */
export interface PanelSettings {
  /** The panel's address for browsers. Null: any address of this machine, or a name in its certificate. */
  url: string | null;
  /** True if browsers use TLS to reach the panel or the proxy before it. */
  isSecure: boolean;
  /** True if owners must have a second factor. */
  needsSecondFactor: boolean;
  /** Moving more than this asks for a password or a code again. */
  confirmAboveMicros: number;
}

/** The parts of the server that the panel uses. */
export interface Panel {
  store: ReadStore;
  /** The store for long reads. */
  slowStore: ReadStore;
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "info" | "warn" | "error">;
  now: () => number;
  activity: ActivityCounter;
  /** Checks whether a webhook can be sent to a URL. */
  checkWebhookUrl: CheckWebhookUrl;
  /** Connects to a provider, to test it and to read its list. */
  connect: (provider: ProviderAddress) => ProviderApi;
  machine(): MachineFacts;
  /** Lateness of polls by provider name, of those that this server polls. */
  lateness(): Promise<ReadonlyMap<string, Lateness>>;
  settings: PanelSettings;
  passwords: Passwords;
  system: SystemFacts;
}

export interface Administrator {
  name: string;
  role: Role;
}

/** A page to show inside the layout. */
export interface View {
  title: string;
  body: ComponentChildren;
  /** Status of the response, by default 200. */
  status?: number;
  cookie?: string;
}

/** The page to show after a completed action, and a note shown there once. */
export interface Redirect {
  to: string;
  note?: string;
  cookie?: string;
}

/** Handles a GET request. A Response is a file to download; the panel adds its headers. */
export type Page = (call: Call, panel: Panel) => View | Response | Promise<View | Response>;
/** Handles a form. A View is for something shown only once, such as a new key. */
export type Action = (
  submission: Submission,
  panel: Panel,
) => Redirect | View | Promise<Redirect | View>;

/** A request to the panel. */
export class Call {
  /** The query string. `filters.below()` is the cursor of a list. */
  readonly filters: Form;

  constructor(
    protected readonly panel: Panel,
    readonly visitor: Visitor,
    /** Without the query string. */
    readonly path: string,
    query: string,
    readonly params: Readonly<Record<string, string>>,
  ) {
    this.filters = new Form(new URLSearchParams(query));
  }

  /** The signed-in administrator. Not available on pages that need no sign-in. */
  get administrator(): Administrator {
    return this.visitor.identity().administrator;
  }

  /** Runs queries of src/db/; `body` may run several times. */
  async read<T>(body: (reader: Reader) => Synchronous<T>): Promise<T> {
    return this.panel.store.read(body);
  }
}

/** A request that sends a form. */
export class Submission extends Call {
  readonly form: Form;

  constructor(call: Call, panel: Panel, values: URLSearchParams) {
    super(panel, call.visitor, call.path, "", call.params);
    this.form = new Form(values);
  }

  /**
   * Runs an operation signed by the administrator. Fields that were refused are reported first. A refusal of the
   * operation is shown beside its field.
   */
  submit<Name extends SubmittableName>(
    name: Name,
    input: UnsignedInput<Name>,
  ): Promise<CommandOutput<Name>> {
    this.form.check();
    const signed = { ...input, actor: this.actor() };
    return this.panel.writer.submit(name, signed as unknown as CommandInput<Name>);
  }

  /**
   * Returns once the administrator has seen this and confirmed it. Until then it throws the page that asks. A
   * password or a code must be recent if the action is sensitive or moves more money than the settings allow.
   */
  async confirm(confirmation: Confirmation): Promise<void> {
    this.form.check();
    const { settings } = this.panel;
    const now = this.panel.now();
    const isLarge = movedBy(confirmation) > settings.confirmAboveMicros;
    const isSensitive = confirmation.isSensitive ?? false;
    const needsProof = (isLarge || isSensitive) && !this.visitor.hasProved(now);
    const once = requireConfirmation(this.form, confirmation, needsProof, now);
    if (needsProof) await this.#confirmedBy(confirmation);
    // A second press of the button, at any server, must do nothing: the first has done it or is about to.
    const isFirst = await this.panel.writer.submit("takeConfirmation", { id: once });
    if (!isFirst) throw new ConfirmedBefore();
  }

  /** Requires a recent password or code, or one in the form's own field for it. */
  async requireProof(): Promise<void> {
    if (this.visitor.hasProved(this.panel.now())) return;
    if (this.form.secret(PROOF) === "") this.form.note(PROOF, "Your password is asked for again");
    this.form.check();
    await this.#prove();
    this.form.check();
  }

  async #confirmedBy(confirmation: Confirmation): Promise<void> {
    await this.#prove();
    if (this.form.errors.size > 0) throw new ConfirmationNeeded(confirmation, true);
  }

  /** Checks the proof and notes errors beside its field. */
  async #prove(): Promise<void> {
    try {
      await this.visitor.prove(this.form.secret(PROOF));
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === "service_unavailable") throw error;
      const { message } = shownRefusal(error, this.form.values);
      this.form.note(PROOF, error.code === "sign_in_limited" ? message : "Wrong password or code");
    }
  }

  /**
   * Refuses administrators who are not owners, for the parts of an operator's form reserved to owners. `what`
   * completes "Only an owner may". Refuses: owner_required.
   */
  requireOwner(what: string): void {
    if (this.administrator.role !== "owner") throw new Refusal("owner_required", { what });
  }

  actor(): Actor {
    return { keyId: null, operator: authorOf(this.administrator.name) };
  }
}

/**
 * Returns the total paid to accounts or the total taken from them, whichever is larger. Many small refunds count as a
 * large one.
 */
function movedBy({ moves }: Confirmation): bigint {
  let [into, from] = [0n, 0n];
  for (const { micros } of moves) {
    if (micros > 0) into += BigInt(micros);
    else from -= BigInt(micros);
  }
  return into > from ? into : from;
}
