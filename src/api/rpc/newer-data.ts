/** Objects that a newer release has written, after a rollback that goes back too far. */

/** The code in the text of the error with which such an object refuses each call: errors cross calls as their text. */
const NEWER_DATA = "NEWER_DATA";

/** What steps of its schema an object has, from which on its rows can be read, and which this release knows. */
export interface NewerSchema {
  found: number;
  readableFrom: number;
  known: number;
}

/** The error of an object whose rows this release cannot read. */
export function newerData({ found, readableFrom, known }: NewerSchema): Error {
  const steps = `it is of schema ${String(found)}, which is readable from schema ${String(readableFrom)} on, and this release knows ${String(known)}`;
  return new Error(`${NEWER_DATA}: a newer release has written this object: ${steps}`);
}

/** What such an error says to clients; undefined = it is another one. */
export function newerDataIn(message: string): string | undefined {
  return new RegExp(`${NEWER_DATA}: (.*)$`, "mu").exec(message)?.[1];
}
