// Lists as CSV, streamed in steps because they can be of any length.

import type { IncomingRequest } from "../../http1/request.ts";
import { withText } from "../../http1/response.ts";

export { csvText } from "../../domain/values/csv.ts";

const CSV_TYPE = /(^|,)\s*text\/csv\s*(;|,|$)/i;

/** Returns whether `Accept` names CSV. */
export function wantsCsv({ headers }: Pick<IncomingRequest, "headers">): boolean {
  return CSV_TYPE.test(headers.get("accept") ?? "");
}

/** The lines of one step, and the number below which the next step begins; null at the end. */
export interface CsvStep {
  rows: readonly (readonly (string | number)[])[];
  next: number | null;
}

/**
 * Streams a list. `read` returns the step that begins below a number; it is called when the previous step has been
 * sent.
 */
export function csvResponse(
  file: string,
  header: string,
  below: number,
  read: (below: number) => CsvStep | Promise<CsvStep>,
  onInternalError: (error: unknown) => void,
): Response {
  let next: number | null = below;
  const encoder = new TextEncoder();
  const lines = new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`${header}\r\n`)),
    async pull(controller) {
      if (next === null) return controller.close();
      // Yields to other requests between steps.
      await new Promise(setImmediate);
      try {
        const step = await read(next);
        next = step.next;
        controller.enqueue(encoder.encode(step.rows.map((row) => `${row.join(",")}\r\n`).join("")));
      } catch (error) {
        onInternalError(error);
        // Aborts the connection, so that a partial list is not taken for a complete one. Bun would print a reason given
        // here.
        controller.error();
      }
    },
  });
  return new Response(lines, { headers: headersOf(file) });
}

/** Returns a list that is short enough to be one text. */
export function csvFile(file: string, text: string): Response {
  return withText(new Response(text, { headers: headersOf(file) }), text);
}

function headersOf(file: string) {
  return {
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="${file}"`,
  };
}
