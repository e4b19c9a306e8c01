/**
 * Empties namespaces that are being deleted and lets them go (PROTOCOL rule 20, upstream pkg/controller/namespace/deletion).
 *
 *   1 close the namespace in every store: persisted there, asked in every commit turn, so nothing can appear behind our back
 *   2 delete what every store holds of it
 *   3 only after a pass that found every store empty: remove the finalizer `kubernetes`
 *
 * Takes no input but the namespaces as they are, so it may be run at any time, by anyone, any number of times.
 */
import type { Recorder } from "../base/ports";
import type { Namespace } from "../meta/kubernetes";
import { NAMESPACE_FINALIZER } from "../registry/namespaces/strategy";

export interface TerminatingNamespace {
  name: string;
  uid: string;
}

/** The store of one namespaced resource. */
export interface NamespaceContent {
  resource: string;
  close(name: string, uid: string): Promise<void>;
  /** deletes; answers how many objects are left (behind finalizers) */
  empty(name: string, uid: string): Promise<number | "notClosed">;
}

export interface NamespaceDeletionPorts {
  recorder: Recorder;
  terminating(): Promise<TerminatingNamespace[]>;
  content: readonly NamespaceContent[];
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

async function emptied(ports: NamespaceDeletionPorts, { name, uid }: TerminatingNamespace): Promise<boolean> {
  await Promise.all(ports.content.map((content) => content.close(name, uid)));
  const left = await Promise.all(ports.content.map((content) => content.empty(name, uid)));
  return left.every((count) => count === 0);
}
