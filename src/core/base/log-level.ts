/** How much of the log is written: the variable LOG_LEVEL. */

/** What an event means to operators: routine, worth knowing, worth a look if it lasts, always worth a look. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const BY_DEFAULT = "info";

/** The least level that is written. An absent or blank text is the default; undefined: it is no level. */
export function parseLogLevel(text: string | undefined): LogLevel | undefined {
  const name = (text ?? "").trim().toLowerCase() || BY_DEFAULT;
  return LOG_LEVELS.find((level) => level === name);
}

/** Whether an event of `level` is written. A text that is no level writes as much as the default. */
export function isWritten(level: LogLevel, text: string | undefined): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(parseLogLevel(text) ?? BY_DEFAULT);
}
