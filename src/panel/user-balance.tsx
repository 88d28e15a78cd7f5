// Credits and debits by hand.

/** @jsxImportSource preact */

import type { Redirect, Submission } from "./call.ts";
import { Money, moneyText } from "./shown.tsx";
import { requireShownUser } from "./user.tsx";

const NOTE_LIMIT = 500;

export async function adjustBalance(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const direction = form.choice("direction", ["credit", "debit"]);
  const amountMicros = form.amount("amount");
  const note = form.optionalText("note", NOTE_LIMIT);
  form.check();
  const user = await submission.read((reader) =>
    requireShownUser(reader, submission.params["user"]!),
  );
  const { username, balanceMicros } = user;
  const micros = direction === "credit" ? amountMicros : -amountMicros;
  await submission.confirm({
    title: `${direction === "credit" ? "Credit" : "Debit"} ${username}`,
    moves: [{ account: username, micros }],
    details: (
      <p>
        Balance: <Money micros={balanceMicros} /> →{" "}
        <Money micros={balanceMicros + BigInt(micros)} /> USD
      </p>
    ),
  });
  await submission.submit("adjustBalance", { username, amountMicros, note, direction });
  return {
    to: `/users/${encodeURIComponent(username)}`,
    note: `${username} was ${direction}ed ${moneyText(amountMicros)} USD.`,
  };
}
