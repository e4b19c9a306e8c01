/** Limits of the calls between objects, with the unit in the name and the reason for the size. */

/** Past it an operation may only release (rule 7). */
export const OPERATION_DEADLINE_MS = 20_000;

/** One call between objects. Shorter than the operation's deadline, so that there is time to ask again after a lost answer. */
export const RPC_TIMEOUT_MS = 5_000;

/** A commit that a turn waits for and that takes longer counts as lost. Half of an operation's time, so that one that waited could still be carried out. */
export const COMMIT_DEADLINE_MS = 10_000;
