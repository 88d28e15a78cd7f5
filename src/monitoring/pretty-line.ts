// Formats log lines for a terminal: `[13:37:44.123] INFO: listening {"port":80}`. Lines of requests show method, route
// and status.

import { showHidden } from "../domain/values/text.ts";
import { type ReadRequest, REQUEST_END, requestText } from "./request-line.ts";

const COLORS: Record<string, number> = { debug: 34, info: 32, warn: 33, error: 31 };
const CYAN = 36;
const GRAY = 90;

export function prettyLine(line: string, isColored: boolean): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as {
    level: string;
    time: string;
    msg: string;
  };
  const isRequest = line.endsWith(REQUEST_END);
  const paint = (color: number, text: string) =>
    isColored ? `\u001b[${color}m${text}\u001b[39m` : text;
  const message = isRequest ? requestText(fields as ReadRequest) : msg;
  const shown = isRequest || Object.keys(fields).length === 0 ? "" : JSON.stringify(fields);
  const rest = shown === "" ? "" : ` ${paint(GRAY, showHidden(shown))}`;
  const head = `[${time.slice(11, 23)}] ${paint(COLORS[level]!, level.toUpperCase())}`;
  return `${head}: ${paint(CYAN, showHidden(message))}${rest}\n`;
}
