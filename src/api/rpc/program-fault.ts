/** Faults of the program itself, which no other try mends. */
import { isUnsupported } from "./protocol";

/** Errors cross RPC without their class and with their name. */
const NAMES: ReadonlySet<string> = new Set(["TypeError", "RangeError", "ReferenceError", "SyntaxError", "InvariantError"]);

/**
 * Whether a call failed because the caller or the called object is wrong. Otherwise the platform failed, the peer did not answer, or it is of another
 * release, whose lack of a method is a TypeError as well.
 */
export function isProgramFault(error: unknown): boolean {
  return !(error instanceof Error) || (NAMES.has(error.name) && !isUnsupported(error));
}
