// The step between a form and its effect: a page that shows what will happen and which money will move. The page
// contains the form's fields. If what it shows has changed by the time of the confirmation, it is shown again.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import type { Micros } from "../../domain/ledger/money.ts";
import type { Form as Values } from "./form.ts";
import { Field, Form, ForUser } from "../components/fields.tsx";
import { CONFIRMATION_MS } from "../../domain/sign-ins/sign-ins.ts";
import { random } from "./random.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { useWords } from "../components/words.ts";
import { moneyText } from "../components/shown.tsx";

export interface Confirmation {
  /** What will be done, such as `Refund order 17`. Also the text of the button. */
  title: string;
  /** How much each account gets (positive) or pays (negative), in micros. */
  moves: readonly { account: string; micros: Micros }[];
  /** Further details. */
  details?: ComponentChildren;
  /** True for something that cannot be undone. */
  danger?: boolean;
  /** Asks for a password or a code again, as a large amount does. */
  isSensitive?: boolean;
  /**
   * Everything that will be done, as JSON. If the plan has changed at the confirmation, the confirmation is refused.
   */
  plan?: unknown;
}

const CONFIRMED = "confirmed";
/** Name of the field with the id of the confirmation: a second press of the button is not a second payment. */
const CONFIRMATION_ID = "once";
const CONFIRMATION_ID_FORM = /^(\d{13})-([\w-]{16})$/;
const PLAN = "plan";
export const PROOF = "proof";
const CONFIRMATION_FIELDS = [CONFIRMED, PLAN, PROOF, CONFIRMATION_ID];

/** Thrown until the visitor confirms. */
export class ConfirmationNeeded extends Error {
  override name = "ConfirmationNeeded";
  constructor(
    readonly confirmation: Confirmation,
    /** Whether a password or a code is asked for. */
    readonly needsProof: boolean,
  ) {
    super("confirmation needed");
  }
}

/** Thrown if the same confirmation was sent before. */
export class ConfirmedBefore extends Error {
  override name = "ConfirmedBefore";
}

/** Returns what the visitor confirms: the title and every amount. */
function confirmedText({ title, moves }: Confirmation): string {
  const amounts = moves.map(({ account, micros }) => `${account} ${moneyText(micros)}`);
  return [title, ...amounts].join("; ");
}

/** Returns a hash of the plan, or null if the title and the amounts describe everything. */
function digestOf({ plan }: Confirmation): string | null {
  if (plan === undefined) return null;
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(plan)).digest("hex");
}

/** Returns the id of this confirmation. Throws ConfirmationNeeded until it is confirmed. Refuses: catalogue_changed. */
export function requireConfirmation(
  form: Values,
  confirmation: Confirmation,
  needsProof: boolean,
  now: number,
): string {
  const [given, plan] = [form.values.get(PLAN), digestOf(confirmation)];
  if (given !== null && given !== plan) throw refusal("catalogue_changed");
  const isConfirmed = form.values.get(CONFIRMED) === confirmedText(confirmation) && given === plan;
  const once = form.values.get(CONFIRMATION_ID) ?? "";
  const madeAt = Number(CONFIRMATION_ID_FORM.exec(once)?.[1]);
  // False without an id, because `madeAt` is NaN then.
  const isFresh = Math.abs(now - madeAt) < CONFIRMATION_MS;
  if (!isConfirmed || !isFresh || (needsProof && !form.values.has(PROOF))) {
    throw new ConfirmationNeeded(confirmation, needsProof);
  }
  return once;
}

/**
 * Returns hidden fields for a form whose buttons say the amount that they move. The script copies the text of the
 * button into a field, which confirms the action. Without the script, or if the page is older than CONFIRMATION_MS, a
 * page asks for the confirmation.
 */
export function confirmationFields(now: number): Record<string, string> {
  return { [CONFIRMED]: "", [CONFIRMATION_ID]: newConfirmationId(now) };
}

function newConfirmationId(now: number): string {
  return `${now}-${random(12)}`;
}

export function ConfirmationPage({
  action,
  back,
  form,
  name,
  now,
  needed: { confirmation, needsProof },
}: {
  action: string;
  /** Path of the page with the form. */
  back: string;
  form: Values;
  /** Name of the account of the visitor who confirms. */
  name: string;
  now: number;
  needed: ConfirmationNeeded;
}) {
  const { title, moves, details, danger, isSensitive } = confirmation;
  const words = useWords();
  const carried = [...form.values].filter(([name]) => !CONFIRMATION_FIELDS.includes(name));
  const plan = digestOf(confirmation);
  return (
    <>
      <h1>{title}?</h1>
      {moves.length > 0 && (
        <table class="moves">
          <caption>{words.moneyMoves}</caption>
          <tbody>
            {moves.map(({ account, micros }) => (
              <tr>
                <th scope="row">{account}</th>
                <td class="number">
                  {micros > 0 ? "+" : ""}
                  {moneyText(micros)} USD
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Form action={action}>
        {details}
        {carried.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <input type="hidden" name={CONFIRMED} value={confirmedText(confirmation)} />
        <input type="hidden" name={CONFIRMATION_ID} value={newConfirmationId(now)} />
        {plan !== null && <input type="hidden" name={PLAN} value={plan} />}
        {needsProof && <ForUser name={name} />}
        {needsProof && (
          <Field
            name={PROOF}
            label={words.proof}
            hint={words.proofBecause(isSensitive ?? false)}
            type="password"
            autocomplete="current-password"
            required
          />
        )}
        <p class="actions sticky">
          <button class={danger ? "danger primary" : "primary"}>{title}</button>
          <a href={back}>{words.backUnchanged}</a>
        </p>
      </Form>
    </>
  );
}
