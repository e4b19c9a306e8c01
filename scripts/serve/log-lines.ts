/** The log of the runtime: JSON lines as the Worker writes them, or short ones for people. */
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Wide enough for every level. */
const LEVEL_WIDTH = 5;
/** A value without blanks and quotes needs no quotes. */
const PLAIN = /^[^\s"]+$/;

/** Copies the log of the runtime line by line; "json" leaves the lines as they are. A line that comes while `isWanted` says no is left out. */
export function printLog(from: Readable, to: Writable, { format, isWanted }: { format: LogFormat; isWanted: () => boolean }): void {
  createInterface({ input: from, crlfDelay: Infinity }).on("line", (line) => {
    if (isWanted()) to.write(`${format === "json" ? line : logLineText(line)}\n`);
  });
}

/**
 * One line of the log for people: local time, level, event, then the fields as name=value. A line that the Worker did not write as an event stays as
 * it is.
 */
export function logLineText(line: string): string {
  const { time, level, event, ...fields } = eventOf(line) ?? {};
  if (typeof time !== "string" || typeof level !== "string" || typeof event !== "string") return line;
  const told = Object.entries(fields).map(([name, value]) => ` ${name}=${valueText(value)}`);
  return `${new Date(time).toLocaleTimeString("en-GB")} ${level.padEnd(LEVEL_WIDTH)} ${event}${told.join("")}`;
}

function eventOf(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function valueText(value: unknown): string {
  return typeof value === "string" && PLAIN.test(value) ? value : JSON.stringify(value);
}
