/**
 * Decides one client write against the rows of this moment, and writes it if it may be written. A write that leaves the turn is decided again when
 * it comes back (rule 7).
 */
import type { Clock, Random } from "../../../core/base/ports";
import { type Status, timeout } from "../../meta/status";
import type { KubeObject } from "../../meta/kubernetes";
import type { ResourceDefinition, StrategyContext } from "../../registry/resource";
import type { StoreCursor } from "../../rpc/object-links";
import type { WriteRequest, WriteResult } from "../../rpc/store";
import type { Admission, StoreExtension } from "../state/extension";
import { storageKey } from "../state/keys";
import type { NamespaceGuard } from "./namespace-guard";
import { isTooLarge, tooLarge } from "../state/object-size";
import type { PendingWrite } from "./pending-write";
import { prepareWrite } from "./prepare";
import type { Prepared } from "./prepared";
import type { ReservedKeys } from "./reserved-keys";
import type { Revisions } from "../state/revisions";
import type { StoredObject, StoreStorage } from "../state/store-storage";
import { isUnchanged } from "./unchanged";

export interface DeciderPorts<Supply> {
  definition: ResourceDefinition;
  /** the same objects as they are served under another group (events.k8s.io events) */
  representations: readonly ResourceDefinition[];
  storage: StoreStorage;
  clock: Clock;
  random: Random;
  /** facts of the running server for strategies */
  context(): StrategyContext;
  extension?: StoreExtension<Supply>;
  /** namespaced kinds only: whether creating in a namespace is allowed now */
  namespaces?: NamespaceGuard;
}

export type WriteOutcome =
  | { kind: "done"; result: WriteResult }
  /** the write leaves the turn, and comes back when `supply` has answered */
  | { kind: "wait"; supply(): Promise<Status | undefined> }
  /** the same, when the write that holds its key has ended */
  | { kind: "reserved"; by: Promise<unknown> };

type PreparedChange = Prepared & { kind: "put" | "remove" };

export class WriteDecider<Supply> {
  constructor(
    private readonly ports: DeciderPorts<Supply>,
    private readonly revisions: Revisions<Supply>,
    private readonly reserved: ReservedKeys<Supply>,
  ) {}

  /** To be called in the turn's transaction. */
  decide(operation: PendingWrite<Supply>): WriteOutcome {
    if (operation.refusal) return this.refuse(operation, operation.refusal);
    const { clock, namespaces, storage } = this.ports;
    if (clock.now() > operation.deadline) return this.refuse(operation, timeout("request did not complete within the allotted time"));
    const { request } = operation;
    const current = request.verb === "create" ? undefined : storage.objectGet(storageKey(request.key));
    const baseRevision = current?.revision ?? 0;
    if (namespaces && !current) {
      const waits = this.#checkNamespace(operation, namespaces);
      if (waits) return waits;
    }
    if (operation.prepared?.baseRevision !== baseRevision || request.verb === "delete") {
      const value = prepareWrite(request, current, {
        ...this.ports,
        exists: (key) => storage.objectGet(key),
        reserved: (key) => this.reserved.otherThan(operation, key) !== undefined,
      });
      operation.prepared = { baseRevision, value };
    }
    const prepared = operation.prepared.value;
    switch (prepared.kind) {
      case "refused":
        return this.refuse(operation, prepared.status, prepared.warnings);
      case "unchanged":
        return this.#give(operation, { ok: true, code: 200, object: prepared.data, warnings: prepared.warnings, gone: false });
      case "put":
      case "remove":
        return this.#admit(operation, prepared, current);
    }
  }

  refuse(operation: PendingWrite<Supply>, status: Status, warnings: string[] = []): WriteOutcome {
    return this.#give(operation, { ok: false, status, warnings });
  }

