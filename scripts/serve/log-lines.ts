/** The log of the runtime: JSON lines as the Worker writes them, or short ones for people. */
import type { Readable, Writable } from "node:stream";
import type { AuditRecord } from "../../src/access/audit/audit-record";
import { CLOSING } from "../../src/worker/http/closing";

export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Wide enough for every level. */
const LEVEL_WIDTH = 5;
/** A value without blanks and quotes needs no quotes. */
const PLAIN = /^[^\s"]+$/;

/** What the runtime's parser says about a request that never reaches the Worker, as if it were an error of the server. A stack follows. */
const MALFORMED =
  /^workerd\/server\/\S+ error: Uncaught exception: (?:kj\/compat\/http\.c\+\+|workerd\/io\/worker-entrypoint\.c\+\+):\d+: failed: (.*)$/;
const MALFORMED_REASON =
  /^(?:invalid Content-Length header value|unknown transfer encoding|jsg\.TypeError: Incoming CONNECT on a worker not supported)/;
const STACK = /^stack: /;
/** What the runtime says when a client leaves in the middle of an answer, as if it were an error of the server. A stack follows. */
const CLIENT_LEFT =
  /^workerd\/server\/\S+ error: kj::getCaughtExceptionAsKj\(\) = kj\/async-io-unix\.c\+\+:\d+: disconnected: .*: (?:Broken pipe|Connection reset by peer)$/;

/** What the runtime says of a client that does not trust the certificate, or speaks no TLS. More lines of the same and a stack follow. */
const REFUSED_HANDSHAKE = /^kj\/compat\/tls\.c\+\+:\d+: error: error accepting tls connection;/;
const REASON_OF_TLS = /OPENSSL_internal:(\w+)/;
const MORE_OF_TLS = /^error:[0-9a-f]+:SSL routines:/;

/**
 * Copies the log of the runtime; "json" leaves the lines as they are. A line that comes while `isWanted` says no is left out, and so is that a client has
 * left. A malformed request and a failed TLS handshake are one line, without the runtime's stack. Lines that come together are written together: with the
 * audit log there is one for each write, and a write to a pipe holds up this process.
 */
export function printLog(from: Readable, to: Writable, { format, isWanted }: { format: LogFormat; isWanted: () => boolean }): void {
  let stackIsNoise = false;
  const toldOf = (line: string): string => {
    if (line.startsWith("{")) {
      stackIsNoise = false;
      return format === "json" ? `${line}\n` : `${logLineText(line)}\n`;
    }
    if (stackIsNoise && (MORE_OF_TLS.test(line) || STACK.test(line))) {
      stackIsNoise = MORE_OF_TLS.test(line);
      return "";
    }
    const clientFault = clientFaultIn(line);
    const closes = isClosing(line);
    stackIsNoise = closes || clientFault !== undefined;
    if (closes) return "";
    const told = clientFault ?? line;
    return `${format === "json" ? told : logLineText(told)}\n`;
  };
  const print = (lines: readonly string[]): void => {
    const told = lines.map(toldOf).join("");
    if (told !== "" && isWanted()) to.write(told);
  };
  let rest = "";
  from.setEncoding("utf8");
  from.on("data", (text: string) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? "";
    print(lines);
  });
  from.on("end", () => {
    if (rest !== "") print([rest]);
  });
}

/** An error that only closes a connection, or says that a client has closed one. */
function isClosing(line: string): boolean {
  return (line.startsWith("workerd/server/") && line.endsWith(`jsg.Error: ${CLOSING}`)) || CLIENT_LEFT.test(line);
}

/** One line for what a client did wrong before the Worker hears of it; undefined: the line is of something else. */
function clientFaultIn(line: string): string | undefined {
  if (REFUSED_HANDSHAKE.test(line)) return eventLine("info", "TLS handshake failed", REASON_OF_TLS.exec(line)?.[1] ?? "unknown");
  const [, reason] = MALFORMED.exec(line) ?? [];
  return reason !== undefined && MALFORMED_REASON.test(reason) ? eventLine("warn", "malformed request", reason) : undefined;
}

function eventLine(level: "info" | "warn", event: string, reason: string): string {
  return JSON.stringify({ time: new Date().toISOString(), level, event, reason });
}

/**
 * One line of the log for people: local time, level, event, then the fields as name=value. A line that the Worker did not write as an event stays as
 * it is.
 */
export function logLineText(line: string): string {
  const { time, level, event, ...fields } = eventOf(line) ?? {};
  if (typeof time !== "string" || typeof level !== "string" || typeof event !== "string") return line;
  const told = Object.entries(event === "audit" ? auditFields(fields) : fields).map(([name, value]) => ` ${name}=${valueText(value)}`);
  return `${new Date(time).toLocaleTimeString("en-GB")} ${level.padEnd(LEVEL_WIDTH)} ${event}${told.join("")}`;
}

/** What a person looks for in an audit record: who, what, and the outcome. */
function auditFields({ record }: Record<string, unknown>): Record<string, unknown> {
  const { verb, user, impersonatedUser, objectRef = {}, requestURI, responseStatus } = record as Partial<AuditRecord>;
  const { resource, namespace, name, subresource } = objectRef;
  const object = [resource, namespace, name, subresource].filter((part) => part !== undefined).join("/");
  return {
    user: user?.username,
    ...(impersonatedUser ? { as: impersonatedUser.username } : {}),
    verb,
    object: object === "" ? requestURI : object,
    code: responseStatus?.code,
  };
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
