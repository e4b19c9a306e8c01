/**
 * Names of Nodes that Pods stand on and that no Node has, each with the time since which it is missing here. A Node that comes back within the
 * quarantine keeps its Pods (upstream's quarantineTime). After an absence of the server each quarantine begins anew, as with every start of
 * upstream's controller: a Node cannot come back while the server is away.
 */
import type { KeptRows } from "../../controllers/followed/kept-rows";

const KIND = "missing";
const QUARANTINE_MS = 40_000;

export class MissingNodes {
  readonly #since = new Map<string, number>();

  constructor(private readonly rows: Pick<KeptRows, "saved" | "put" | "delete">) {}

  load(): void {
    for (const [name, { since }] of this.rows.saved<{ since: number }>(KIND)) this.#since.set(name, since);
  }

  get isEmpty(): boolean {
    return this.#since.size === 0;
  }

  /** @param missing all names that are missing now */
  set(missing: ReadonlySet<string>, nowMs: number): void {
    for (const name of this.#since.keys()) if (!missing.has(name)) this.#forget(name);
    for (const name of missing) {
      const since = this.#since.get(name);
      // A time in the future: the clock was set back.
      if (since === undefined || since > nowMs) this.startAnew(name, nowMs);
    }
  }

  /** The names whose quarantine is over. */
  outOfQuarantine(nowMs: number): string[] {
    return [...this.#since].filter(([, since]) => since + QUARANTINE_MS <= nowMs).map(([name]) => name);
  }

  /** When the next quarantine ends; undefined = there is none. */
  nextEnd(nowMs: number): number | undefined {
    const ends = [...this.#since.values()].map((since) => since + QUARANTINE_MS).filter((end) => end > nowMs);
    return ends.length > 0 ? ends.reduce((a, b) => Math.min(a, b)) : undefined;
  }

  startAllAnew(nowMs: number): void {
    for (const name of this.#since.keys()) this.startAnew(name, nowMs);
  }

  startAnew(name: string, nowMs: number): void {
    this.rows.put(KIND, name, { since: nowMs }, !this.#since.has(name));
    this.#since.set(name, nowMs);
  }

  #forget(name: string): void {
    if (this.#since.delete(name)) this.rows.delete(KIND, name);
  }
}
