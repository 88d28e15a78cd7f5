// A writer thread that opens no database and never finishes a batch: it dies in the way that the first command names.

import type { FromThread, ToThread } from "../../src/writer/messages.ts";

declare const self: Worker;

self.onmessage = (event: MessageEvent<string>) => {
  const message = JSON.parse(event.data) as ToThread;
  if ("open" in message) return send({ opened: true });
  if (!("batch" in message)) return;
  const [first] = message.batch;
  const { id } = first!.input as { id: string };
  if (id === "throws") throw new Error("the thread broke");
  if (id === "ends") process.exit(1);
  if (id === "reports") send({ fatal: "the disk failed" });
};

function send(message: FromThread): void {
  self.postMessage(JSON.stringify(message));
}
