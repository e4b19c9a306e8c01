/**
 * The end of a namespace that another controller has emptied, as kube-controller-manager's does beside this server. That controller closes no store,
 * so what was created behind its last list would outlive the namespace (hazard 16). While the cluster's own namespace controller is off, the write that
 * lets a namespace go therefore does itself what rule 20 asks for: it closes the namespace in every store, empties them, and goes through only when
 * nothing is left.
 */
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Namespace } from "../../api/meta/kubernetes";
import { forbidden, serviceUnavailable, type Status } from "../../api/meta/status";
import { namespacesDefinition } from "../../api/registry/namespaces/definition";
import { NAMESPACE_FINALIZER } from "../../api/registry/namespaces/strategy";
import type { Operation, ProposedChange, StoreExtension } from "../../api/store/extension";
import { conditionsAfter } from "./namespace-conditions";
import type { EmptyingProgress, TerminatingNamespace } from "./namespace-deletion";

const RETRY_AFTER_SECONDS = 1;

export interface NamespaceFencePorts {
  clock: Clock;
  /** whether nobody else closes the stores: the namespace controller is off */
  isNeeded(): boolean;
  /** closes and empties the namespace in every store; rejects unless all have closed it */
  fence(namespace: TerminatingNamespace): Promise<EmptyingProgress>;
}

/** The extension of the namespaces store that fences, around another one. */
export function fencingNamespaces(
  { clock, isNeeded, fence }: NamespaceFencePorts,
  inner: StoreExtension<undefined>,
): StoreExtension<undefined> {
  /** uid of the namespace that was empty and closed when the operation asked; from then on it stays so */
  const fenced = new WeakMap<Operation<undefined>, string>();
  return {
    ...inner,
    admit(change, operation) {
      const namespace = change.dryRun ? undefined : endedBy(change);
      if (!namespace || fenced.get(operation) === namespace.uid || !isNeeded()) return inner.admit?.(change, operation) ?? { kind: "go" };
      const supply = async (): Promise<Status | undefined> => {
        const progress = await withTimeout(clock, operation.deadline - clock.now(), fence(namespace)).catch(() => undefined);
        if (progress?.isEmpty) fenced.set(operation, namespace.uid);
        return refusalOf(namespace, progress);
      };
      return { kind: "wait", supply };
    },
  };
}

/** The namespace in deletion that the change removes, or takes the finalizer `kubernetes` from. */
function endedBy({ before, after }: ProposedChange): TerminatingNamespace | undefined {
  if (!before?.metadata?.deletionTimestamp) return undefined;
  const { name = "", uid = "" } = before.metadata;
  return !after || (isHeld(before) && !isHeld(after)) ? { name, uid } : undefined;
}

function isHeld({ spec }: Namespace): boolean {
  return spec?.finalizers?.includes(NAMESPACE_FINALIZER) ?? false;
}

/**
 * Not 409: kube-controller-manager answers a conflict with the same write, at once and without end. After any other error it empties the namespace
 * again, later.
 */
function refusalOf({ name }: TerminatingNamespace, progress: EmptyingProgress | undefined): Status | undefined {
  if (progress?.isEmpty) return undefined;
  const remains = progress && conditionsAfter(progress, [], 0)?.find(({ type }) => type === "NamespaceContentRemaining");
  if (!remains || remains.status !== "True" || progress.failures.length > 0) {
    return serviceUnavailable("not every store has closed and emptied the namespace yet, try again later", RETRY_AFTER_SECONDS);
  }
  return forbidden(namespacesDefinition, name, `it is not empty: ${remains.message ?? ""}`);
}
