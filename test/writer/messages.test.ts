// The messages of the writer's thread: what is read is what was written.

import { expect, test } from "bun:test";
import { assert, constant, json, oneof, property, record, string, array } from "fast-check";
import type { Reply } from "../../src/operations/batch/commands.ts";
import { type FromThread, messageOf, textOf } from "../../src/writer/messages.ts";

/** Texts like those that commands return: bodies of responses, and what could be taken for another line. */
const texts = oneof(
  string({ unit: "binary" }),
  json(),
  string({
    unit: oneof(constant("\n"), constant("="), constant("\r"), constant('"'), constant("{")),
  }),
);

const replies: Parameters<typeof array<Reply>>[0] = oneof(
  record({ done: texts }),
  record({ done: json().map((text) => JSON.parse(text) as unknown) }),
  record({ refused: constant("insufficient_balance" as const), details: texts }),
  record({ failed: texts }),
  record({ failed: texts, code: constant("outcome_unknown" as const) }),
);

test("every reply of a batch arrives as it was sent, in its place", () => {
  assert(
    property(array(replies), (sent) => {
      const message = { replies: sent, seconds: 0.25, offloadCheckpoint: true };
      expect(messageOf(textOf(message))).toEqual(JSON.parse(JSON.stringify(message)) as FromThread);
    }),
  );
});

test("a message without replies arrives as it was sent, with any text in it", () => {
  assert(property(texts, (fatal) => expect(messageOf(textOf({ fatal }))).toEqual({ fatal })));
});

test("the body of a response is not escaped on its way", () => {
  const done = JSON.stringify({ status: "success" });
  const text = textOf({ replies: [{ done }], seconds: 1, offloadCheckpoint: false });
  expect(text).toContain(`\n=${done}`);
});
