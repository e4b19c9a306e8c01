/**
 * The version of the calls from a Worker to its objects and between objects (rule 31). During a deployment, and after a rollback, they run
 * different releases for minutes.
 *
 * Additions raise no version. A method that the called object does not have, or a verb that it does not know, is `unsupported` there, and nothing
 * was carried out. A version is raised where the release before would take a call for another one. That takes two releases: the first knows the new
 * version and speaks the old one, the next speaks it.
 */

/** What this release speaks. */
export const SPOKEN = 1;
/** Which callers this release understands. 0: a caller that names no version, as the release before versions. */
export const UNDERSTOOD = { from: 0, to: 1 } as const;

/** Where a list, a watch or a poll names the version. */
export const PROTOCOL_HEADER = "x-servicenet-protocol";

/** Behind the last argument that any method has: an object that knows no versions does not look there. It costs a byte for each place, and no call. */
const VERSION_AT = 7;

/** The code in the text of the error: errors cross calls as their text. */
export const UNSUPPORTED = "UNSUPPORTED_CALL";

/** What a client is told of it, at the end of the message of a 503. */
export const OTHER_RELEASE = "a part of it runs another release";

/** What the platform says of a method that the called object does not have (workerd worker-rpc.c++). */
const METHOD_MISSING = "does not implement the method";

/** What a store says whose release does not serve its resource (durable-objects/store-ports.ts). */
const RESOURCE_MISSING = "no resource ";

/** The error of a store of a resource that this release does not serve: a newer release called it. Nothing was carried out. */
export function resourceMissing(group: string, resource: string): Error {
  return new Error(`${RESOURCE_MISSING}${resource} in group ${group}`);
}

const UNSUPPORTED_TEXTS = [UNSUPPORTED, METHOD_MISSING, RESOURCE_MISSING];

/** The arguments of a call, with the version behind them. */
export function withVersion(args: readonly unknown[]): unknown[] {
  const sent: unknown[] = Array.from({ length: VERSION_AT + 1 });
  for (const [i, argument] of args.entries()) sent[i] = argument;
  sent[VERSION_AT] = SPOKEN;
  return sent;
}

/**
 * The arguments of a call without the version.
 *
 * @param method of the object, for the error
 * @throws the error of `unsupported` where the caller speaks a version that this release does not understand
 */
export function withoutVersion(args: readonly unknown[], method: string): readonly unknown[] {
  if (!namesVersion(args)) return args;
  checkVersion(args[VERSION_AT], method);
  return args.slice(0, VERSION_AT);
}

/** Whether the caller of a method names a version. One that does not is of the release before versions. */
export function namesVersion(args: readonly unknown[]): boolean {
  return args.length > VERSION_AT;
}

/** The check of `withoutVersion` for a request; `version` = the value of PROTOCOL_HEADER, null where the caller names none. */
export function checkHeader(version: string | null, method: string): void {
  checkVersion(version === null ? 0 : Number(version), method);
}

function checkVersion(version: unknown, method: string): void {
  const { from, to } = UNDERSTOOD;
  if (typeof version === "number" && version >= from && version <= to) return;
  throw unsupported(`${method} in version ${String(version)} of the protocol; this object understands ${String(from)} to ${String(to)}`);
}

/** The error of a called object that does not know what it is asked. To be thrown before anything is carried out. */
export function unsupported(what: string): Error {
  return new Error(`${UNSUPPORTED}: ${what}`);
}

/** Whether the called object does not know the version, the method, the verb or its own resource. Nothing was carried out. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof Error && UNSUPPORTED_TEXTS.some((text) => error.message.includes(text));
}
