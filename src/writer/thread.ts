// The entry file of the writer thread. What the thread does is runWriterThread in writer.ts.

import { runWriterThread } from "./writer.ts";

declare const self: Worker;

runWriterThread(self);
