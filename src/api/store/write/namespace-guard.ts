/**
 * Whether a store may create objects in a namespace. Open namespaces are remembered in memory. A closed one is a row, because the deletion of
 * a namespace depends on it (rule 20): the deletion closes the namespace in every store before it lists objects. Every commit turn asks here,
 * so that no late create appears after the list.
 */
import type { Namespace } from "../../meta/kubernetes";
import { forbidden, notFound, serviceUnavailable, type Status } from "../../meta/status";
import type { ResourceDefinition } from "../../registry/resource";
import type { GetResult } from "../../rpc/store";

export interface NamespaceGuardStorage {
  /** uids of namespaces whose deletion has begun here */
  namespaceClosedUid(name: string): string | undefined;
  namespaceClose(name: string, uid: string): void;
  namespaceOpen(name: string): void;
}

const NAMESPACES = { group: "", resource: "namespaces", kind: "Namespace" };

/** Names of namespaces that are not open come from clients, so what is remembered about them is bounded. */
const ANSWERS_MAX = 1_000;

type KnownNamespace = { kind: "open"; uid: string } | { kind: "terminating" } | { kind: "missing" } | { kind: "unknown"; status: Status };

export class NamespaceGuard {
  readonly #open = new Map<string, string>();
  /** the last answer about each namespace that is not open; valid for the operation that asked */
  readonly #answers = new Map<string, KnownNamespace>();
  /** questions under way */
  readonly #asking = new Map<string, Promise<unknown>>();
  #closes = 0;

  constructor(
    private readonly storage: NamespaceGuardStorage,
    /** the namespace's object from its store */
    private readonly lookUp: (name: string) => Promise<GetResult>,
  ) {}

  isOpen(name: string): boolean {
    return this.#open.has(name);
  }

  /** How many deletions have begun here, or may have: an answer asked for before the last of them may be out of date. */
  get closes(): number {
    return this.#closes;
  }

  /**
   * Asks for the namespace unless it is known to be open, and open for this `uid` when one is given. false = the namespaces store did not answer. Never
   * rejects.
   */
  async learn(name: string, uid?: string): Promise<boolean> {
    const underWay = this.#asking.get(name);
    if (underWay && uid === undefined) {
      await underWay;
      // Open, it stays so until it is closed here. That there was none may be an answer of before it was made, so that is asked again.
      if (this.#open.has(name)) return true;
    }
    const asking = this.#learnAnew(name, uid);
    this.#asking.set(name, asking);
    const isAnswered = await asking;
    if (this.#asking.get(name) === asking) this.#asking.delete(name);
    return isAnswered;
  }

  async #learnAnew(name: string, uid?: string): Promise<boolean> {
    const before = this.#open.get(name);
    if (before !== undefined && (uid ?? before) === before) return true;
    const closes = this.#closes;
    const known = await this.#ask(name);
    // A deletion began after the question: the answer may be about the namespace that is being deleted.
    if (closes !== this.#closes) return this.#learnAnew(name, uid);
    if (known.kind === "unknown" && before !== undefined) return false;
    // The one that was open has gone, and nobody closed it here.
    if (before !== undefined && this.#open.get(name) === before) this.#open.delete(name);
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

  /** Whether the deletion of this namespace (this uid) closed it here: then its objects may be deleted. */
  isClosed(name: string, uid: string): boolean {
    return this.storage.namespaceClosedUid(name) === uid;
  }

  /**
   * What is known of open namespaces counts no more, not even an answer under way: each is asked for again. For a store that was not known as used until
   * now. Who deleted a namespace meanwhile has not closed it here.
   */
  forget(): void {
    this.#closes++;
    this.#open.clear();
    this.#answers.clear();
  }

  /**
   * From now on nothing is created in this namespace (this uid). Durable with the turn. A late call finds the name open for another namespace
   * and does nothing: the other one is newer, because the older one was closed here before it could be removed. The caller must `learn` of this uid
   * first, and must not close without an answer.
   */
  close(name: string, uid: string): void {
    if ((this.#open.get(name) ?? uid) !== uid) return;
    this.#closes++;
    this.#open.delete(name);
    this.#answers.delete(name);
    this.storage.namespaceClose(name, uid);
  }

  async #ask(name: string): Promise<KnownNamespace> {
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
