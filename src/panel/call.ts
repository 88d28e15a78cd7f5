// What a page and an action get of a request, and what they return.

import type { ComponentChildren } from "preact";
import type { Reader, ReadStore, Synchronous } from "../db/port.ts";
import { authorOf, type Role } from "../domain/administrators.ts";
import type { Actor } from "../domain/ledger.ts";
import { Refusal } from "../domain/refusals.ts";
import { PROOF_MS } from "../domain/sign-ins.ts";
import type { CheckWebhookUrl } from "../http/webhook-fields.ts";
import type { ActivityCounter } from "../monitoring/activity.ts";
import type { Logger } from "../monitoring/log.ts";
import type {
  CommandInput,
  CommandOutput,
  SubmittableName,
  UnsignedInput,
} from "../operations/commands.ts";
import type { ProviderAddress } from "../providers/protocols.ts";
import type { ProviderApi } from "../providers/provider.ts";
import type { Writer } from "../writer/writer.ts";
import {
  type Confirmation,
  ConfirmationNeeded,
  ConfirmedBefore,
  PROOF,
  requireConfirmation,
} from "./confirmation.tsx";
import { Form } from "./form.ts";
import type { Passwords } from "./passwords.ts";
import { shownRefusal } from "./refusals.ts";
import type { SystemFacts } from "./system.tsx";
import type { Visitor } from "./visitor.ts";

/** How the panel is set. */
export interface PanelSettings {
  /** Where browsers find it; null: wherever they found it. */
  url: string | null;
  /** Browsers speak TLS with it, or with the proxy before it. */
  isSecure: boolean;
  /** Of owners. */
  needsSecondFactor: boolean;
  /** Money beyond this asks for a password or a code again. */
  confirmAboveMicros: number;
}

/** The parts of the server that the panel uses. */
export interface Panel {
  store: ReadStore;
  /** For long reads. */
  slowStore: ReadStore;
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "info" | "warn" | "error">;
  now: () => number;
  activity: ActivityCounter;
  /** Whether a webhook can be sent there. */
  checkWebhookUrl: CheckWebhookUrl;
  /** To test a provider and to read its list. */
  connect: (provider: ProviderAddress) => ProviderApi;
  machine(): MachineFacts;
  settings: PanelSettings;
  passwords: Passwords;
  system: SystemFacts;
}

/** What the machine says of itself; absent: it does not concern this server. */
export interface MachineFacts {
  /** Null: there is none. */
  newestBackupAt?: number | null;
  /** When the newest backup was begun that was copied off-site; null: none is known to be. */
  newestRemoteAt?: number | null;
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
  cookie?: string;
}

/** Where a completed action leads, and what it says there once. */
export interface Redirect {
  to: string;
  note?: string;
  cookie?: string;
}

/** A Response is a file to download, which the panel gives its headers. */
export type Page = (call: Call, panel: Panel) => View | Response | Promise<View | Response>;
/** A View is for what is shown once, such as a new key. */
export type Action = (
  submission: Submission,
  panel: Panel,
) => Redirect | View | Promise<Redirect | View>;

/** A request. */
export class Call {
  /** The query string. `filters.below()` is the cursor of a list. */
  readonly filters: Form;

  constructor(
    protected readonly panel: Panel,
    readonly visitor: Visitor,
    /** Without the query. */
    readonly path: string,
    query: string,
    readonly params: Readonly<Record<string, string>>,
  ) {
    this.filters = new Form(new URLSearchParams(query));
  }

  /** Who is signed in. Not on the pages for everyone. */
  get administrator(): Administrator {
    return this.visitor.identity().administrator;
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
    super(panel, call.visitor, call.path, "", call.params);
    this.form = new Form(values);
  }

  /** Runs an operation, signed. A field that was refused is shown before it; a refusal of the operation beside its field. */
  submit<Name extends SubmittableName>(
    name: Name,
    input: UnsignedInput<Name>,
  ): Promise<CommandOutput<Name>> {
    this.form.check();
    const signed = { ...input, actor: this.actor() };
    return this.panel.writer.submit(name, signed as unknown as CommandInput<Name>);
  }

  /**
   * Returns once the administrator has seen this and confirmed it; until then it throws the page that asks. Where more
   * money moves than the settings allow without it, it takes a password or a code that is recent.
   */
  async confirm(confirmation: Confirmation): Promise<void> {
    this.form.check();
    const { settings } = this.panel;
    const now = this.panel.now();
    const { session } = this.visitor.identity();
    const isLarge = movedBy(confirmation) > settings.confirmAboveMicros;
    const needsProof = isLarge && now - session.provedAt >= PROOF_MS;
    const once = requireConfirmation(this.form, confirmation, needsProof, now);
    if (needsProof) await this.#prove(confirmation);
    // A second press of the button, at whichever server: the first has done it, or is about to.
    const isFirst = await this.panel.writer.submit("takeConfirmation", { id: once });
    if (!isFirst) throw new ConfirmedBefore();
  }

  async #prove(confirmation: Confirmation): Promise<void> {
    try {
      await this.visitor.prove(this.form.secret(PROOF));
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === "service_unavailable") throw error;
      const { message } = shownRefusal(error, this.form.values);
      this.form.note(PROOF, error.code === "sign_in_limited" ? message : "Wrong password or code");
      throw new ConfirmationNeeded(confirmation, true);
    }
  }

  actor(): Actor {
    return { keyId: null, operator: authorOf(this.administrator.name) };
  }
}

/** What goes to accounts or what comes from them, whichever is more: many small refunds are a large one. */
function movedBy({ moves }: Confirmation): bigint {
  let [into, from] = [0n, 0n];
  for (const { micros } of moves) {
    if (micros > 0) into += BigInt(micros);
    else from -= BigInt(micros);
  }
  return into > from ? into : from;
}
