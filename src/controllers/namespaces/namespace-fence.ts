/**
 * The end of a namespace (rule 20). Besides the cluster's own controller, kube-controller-manager's or a client may write it. They close no store. A
 * store that had not heard of the deletion would go on creating in a namespace that is gone. What was created behind their last list would outlive it
 * (hazard 16). So the write that lets a namespace go closes it in every store first, and empties them.
 *
 * What is left then, behind finalizers or during a graceful end, keeps the namespace while the cluster's own controller is off: nobody else looks after
 * it. While that is on, somebody ends the namespace by hand, and the answer is upstream's: the namespace goes, and that content stays behind.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Namespace } from "../../api/meta/kubernetes";
import { forbidden, serviceUnavailable, type Status } from "../../api/meta/status";
import { namespacesDefinition } from "../../api/registry/namespaces/definition";
import { NAMESPACE_FINALIZER } from "../../api/registry/namespaces/strategy";
import type { Operation, ProposedChange, StoreExtension } from "../../api/store/state/extension";
import { conditionsAfter } from "./namespace-conditions";
import type { EmptyingProgress, TerminatingNamespace } from "./namespace-deletion";

const RETRY_AFTER_SECONDS = 1;

export interface NamespaceFencePorts {
  clock: Clock;
  recorder: Recorder;
  /** whether content that is left keeps the namespace: the cluster's own namespace controller is off */
  mustBeEmpty(): boolean;
  /** closes and empties the namespace in every store; rejects unless all have closed it */
  fence(namespace: TerminatingNamespace): Promise<EmptyingProgress>;
}

/** The part of the namespaces store's extension that fences. */
export function fencingNamespaces(ports: NamespaceFencePorts): Pick<StoreExtension<undefined>, "admit"> {
  /** uid of the namespace that was closed everywhere when the operation asked; from then on it stays so */
  const fenced = new WeakMap<Operation<undefined>, string>();
  const fences = new Fences(ports);
  return {
    admit(change, operation) {
      const namespace = change.dryRun ? undefined : endedBy(change);
      if (!namespace || [fenced.get(operation), saidBy(operation)].includes(namespace.uid)) return { kind: "go" };
      const supply = async (): Promise<Status | undefined> => {
        const refusal = await fences.refusalOf(namespace, operation.deadline);
        if (!refusal) fenced.set(operation, namespace.uid);
        return refusal;
      };
      return { kind: "wait", supply };
    },
  };
}

/** The uid of the namespace of which the cluster's own controller says that its pass has closed and emptied every store. */
function saidBy({ request }: Operation<undefined>): string | undefined {
  return request.verb === "update" ? request.fencedUid : undefined;
}

class Fences {
  /** by uid: writes that end one namespace at the same time share its fence, each with its own deadline (rule 25) */
  readonly #running = new Map<string, Promise<EmptyingProgress>>();

  constructor(private readonly ports: NamespaceFencePorts) {}

  /** Why the namespace may not go yet. */
  async refusalOf(namespace: TerminatingNamespace, deadline: number): Promise<Status | undefined> {
    const { clock, recorder, mustBeEmpty } = this.ports;
    let failure: string;
    try {
      const progress = await withTimeout(clock, deadline - clock.now(), this.#fence(namespace));
      if (progress.isEmpty) return undefined;
      const remains = conditionsAfter(progress, [], 0)?.find(({ type }) => type === "NamespaceContentRemaining");
      if (progress.failures.length === 0 && remains?.status === "True") {
        return mustBeEmpty() ? forbidden(namespacesDefinition, namespace.name, `it is not empty: ${remains.message ?? ""}`) : undefined;
      }
      failure = progress.failures.join(", ") || "a store has opened it again";
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    recorder.log("warn", "the end of a namespace waits for stores", { namespace: namespace.name, error: failure });
    return notYet(failure);
  }

  #fence(namespace: TerminatingNamespace): Promise<EmptyingProgress> {
    const { uid } = namespace;
    let running = this.#running.get(uid);
    if (!running) {
      running = this.ports.fence(namespace).finally(() => this.#running.delete(uid));
      this.#running.set(uid, running);
    }
    return running;
  }
}

/**
 * Not 409: kube-controller-manager answers a conflict with the same write, at once and without end. After any other error it empties the namespace
 * again, later.
 */
function notYet(failure: string): Status {
  return serviceUnavailable(`not every store has closed and emptied the namespace yet, try again later: ${failure}`, RETRY_AFTER_SECONDS);
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
