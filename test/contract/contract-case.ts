/** One question to a storage port. Each gets an empty storage; Node asks memory, workerd asks the database. */
export interface ContractCase<S> {
  readonly name: string;
  run(storage: S): unknown;
  readonly want: unknown;
}

/** A port whose rows take part in the transactions of its object. */
export type Transacted<S> = S & { transaction<T>(work: () => T): T };

/** The largest integer that both sides keep. */
export const LARGEST = 2 ** 53 - 1;
/** Beyond the basic plane, combining, right to left: as a key and as a text. */
export const UNICODE = "\u{1f600}/é\u0301/שלום";

/** Runs `work` in a transaction that fails at its end; answers what `work` answered. */
export function undone<T>(storage: { transaction(work: () => void): void }, work: () => T): T | undefined {
  let answer: T | undefined;
  try {
    storage.transaction(() => {
      answer = work();
      throw new Undone("undone");
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
  return answer;
}

/** Whether `work` meets a row that there may be once only. */
export function isConflict(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    if (error instanceof Error && error.message.includes("UNIQUE")) return true;
    throw error;
  }
}

/** Rows that the port promises in no order. */
export function sorted<T>(rows: Iterable<T>): T[] {
  return [...rows].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

/** Equal values have equal texts, in whatever order their members are. */
function textOf(row: unknown): string {
  return JSON.stringify(row, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value,
  );
}

class Undone extends Error {}
