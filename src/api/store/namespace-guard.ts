/**
 * Whether a store may create objects in a namespace. What is open is remembered in memory; what is closed is a row, because
 * deletion of a namespace counts on it (PROTOCOL rule 20): it closes the namespace in every store before it lists what to delete,
 * and every commit turn asks here, so nothing can appear behind its back, however late the create is.
 */
import type { Namespace } from "../meta/kubernetes";
import { forbidden, notFound, serviceUnavailable, type Status } from "../meta/status";
import type { ResourceDefinition } from "../registry/resource";
import type { GetResult } from "../rpc/store";

export interface NamespaceGuardStorage {
  /** uids of namespaces whose deletion has begun here */
  namespaceClosedUid(name: string): string | undefined;
  namespaceClose(name: string, uid: string): void;
  namespaceOpen(name: string): void;
}

const NAMESPACES = { group: "", resource: "namespaces", kind: "Namespace" };

/** Names of namespaces that are not open come from clients, so what is remembered about them is bounded. */
const ANSWERS_MAX = 1_000;

type Known = { kind: "open"; uid: string } | { kind: "terminating" } | { kind: "missing" } | { kind: "unknown"; status: Status };

export class NamespaceGuard {
  readonly #open = new Map<string, string>();
  /** what the last question about a namespace that is not open brought; good for the operation that asked */
  readonly #answers = new Map<string, Known>();
  #closes = 0;

  constructor(
    private readonly storage: NamespaceGuardStorage,
    /** the namespace's object from its store */
    private readonly lookUp: (name: string) => Promise<GetResult>,
  ) {}

  isOpen(name: string): boolean {
    return this.#open.has(name);
  }

  /** How many deletions have begun here: an answer asked for before the last of them may be out of date. */
  get closes(): number {
    return this.#closes;
  }

  /** Asks for the namespace unless it is known to be open. false = nobody could tell how it is. Never rejects. */
  async learn(name: string): Promise<boolean> {
    if (this.#open.has(name)) return true;
    const closes = this.#closes;
    const known = await this.#ask(name);
    // The answer is from before a deletion began: it may speak of the namespace that goes.
    if (closes !== this.#closes) return this.learn(name);
    const closedUid = this.storage.namespaceClosedUid(name);
    if (known.kind === "open" && known.uid !== closedUid) {
      this.#open.set(name, known.uid);
      this.#answers.delete(name);
      if (closedUid !== undefined) this.storage.namespaceOpen(name);
    } else {
      if (this.#answers.size >= ANSWERS_MAX) this.#answers.clear();
      this.#answers.set(name, known.kind === "open" ? { kind: "terminating" } : known);
    }
    return known.kind !== "unknown";
  }

  /** Why nothing may be created in the namespace now, or undefined. To be asked in the turn that commits. */
  refuses(name: string, definition: ResourceDefinition, objectName: () => string): Status | undefined {
    if (this.#open.has(name)) return undefined;
    const known = this.#answers.get(name) ?? { kind: "terminating" };
    switch (known.kind) {
      case "missing":
        return notFound(NAMESPACES, name);
      case "unknown":
        return known.status;
      default:
        return forbidden(definition, objectName(), `unable to create new content in namespace ${name} because it is being terminated`, [
          { reason: "NamespaceTerminating", message: `namespace ${name} is being terminated`, field: "metadata.namespace" },
        ]);
    }
  }

  /** Whether the deletion of this namespace (this uid) is what closed it here: then what it holds may go. */
  isClosed(name: string, uid: string): boolean {
    return this.storage.namespaceClosedUid(name) === uid;
  }

  /**
   * From now on nothing is created in this namespace (this uid). Durable with the turn. A call that comes late finds the name open for
   * another namespace and does nothing: that one is newer, because the older one was closed here before it could go. To know that it
   * has to `learn` first, and must not close when nobody could tell.
   */
  close(name: string, uid: string): void {
    if ((this.#open.get(name) ?? uid) !== uid) return;
    this.#closes++;
    this.#open.delete(name);
    this.#answers.delete(name);
    this.storage.namespaceClose(name, uid);
  }

  async #ask(name: string): Promise<Known> {
    let answer: GetResult;
    try {
      answer = await this.lookUp(name);
    } catch {
      return { kind: "unknown", status: serviceUnavailable("the namespaces store did not answer", 1) };
    }
    if (!answer.ok) return answer.status.code === 404 ? { kind: "missing" } : { kind: "unknown", status: answer.status };
    const namespace = JSON.parse(answer.object) as Namespace;
    if (namespace.metadata?.deletionTimestamp) return { kind: "terminating" };
    return { kind: "open", uid: namespace.metadata?.uid ?? "" };
  }
}
