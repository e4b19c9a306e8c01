/**
 * Empties namespaces that are being deleted and lets them go (rule 20, upstream pkg/controller/namespace/deletion).
 *
 *   1 close the namespace in every store: stored there and read in every commit turn, so no object can appear later
 *   2 delete its Pods, and only when none is left what the other stores hold of it (KEP-5080: objects that guard Pods outlive them)
 *   3 say in its status how far that went
 *   4 only after a pass that found every store empty: remove the finalizer `kubernetes`
 *
 * The present namespaces are the only input, so a pass may run at any time, any number of times. It begins behind the namespace that was begun last. So a
 * slow store keeps no namespace from its turn.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import type { DeletionProgress } from "./namespace-conditions";
import type { Namespace } from "../../api/meta/kubernetes";
import type { NamespaceRemains } from "../../api/rpc/store";
import { NAMESPACE_FINALIZER } from "../../api/registry/namespaces/strategy";
import { Frame } from "../frame/frame";
import type { Outcome } from "../frame/round";

/** After this time a pass begins no other namespace. One namespace takes a few calls, each with a timeout. */
const PASS_BUDGET_MS = 120_000;

export interface TerminatingNamespace {
  name: string;
  uid: string;
}

/** The store of one namespaced resource. */
export interface NamespaceContent {
  group: string;
  resource: string;
  /**
   * Whether nobody ever wrote to it when this was asked. It is not made to be told of the deletion: before its first write it asks for the namespace
   * (plain-store.ts), which is in deletion or gone. Never rejects.
   */
  isUnused(): Promise<boolean>;
  close(name: string, uid: string): Promise<void>;
  /** deletes; answers the objects that stay, behind finalizers or during a graceful end */
  empty(name: string, uid: string): Promise<NamespaceRemains | "notClosed">;
}

export interface NamespaceDeletionPorts {
  clock: Pick<Clock, "now" | "after">;
  recorder: Recorder;
  /** in the order of their names */
  terminating(): Promise<TerminatingNamespace[]>;
  content: readonly NamespaceContent[];
  /** writes the progress of the deletion into the status of the namespace with this uid, unless the status has it already */
  report(namespace: TerminatingNamespace, progress: DeletionProgress): Promise<void>;
  /** removes the finalizer `kubernetes` from the namespace with this uid */
  finalize(namespace: TerminatingNamespace): Promise<void>;
}

export interface EmptyingProgress extends DeletionProgress {
  /** every store has said that it holds nothing */
  isEmpty: boolean;
}

/** The namespace without the finalizer `kubernetes`; undefined when it does not have the finalizer. */
export function withoutFinalizer(namespace: Namespace): Namespace | undefined {
  const finalizers = namespace.spec?.finalizers ?? [];
  if (!finalizers.includes(NAMESPACE_FINALIZER)) return undefined;
  return { ...namespace, spec: { ...namespace.spec, finalizers: finalizers.filter((finalizer) => finalizer !== NAMESPACE_FINALIZER) } };
}

export function namespaceDeletion(ports: NamespaceDeletionPorts): Frame<TerminatingNamespace> {
  /** the name of the namespace that was begun last */
  let reached = "";

  async function plan(): Promise<TerminatingNamespace[]> {
    const namespaces = await ports.terminating();
    return [...namespaces.filter(({ name }) => name > reached), ...namespaces.filter(({ name }) => name <= reached)];
  }

  async function write(namespace: TerminatingNamespace): Promise<Outcome> {
    reached = namespace.name;
    try {
      if (!(await emptied(ports, namespace))) return "later";
      await ports.finalize(namespace);
      return "done";
    } catch (error) {
      ports.recorder.log("warn", "a namespace was not emptied yet", { namespace: namespace.name, error: String(error) });
      throw error;
    }
  }

  return new Frame(ports, { work: { plan, write, nameOf: ({ name }) => name, atOnce: 1 }, budgetMs: PASS_BUDGET_MS });
}

/** Whether nothing is left. Throws when that is unknown. */
async function emptied(ports: NamespaceDeletionPorts, namespace: TerminatingNamespace): Promise<boolean> {
  const progress = await emptyEverywhere(ports.content, namespace);
  await ports.report(namespace, progress);
  if (progress.failures.length > 0) throw new Error(progress.failures.join(", "));
  return progress.isEmpty;
}

/**
 * Closes the namespace in every store that is used, and answers these. To be called when the deletion is durable. Rejects with the names and errors of those
 * that have not closed it.
 */
export async function closeEverywhere(
  contents: readonly NamespaceContent[],
  { name, uid }: TerminatingNamespace,
): Promise<readonly NamespaceContent[]> {
  const unused = await Promise.all(contents.map((content) => content.isUnused()));
  const used = contents.filter((_, i) => unused[i] !== true);
  const failures: string[] = [];
  const close = async (content: NamespaceContent): Promise<void> => {
    try {
      await content.close(name, uid);
    } catch (error) {
      failures.push(failureOf(content, error));
    }
  };
  await Promise.all(used.map(close));
  if (failures.length > 0) throw new Error(failures.join(", "));
  return used;
}

function qualified({ group, resource }: NamespaceContent): string {
  return `${resource}.${group}`;
}

function failureOf(content: NamespaceContent, error: unknown): string {
  return `${qualified(content)}: ${error instanceof Error ? error.message : String(error)}`;
}

/** Steps 1 and 2. Rejects unless every store has closed the namespace. */
export async function emptyEverywhere(contents: readonly NamespaceContent[], namespace: TerminatingNamespace): Promise<EmptyingProgress> {
  const closed = await closeEverywhere(contents, namespace);
  const pass = new Emptying(namespace);
  await pass.empty(closed.filter(isPods));
  if (pass.isEmpty) await pass.empty(closed.filter((content) => !isPods(content)));
  return pass;
}

function isPods({ group, resource }: NamespaceContent): boolean {
  return group === "" && resource === "pods";
}

/** The findings of one pass. */
class Emptying implements EmptyingProgress {
  readonly remaining = new Map<string, number>();
  readonly finalizers = new Map<string, number>();
  readonly failures: string[] = [];
  #isUnknown = false;

  constructor(private readonly namespace: TerminatingNamespace) {}

  get isEmpty(): boolean {
    return !this.#isUnknown && this.remaining.size === 0;
  }

  async empty(contents: readonly NamespaceContent[]): Promise<void> {
    await Promise.all(contents.map((content) => this.#emptyOne(content)));
  }

  async #emptyOne(content: NamespaceContent): Promise<void> {
    const resource = qualified(content);
    try {
      const left = await content.empty(this.namespace.name, this.namespace.uid);
      if (left === "notClosed") {
        this.#isUnknown = true;
        return;
      }
      if (left.objects > 0) this.remaining.set(resource, left.objects);
      for (const [finalizer, count] of left.finalizers) this.finalizers.set(finalizer, (this.finalizers.get(finalizer) ?? 0) + count);
    } catch (error) {
      this.#isUnknown = true;
      this.failures.push(failureOf(content, error));
    }
  }
}
