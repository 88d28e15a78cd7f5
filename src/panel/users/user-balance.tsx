// Credits and debits of a user's balance by hand.

/** @jsxImportSource preact */

import { REFERENCE, NOTE } from "../../domain/values/kinds.ts";
import type { Submission } from "../server/call.ts";
import { confirmationFields } from "../../web/server/confirmation.tsx";
import type { Redirect } from "../../web/server/results.ts";
import { Box, Field, Form } from "../../web/components/fields.tsx";
import { Money, moneyText } from "../../web/components/shown.tsx";
import { requireShownUser, userPath } from "./shown-user.ts";

const DIRECTIONS = ["credit", "debit"] as const;
type Direction = (typeof DIRECTIONS)[number];
const VERBS: Record<Direction, string> = { credit: "Credit", debit: "Debit" };

/** Form for a credit or debit. Its buttons say the amount, and up to `most` micros that is the confirmation. */
export function Balance({
  username,
  now,
  most,
  hasInvoices,
}: {
  username: string;
  /** Milliseconds since 1970. */
  now: number;
  most: number;
  /** Whether its credits get invoices. */
  hasInvoices: boolean;
}) {
  const says = (direction: Direction) => ({
    "data-says": `${VERBS[direction]} {} USD`,
    "data-confirms": `${VERBS[direction]} ${username}; ${username} ${direction === "debit" ? "-" : ""}{}`,
    "data-most": most,
  });
  return (
    <section class="card" id="balance">
      <Form action={`${userPath(username)}/balance`} hidden={confirmationFields(now)}>
        <h2>Credit or debit</h2>
        <div class="pair">
          <Field name="amount" label="Amount in USD" inputmode="decimal" required />
          <Field name="reference" label="Reference" hint="repeating it has no second effect" />
        </div>
        <div class="pair">
          <Field name="note" label="Note" hint="only operators see it" />
          <Field name="public-note" label="Note to the user" hint="the user can read it" />
        </div>
        {hasInvoices && <Box name="no-invoice" label="Nobody paid for it: no invoice" />}
        <p class="actions">
          <button class="primary" name="direction" value="credit" {...says("credit")}>
            {VERBS.credit}
          </button>
          <button name="direction" value="debit" {...says("debit")}>
            {VERBS.debit}
          </button>
        </p>
      </Form>
    </section>
  );
}

export async function adjustBalance(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const direction = form.choice("direction", DIRECTIONS);
  const amountMicros = form.amount("amount");
  const reference = form.optional("reference", REFERENCE, "");
  const note = form.optional("note", NOTE, "");
  const publicNote = form.optional("public-note", NOTE, "");
  form.check();
  const user = await submission.read((reader) =>
    requireShownUser(reader, submission.params["user"]!),
  );
  const { username, balanceMicros } = user;
  const micros = direction === "credit" ? amountMicros : -amountMicros;
  await submission.confirm({
    title: `${VERBS[direction]} ${username}`,
    moves: [{ account: username, micros }],
    details: (
      <p>
        Balance: <Money micros={balanceMicros} /> →{" "}
        <Money micros={balanceMicros + BigInt(micros)} /> USD
      </p>
    ),
  });
  const invoice = !form.isChecked("no-invoice");
  const texts = { note, publicNote, reference, invoice };
  const adjustment = { username, amountMicros, direction, ...texts };
  const { earlier } = await submission.submit("adjustBalance", adjustment);
  const to = userPath(username);
  if (earlier) {
    return {
      to,
      note: `${reference} was made before, as transaction ${earlier.seq}: nothing was changed.`,
    };
  }
  return { to, note: `${username} was ${direction}ed ${moneyText(amountMicros)} USD.` };
}
