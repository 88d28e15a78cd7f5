// The calls that pages and actions receive: a request, with its visitor and its form.

import type { Reader, ReadStore, Synchronous } from "../../db/port/port.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import type {
  CommandInput,
  CommandOutput,
  SubmittableName,
  UnsignedInput,
} from "../../operations/batch/commands.ts";
import type { Writer } from "../../writer/writer.ts";
import {
  type Confirmation,
  ConfirmationNeeded,
  ConfirmedBefore,
  PROOF,
  requireConfirmation,
} from "./confirmation.tsx";
import { Form } from "./form.ts";
import { shownRefusal } from "./refusals.ts";
import type { Visitor } from "../sessions/visitor.ts";

/** What a call needs of the server. */
export interface CallParts {
  store: ReadStore;
  writer: Pick<Writer, "submit">;
  now: () => number;
  /** `confirmAboveMicros`: amount above which a password or a code is asked for again. */
  settings: { confirmAboveMicros: number };
}

/** A request to a site. */
export class Call<Who extends Visitor> {
  /** The query string. `filters.below()` is the cursor of a list. */
  readonly filters: Form;

  constructor(
    protected readonly parts: CallParts,
    readonly visitor: Who,
    /** Without the query string. */
    readonly path: string,
    query: string,
    readonly params: Readonly<Record<string, string>>,
  ) {
    this.filters = new Form(new URLSearchParams(query), visitor.words.form);
  }

  /** Runs queries of src/db/; `body` may run several times. */
  async read<T>(body: (reader: Reader) => Synchronous<T>): Promise<T> {
    return this.parts.store.read(body);
  }
}

/** A request that sends a form. */
export class Submission<Who extends Visitor> extends Call<Who> {
  readonly form: Form;

  constructor(
    call: Call<Who>,
    parts: CallParts,
    values: URLSearchParams,
    /** The files of the form, by the names of their fields. */
    readonly files: ReadonlyMap<string, Uint8Array>,
  ) {
    super(parts, call.visitor, call.path, "", call.params);
    this.form = new Form(values, call.visitor.words.form);
  }

  /**
   * Runs an operation in the visitor's name. If fields were refused, it throws FormError instead. A refusal by the
   * operation is shown beside its field.
   */
  submit<Name extends SubmittableName>(
    name: Name,
    input: UnsignedInput<Name>,
  ): Promise<CommandOutput<Name>> {
    this.form.check();
    const signed = { ...input, actor: this.visitor.actor() };
    return this.parts.writer.submit(name, signed as unknown as CommandInput<Name>);
  }

  /**
   * Requires the visitor's confirmation: until it is given, throws ConfirmationNeeded, which shows the page that asks.
   * If the action is sensitive or moves more money than the settings allow, a recent password or code is needed too.
   */
  async confirm(confirmation: Confirmation): Promise<void> {
    this.form.check();
    const { settings } = this.parts;
    const now = this.parts.now();
    const isLarge = movedBy(confirmation) > settings.confirmAboveMicros;
    const isSensitive = confirmation.isSensitive ?? false;
    const needsProof = (isLarge || isSensitive) && !this.visitor.hasProved(now);
    const once = requireConfirmation(this.form, confirmation, needsProof, now);
    if (needsProof) await this.#confirmedBy(confirmation);
    // A second press of the button must do nothing, even at another server.
    const isFirst = await this.parts.writer.submit("takeConfirmation", { id: once });
    if (!isFirst) throw new ConfirmedBefore();
  }

  /** Requires that the visitor proved a password or code lately, or typed one into this form's proof field. */
  async requireProof(): Promise<void> {
    if (this.visitor.hasProved(this.parts.now())) return;
    if (this.form.secret(PROOF) === "")
      this.form.addError(PROOF, this.visitor.words.parts.proofRequired);
    this.form.check();
    await this.#prove();
    this.form.check();
  }

  async #confirmedBy(confirmation: Confirmation): Promise<void> {
    await this.#prove();
    if (this.form.errors.size > 0) throw new ConfirmationNeeded(confirmation, true);
  }

  /** Checks the proof, and adds an error beside its field if it is wrong. */
  async #prove(): Promise<void> {
    try {
      await this.visitor.prove(this.form.secret(PROOF));
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === "service_unavailable") throw error;
      const { message } = shownRefusal(error, this.form.values, this.visitor.words);
      this.form.addError(
        PROOF,
        error.code === "sign_in_limited" ? message : this.visitor.words.parts.proofWrong,
      );
    }
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
