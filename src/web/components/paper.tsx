// A document on A4: who it is from and for, facts, lines with amounts, and their sums.

/** @jsxImportSource preact */

import { Typed, TypedLines } from "./shown.tsx";

export interface PaperProps {
  title: string;
  from: PartyProps;
  to: PartyProps;
  facts: readonly (readonly [name: string, text: string])[];
  /** Caption of the lines, for screen readers. */
  caption: string;
  headings: readonly [text: string, amount: string];
  lines: readonly { text: string; amount: string }[];
  sums: readonly { text: string; amount: string; isTotal?: true }[];
  notes: readonly string[];
}

interface PartyProps {
  name: string;
  /** Lines of text. Empty, like the tax number: none. */
  address: string;
  taxId: string;
}

export function Paper({
  title,
  from,
  to,
  facts,
  caption,
  headings,
  lines,
  sums,
  notes,
}: PaperProps) {
  return (
    <article class="invoice">
      <Party {...from} />
      <h1>{title}</h1>
      <div class="invoice-head">
        <Party {...to} />
        <dl>
          {facts.map(([name, text]) => (
            <>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </>
          ))}
        </dl>
      </div>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{headings[0]}</th>
            <th scope="col" class="number">
              {headings[1]}
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ text, amount }) => (
            <tr>
              <td>
                <Typed text={text} />
              </td>
              <Amount text={amount} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          {sums.map(({ text, amount, isTotal }) => (
            <tr class={isTotal ? "strong" : undefined}>
              <th scope="row">
                <Typed text={text} />
              </th>
              <Amount text={amount} />
            </tr>
          ))}
        </tfoot>
      </table>
      {notes.map((note) => (
        <p>
          <Typed text={note} />
        </p>
      ))}
    </article>
  );
}

function Party({ name, address, taxId }: PartyProps) {
  return (
    <address>
      <strong>
        <Typed text={name} />
      </strong>
      {address !== "" && <TypedLines text={address} />}
      {taxId !== "" && <Typed text={taxId} />}
    </address>
  );
}

function Amount({ text }: { text: string }) {
  return (
    <td class="number">
      <span class="money">{text}</span>
    </td>
  );
}