  /** Why a create is refused in its namespace, or that the namespace has to be asked for. A PUT or apply that creates counts as a create. */
  #checkNamespace(operation: PendingWrite<Supply>, namespaces: NamespaceGuard): WriteOutcome | undefined {
    const { request } = operation;
    if (!this.#mayCreate(request)) return undefined;
    const namespace = request.verb === "create" ? request.namespace : request.key.namespace;
    if (namespaces.isOpen(namespace)) return undefined;
    if (operation.askedAt !== namespaces.closes) {
      const ask = async (): Promise<undefined> => {
        await namespaces.learn(namespace);
        operation.askedAt = namespaces.closes;
      };
      return { kind: "wait", supply: ask };
    }
    const why = namespaces.refuses(namespace, this.ports.definition, () =>
      request.verb === "create" ? nameIn(request.object) : request.key.name,
    );
    return why && this.refuse(operation, why);
  }

  /** Whether the request makes an object where there is none. */
  #mayCreate(request: WriteRequest): boolean {
    switch (request.verb) {
      case "create":
        return true;
      case "update":
        return this.ports.definition.allowCreateOnUpdate && request.subresource === "";
      case "patch":
        return request.patchType === "apply" && request.subresource === "";
      case "delete":
      case "act":
        return false;
    }
  }

  #admit(operation: PendingWrite<Supply>, prepared: PreparedChange, current: StoredObject | undefined): WriteOutcome {
    const key = prepared.key;
    if (!current) {
      // A create of the same name is on its way: its outcome decides (hazard 15).
      const other = this.reserved.otherThan(operation, key);
      if (other) {
        // The other create has changed the rows: nothing computed before its end is valid.
        operation.prepared = undefined;
        return { kind: "reserved", by: other.ended };
      }
      if (operation.supply !== undefined && this.ports.storage.objectGet(key)) {
        operation.prepared = undefined;
        return this.decide(operation);
      }
    }
    const admission: Admission = this.ports.extension?.admit?.(
      { after: prepared.kind === "put" ? prepared.after : undefined, before: prepared.before, dryRun: prepared.dryRun },
      operation,
    ) ?? { kind: "go" };
    switch (admission.kind) {
      case "refuse":
        return this.refuse(operation, admission.status, prepared.warnings);
      case "wait":
        if (!current) this.reserved.reserve(key, operation);
        return admission;
      case "go":
        return this.#commit(operation, prepared, current, admission.completed ?? false);
    }
  }

  #commit(operation: PendingWrite<Supply>, prepared: PreparedChange, current: StoredObject | undefined, completed: boolean): WriteOutcome {
    if (prepared.kind === "remove") {
      const { dryRun, before, last = before, warnings } = prepared;
      if (dryRun || !current) return this.#give(operation, { ok: true, code: 200, object: JSON.stringify(last), warnings, gone: true });
      const object = this.revisions.remove(current, before, operation, last);
      return { kind: "done", result: { ok: true, code: 200, object, warnings, gone: true, at: this.#newest } };
    }
    const { after, before, dryRun, code, warnings } = prepared;
    // Only now it may show that nothing differs.
    if (completed && current && before && isUnchanged(after, before))
      return this.#give(operation, { ok: true, code, object: current.data, warnings, gone: false });
    if (dryRun) {
      const object = JSON.stringify(after);
      if (isTooLarge(object)) return this.refuse(operation, tooLarge(), warnings);
      return this.#give(operation, { ok: true, code, object, warnings, gone: false });
    }
    const data = this.revisions.put(prepared.key, after, current, operation, before);
    if (data === undefined) return this.refuse(operation, tooLarge(), warnings);
    return { kind: "done", result: { ok: true, code, object: data, warnings, gone: false, at: this.#newest } };
  }

  /** Where the store stands behind the change that was just written. */
  get #newest(): StoreCursor {
    return { incarnation: this.revisions.incarnation, revision: this.revisions.newest };
  }

  /** Ends a write that changes nothing: its supply is given back. */
  #give(operation: PendingWrite<Supply>, result: WriteResult): WriteOutcome {
    if (operation.supply !== undefined) this.ports.extension?.abandon?.(operation);
    return { kind: "done", result };
  }
}

/** As a refusal names an object whose name is not made yet. Source: apiserver pkg/admission/errors.go (extractResourceName). */
function nameIn(object: string): string {
  const { name, generateName } = (JSON.parse(object) as KubeObject).metadata ?? {};
  return name || generateName || "Unknown";
}
