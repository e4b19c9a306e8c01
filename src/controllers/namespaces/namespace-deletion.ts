/**
 * Empties namespaces that are being deleted and lets them go (rule 20, upstream pkg/controller/namespace/deletion).
 *
 *   1 close the namespace in every store: persisted there, asked in every commit turn, so nothing can appear behind our back
 *   2 delete its Pods, and only when none is left what the other stores hold of it (KEP-5080: what guards Pods outlives them)
 *   3 say in its status how far that went
 *   4 only after a pass that found every store empty: remove the finalizer `kubernetes`
 *
 * Takes no input but the namespaces as they are, so it may be run at any time, by anyone, any number of times.
 */
import type { Recorder } from "../../core/base/ports";
import type { DeletionProgress } from "./namespace-conditions";
import type { Namespace } from "../../api/meta/kubernetes";
import type { NamespaceRemains } from "../../api/rpc/store";
import { NAMESPACE_FINALIZER } from "../../api/registry/namespaces/strategy";

export interface TerminatingNamespace {
  name: string;
  uid: string;
}

/** The store of one namespaced resource. */
export interface NamespaceContent {
  group: string;
  resource: string;
  close(name: string, uid: string): Promise<void>;
  /** deletes; answers what is left (behind finalizers, or while it ends gracefully) */
  empty(name: string, uid: string): Promise<NamespaceRemains | "notClosed">;
}

export interface NamespaceDeletionPorts {
  recorder: Recorder;
  terminating(): Promise<TerminatingNamespace[]>;
  content: readonly NamespaceContent[];
  /** writes how far the deletion went into the status of the namespace with this uid; nothing when the status says so already */
  report(namespace: TerminatingNamespace, progress: DeletionProgress): Promise<void>;
  /** removes the finalizer `kubernetes` from the namespace with this uid */
  finalize(namespace: TerminatingNamespace): Promise<void>;
}

/** The namespace without the finalizer `kubernetes`, everything else as it is; undefined when it does not have it. */
export function withoutFinalizer(namespace: Namespace): Namespace | undefined {
  const finalizers = namespace.spec?.finalizers ?? [];
  if (!finalizers.includes(NAMESPACE_FINALIZER)) return undefined;
  return { ...namespace, spec: { ...namespace.spec, finalizers: finalizers.filter((finalizer) => finalizer !== NAMESPACE_FINALIZER) } };
}

export interface NamespaceDeletionStatus {
  seen: number;
  finished: number;
  failed: number;
}

/** One pass. What is not finished is left for the next one; never rejects for one namespace's sake. */
export async function deleteNamespaces(ports: NamespaceDeletionPorts): Promise<NamespaceDeletionStatus> {
  const namespaces = await ports.terminating();
  const status: NamespaceDeletionStatus = { seen: namespaces.length, finished: 0, failed: 0 };
  for (const namespace of namespaces) {
    try {
      if (await emptied(ports, namespace)) {
        await ports.finalize(namespace);
        status.finished++;
      }
    } catch (error) {
      status.failed++;
      ports.recorder.log("warn", "namespace deletion", { namespace: namespace.name, error: String(error) });
    }
  }
  return status;
}

/** Whether nothing is left. Throws when that cannot be known. */
async function emptied(ports: NamespaceDeletionPorts, namespace: TerminatingNamespace): Promise<boolean> {
  const { name, uid } = namespace;
  await Promise.all(ports.content.map((content) => content.close(name, uid)));
  const pass = new Pass(namespace);
  await pass.empty(ports.content.filter(isPods));
  if (pass.isEmpty) await pass.empty(ports.content.filter((content) => !isPods(content)));
  await ports.report(namespace, pass);
  if (pass.failures.length > 0) throw new Error(pass.failures.join(", "));
  return pass.isEmpty;
}

function isPods({ group, resource }: NamespaceContent): boolean {
  return group === "" && resource === "pods";
}

/** What one pass finds. */
class Pass implements DeletionProgress {
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
    const resource = `${content.resource}.${content.group}`;
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
      this.failures.push(`${resource}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
