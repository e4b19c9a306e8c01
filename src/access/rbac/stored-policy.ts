/**
 * The compiled rules of a cluster, kept in its store of ClusterRoles, so that one that wakes answers without a call to the stores of other roles and
 * bindings.
 *
 * What must hold
 * - What is kept was whole when it was saved: it is saved in a turn in which no other store may have changed without a word (policy-host.ts).
 * - It goes before it is wrong. A store that tells of a change has its answer when nothing is kept any more, and commits behind that. A change of the own
 *   store takes it away in its own transaction.
 * - So whichever object dies, and when: nothing is kept, or nothing has changed since it was saved.
 * - Data that came back from a backup, and a release that tells nothing, change without a word. So it counts for KEPT_MS at most.
 */

/** How long the rules count that nobody has told of a change of. */
const KEPT_MS = 3_600_000;
/** Behind this time the same rules are saved again. */
const SAVED_AGAIN_MS = KEPT_MS / 2;
/** In characters. A value has 2 MB at most; larger rules are asked for each time. */
const LENGTH_MAX = 512 * 1024;

export interface StoredRules {
  /** the digest of the text */
  version: string;
  /** see CompiledPolicy */
  text: string;
  /** of the texts of all their objects, in characters */
  length: number;
  /** nothing had changed without a word before then, in ms since the epoch */
  asOf: number;
}

/** One value in the database of the store, durable with the writes of the turn. */
export interface StoredPolicyPort {
  load(): StoredRules | undefined;
  save(rules: StoredRules): void;
  remove(): void;
}

export class StoredPolicy {
  /** "none": nothing is there; undefined = nobody has looked */
  #known: StoredRules | "none" | undefined;

  constructor(private readonly port: StoredPolicyPort) {}

  /** What still counts. */
  rulesAt(now: number): StoredRules | undefined {
    const rules = this.#look();
    return rules && now >= rules.asOf && now - rules.asOf < KEPT_MS ? rules : undefined;
  }

  /** Keeps rules that nothing has changed since `asOf`. */
  save(rules: StoredRules): void {
    if (rules.text.length > LENGTH_MAX) return this.remove();
    const before = this.#look();
    const isSame = before?.version === rules.version && before.length === rules.length;
    if (isSame && Math.abs(rules.asOf - before.asOf) < SAVED_AGAIN_MS) return;
    this.port.save(rules);
    this.#known = rules;
  }

  /** Nothing is kept when the turn of this call is durable. */
  remove(): void {
    if (!this.#look()) return;
    this.port.remove();
    this.#known = "none";
  }

  /** A transaction was lost or undone, and with it perhaps a removal. */
  undone(): void {
    this.#known = undefined;
  }

  #look(): StoredRules | undefined {
    this.#known ??= this.port.load() ?? "none";
    return this.#known === "none" ? undefined : this.#known;
  }
}
