/** The pass of the controller "namespaces" on the stores of a cluster: the ports of `namespaceDeletion` as calls with a timeout. */
import { parseJson } from "../../core/encoding/exact-json";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Namespace } from "../../api/meta/kubernetes";
import type { CollectionRequest, StoreRpc } from "../../api/rpc/store";
import { type EnteredNames, UsedStores } from "../followed/used-stores";
import { optionsOf } from "../followed/write-requests";
import type { Pass } from "../frame/controller";
import { conditionsAfter } from "./namespace-conditions";
import { type ContentStore, namespaceContent } from "./namespace-content";
import { namespaceDeletion, type NamespaceDeletionPorts, type TerminatingNamespace, withoutFinalizer } from "./namespace-deletion";

/** A list of very many namespaces takes longer than a usual call. */
const CALL_TIMEOUT_MS = 60_000;

const OPTIONS = optionsOf({ manager: "namespace-controller", group: "" });

const TERMINATING: CollectionRequest = {
  verb: "list",
  namespace: "",
  labelSelector: "",
  fieldSelector: "status.phase=Terminating",
  limit: 0,
  continueToken: "",
  resourceVersion: "",
  resourceVersionMatch: "",
  allowWatchBookmarks: false,
  sendInitialEvents: false,
  timeoutSeconds: 0,
  group: "",
  version: "v1",
  resource: "namespaces",
  representation: { as: "object" },
};

export interface NamespaceDeletionPassPorts {
  clock: Clock;
  recorder: Recorder;
  /** a stub of the namespaces store for one call */
  namespaces(): Pick<StoreRpc, "get" | "write">;
  /** a list of the namespaces store; rejects when the store refuses it */
  list(request: CollectionRequest): Promise<{ items?: Namespace[] }>;
  /** every store of the cluster */
  stores: readonly ContentStore[];
  /** who was ever used; absent = every store may be */
  entered?: EnteredNames | undefined;
}

export function namespaceDeletionPass(ports: NamespaceDeletionPassPorts): Pass {
  return namespaceDeletion(new NamespaceCalls(ports)).pass;
}

class NamespaceCalls implements NamespaceDeletionPorts {
  readonly clock: Clock;
  readonly recorder: Recorder;
  readonly content: NamespaceDeletionPorts["content"];

  constructor(private readonly ports: NamespaceDeletionPassPorts) {
    this.clock = ports.clock;
    this.recorder = ports.recorder;
    this.content = namespaceContent(ports.clock, ports.stores, new UsedStores(ports.clock, ports.entered));
  }

  async terminating(): Promise<TerminatingNamespace[]> {
    const list = await this.#answered(this.ports.list(TERMINATING));
    return (list.items ?? []).map(({ metadata }) => ({ name: metadata?.name ?? "", uid: metadata?.uid ?? "" }));
  }

  report(...[namespace, progress]: Parameters<NamespaceDeletionPorts["report"]>): Promise<void> {
    return this.#change(namespace, "status", (stored) => {
      const conditions = conditionsAfter(progress, stored.status?.conditions ?? [], this.ports.clock.now());
      return conditions && { ...stored, status: { ...stored.status, conditions } };
    });
  }

  finalize(namespace: TerminatingNamespace): Promise<void> {
    return this.#change(namespace, "finalize", withoutFinalizer);
  }

  /**
   * Writes the result of `changed` for the namespace with this uid; undefined = no write. Rejects at a conflict: the next pass reads the namespace
   * again.
   */
  async #change(
    { name, uid }: TerminatingNamespace,
    subresource: "status" | "finalize",
    changed: (stored: Namespace) => Namespace | undefined,
  ): Promise<void> {
    const key = { namespace: "", name };
    const found = await this.#answered(this.ports.namespaces().get(key, ""));
    if (!found.ok) {
      if (found.status.code === 404) return;
      throw new Error(found.status.message);
    }
    const namespace = parseJson(found.object) as Namespace;
    if (namespace.metadata?.uid !== uid) return;
    const wanted = changed(namespace);
    if (!wanted) return;
    const object = JSON.stringify(wanted);
    const fence = subresource === "finalize" ? { fencedUid: uid } : {};
    const request = { verb: "update", key, subresource, object, options: OPTIONS, ...fence } as const;
    const result = await this.#answered(this.ports.namespaces().write(request));
    if (!result.ok && result.status.code !== 404) throw new Error(result.status.message);
  }

  #answered<T>(call: Promise<T>): Promise<T> {
    return withTimeout(this.ports.clock, CALL_TIMEOUT_MS, call);
  }
}
