// The step between a form and its effect: a page that shows what will happen and the money that will move. It carries
// the form's fields on; if what it would show is no longer what was confirmed, it is shown again.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import type { Micros } from "../domain/money.ts";
import type { Form as Values } from "./form.ts";
import { Field, Form, ForUser } from "./fields.tsx";
import { CONFIRMATION_MS } from "../domain/sign-ins.ts";
import { random } from "./random.ts";
import { refusal } from "../domain/refusals.ts";
import { moneyText } from "./shown.tsx";

export interface Confirmation {
  /** What will be done: `Refund order 17`. Also the text of the button. */
  title: string;
  /** Who gets or pays how much, in USD: with its sign. */
  moves: readonly { account: string; micros: Micros }[];
  /** What else there is to know. */
  details?: ComponentChildren;
  /** Something that cannot be undone. */
  danger?: boolean;
  /** All that will be done, as JSON has it: if it is another plan by then, it is refused. */
  plan?: unknown;
}

const CONFIRMED = "confirmed";
/** Tells a confirmation from every other: a second press of the button is not a second payment. */
const ONCE = "once";
const ONCE_FORM = /^(\d{13})-([\w-]{16})$/;
const PLAN = "plan";
export const PROOF = "proof";
const OWN = [CONFIRMED, PLAN, PROOF, ONCE];

/** Thrown until it is confirmed. */
export class ConfirmationNeeded extends Error {
  override name = "ConfirmationNeeded";
  constructor(
    readonly confirmation: Confirmation,
    /** A password or a code is asked for. */
    readonly needsProof: boolean,
  ) {
    super("confirmation needed");
  }
}

/** Thrown where the same confirmation was sent before. */
export class ConfirmedBefore extends Error {
  override name = "ConfirmedBefore";
}

/** What was confirmed: the title and every amount. */
function shownOf({ title, moves }: Confirmation): string {
  const amounts = moves.map(({ account, micros }) => `${account} ${moneyText(micros)}`);
  return [title, ...amounts].join("; ");
}

/** Null where nothing but the title and the amounts tells what is done. */
function digestOf({ plan }: Confirmation): string | null {
  if (plan === undefined) return null;
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(plan)).digest("hex");
}

/**
 * Returns what tells this confirmation from every other; throws ConfirmationNeeded until there is one.
 * Refuses: catalogue_changed.
 */
export function requireConfirmation(
  form: Values,
  confirmation: Confirmation,
  needsProof: boolean,
  now: number,
): string {
  const [given, plan] = [form.values.get(PLAN), digestOf(confirmation)];
  if (given !== null && given !== plan) throw refusal("catalogue_changed");
  const isConfirmed = form.values.get(CONFIRMED) === shownOf(confirmation) && given === plan;
  const once = form.values.get(ONCE) ?? "";
  const madeAt = Number(ONCE_FORM.exec(once)?.[1]);
  // NaN, where there is none.
  const isFresh = Math.abs(now - madeAt) < CONFIRMATION_MS;
  if (!isConfirmed || !isFresh || (needsProof && !form.values.has(PROOF))) {
    throw new ConfirmationNeeded(confirmation, needsProof);
  }
  return once;
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
  /** The page that the form was on. */
  back: string;
  form: Values;
  /** Who confirms. */
  name: string;
  now: number;
  needed: ConfirmationNeeded;
}) {
  const { title, moves, details, danger } = confirmation;
  const carried = [...form.values].filter(([name]) => !OWN.includes(name));
  const plan = digestOf(confirmation);
  return (
    <>
      <h1>{title}?</h1>
      {moves.length > 0 && (
        <table class="moves">
          <caption>Money that will move</caption>
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
        <input type="hidden" name={CONFIRMED} value={shownOf(confirmation)} />
        <input type="hidden" name={ONCE} value={`${now}-${random(12)}`} />
        {plan !== null && <input type="hidden" name={PLAN} value={plan} />}
        {needsProof && <ForUser name={name} />}
        {needsProof && (
          <Field
            name={PROOF}
            label="Your password, or a code of your second factor"
            hint="Asked for again because of the amount."
            type="password"
            autocomplete="current-password"
            required
          />
        )}
        <p class="actions">
          <button class={danger ? "danger" : "primary"}>{title}</button>
          <a href={back}>Back, change nothing</a>
        </p>
      </Form>
    </>
  );
}
