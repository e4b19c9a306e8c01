/** Thrown when the program itself is wrong. The Durable Object that catches it drops its memory and reloads. */
export class InvariantError extends Error {
  override name = "InvariantError";
}

/** States what must hold; stays on in production. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** The default branch of an exhaustive switch. */
export function assertNever(value: never): never {
  throw new InvariantError(`unreachable: ${JSON.stringify(value)}`);
}
