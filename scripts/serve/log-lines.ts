/** The log of the runtime: JSON lines as the Worker writes them, or short ones for people. */
import type { Readable, Writable } from "node:stream";
import type { AuditRecord } from "../../src/access/audit/audit-record";
import { DISK_FAULTS, diskFaultIn } from "../../src/core/base/disk-fault";
import { CLOSING } from "../../src/worker/http/connection/closing";

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

/** What the runtime says of an object or a file that could not be written. A stack follows. */
const OUTPUT_LOST = /^workerd\/\S+ (?:error|warning): .*: (?:SQLITE_[A-Z]+|No space left on device|Read-only file system|File too large)/;
/** What objects say when that happened to them. */
const LOST_TURNS: ReadonlySet<unknown> = new Set(["a turn was lost", "an owner lost a transaction", "the Coordinator failed"]);
/** The same fault is told again after so long. */
const FAULT_EVERY_MS = 60_000;

/** Which faults of the disk were told, and when. Both streams of a runtime share it. */
export class ToldFaults {
  readonly #toldAt = new Map<string, number>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  isNew(fault: string): boolean {
    const now = this.now();
    const isNew = now - (this.#toldAt.get(fault) ?? -Infinity) >= FAULT_EVERY_MS;
    if (isNew) this.#toldAt.set(fault, now);
    return isNew;
  }
}

interface PrintOptions {
  format: LogFormat;
  isWanted: () => boolean;
  faults?: ToldFaults;
}

/**
 * Copies the log of the runtime; "json" leaves the lines as they are. A line that comes while `isWanted` says no is left out, and so is that a client has
 * left. A malformed request, a failed TLS handshake and a disk that takes no data are one line, without the runtime's stack. Lines that come together are written together: with the
 * audit log there is one for each write, and a write to a pipe holds up this process.
 */
export function printLog(from: Readable, to: Writable, { format, isWanted, faults = new ToldFaults() }: PrintOptions): void {
  let stackIsNoise = false;
  const toldOf = (line: string): string => {
    if (line.startsWith("{")) {
      stackIsNoise = false;
      const fault = line.includes('"level":"error"') ? faultToldIn(line) : undefined;
      if (fault !== undefined) {
        if (!faults.isNew(fault)) return "";
        // An object's own word for it would hide what is wrong.
        if (eventOf(line)?.["event"] !== fault) return shownIn(format, eventLine("error", fault, "an object could not write"));
      }
      return shownIn(format, line);
    }
    if (stackIsNoise && (MORE_OF_TLS.test(line) || STACK.test(line))) {
      stackIsNoise = MORE_OF_TLS.test(line);
      return "";
    }
    const clientFault = clientFaultIn(line);
    const closes = isClosing(line);
    const fault = clientFault === undefined && OUTPUT_LOST.test(line) ? diskFaultIn(line) : undefined;
    stackIsNoise = closes || clientFault !== undefined || fault !== undefined;
    if (closes || (fault !== undefined && !faults.isNew(fault))) return "";
    const told = clientFault ?? (fault === undefined ? line : eventLine("error", fault, "an object could not write"));
    return shownIn(format, told);
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

function shownIn(format: LogFormat, line: string): string {
  return `${format === "json" ? line : logLineText(line)}\n`;
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

/** The fault of the disk that an event of the Worker or of an object tells; undefined: it tells something else. */
function faultToldIn(line: string): string | undefined {
  const { event, error } = eventOf(line) ?? {};
  if (typeof event === "string" && DISK_FAULTS.includes(event)) return event;
  return LOST_TURNS.has(event) && typeof error === "string" ? diskFaultIn(error) : undefined;
}

function eventLine(level: "info" | "warn" | "error", event: string, reason: string): string {
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
