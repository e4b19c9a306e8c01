/**
 * What a write of a ServiceCIDR object means for the topology (rules 10 and 14). As an extension of the `servicecidrs` store, it sees
 * every change in the transaction that commits it, whoever asked for the change:
 *
 * - A new prefix claims what nobody owns, in that transaction; seeding and Ready follow later, as jobs.
 * - A write that takes ranges away (deletion, Ready=False) first fences: the ranges leave the topology, and every owner under them confirms.
 *   Only then is the write let through. A fence that is not confirmed in time refuses the write with 503 and is lifted.
 */
import { SERVICE_CIDR_SEGMENTS_MAX } from "../rpc/limits";
import type { Clock } from "../../core/base/ports";
import { nodePortRangeText } from "../../core/net/node-port-range";
import type { Prefix } from "../../core/net/prefix";
import { semanticEqual } from "../../api/meta/equality";
import { forbiddenField, invalidValue } from "../../api/meta/field-errors";
import type { ServiceCIDR } from "../../api/meta/kubernetes";
import { invalid, serviceUnavailable, type Status } from "../../api/meta/status";
import { serviceCIDRsDefinition } from "../../api/registry/service-cidrs/definition";
import type { Admission, CommittedChange, Operation, ProposedChange, StoreExtension } from "../../api/store/state/extension";
import { NAMESPACE_SELECTOR, NODE_PORT_RANGE, pathOf, tenancyOf } from "../../api/registry/service-cidrs/tenancy";
import { claimUnowned } from "../topology/claim";
import { storedPrefix } from "../topology/stored-prefix";
import type { CidrRow } from "./state/coordinator-storage";
import type { MirroredStorage } from "./state/mirrored-storage";
import { addFinalizer, cidrRowOf, isDeleting, isReadyFalse } from "./state/service-cidr-object";
import type { TopologyView } from "./state/topology-view";
import { claimUnownedFor } from "./state/unowned-claims";

/** A fence outlives its operation's deadline by this time: the write itself must fall inside. */
const FENCE_GRACE_MS = 10_000;
const RETRY_AFTER_SECONDS = 1;

/** What an operation holds that has fenced: the uid of the ServiceCIDR. */
export interface Fence {
  uid: string;
}

export interface IntentPorts {
  storage: MirroredStorage;
  clock: Clock;
  view(): TopologyView;
  /** runs `work` in a transaction that also brings epoch, configurations and readiness up to date */
  mutate(work: () => void): void;
  /** starts what there is to do */
  kick(): void;
  /** makes sure that the Durable Object is awake soon, even after a crash; durable with the transaction */
  wakeSoon(): void;
  /** resolves with true as soon as the predicate holds, with false after `timeoutMs` */
  until(predicate: () => boolean, timeoutMs: number): Promise<boolean>;
}

export class ServiceCIDRIntents implements StoreExtension<Fence> {
  constructor(private readonly ports: IntentPorts) {}

  admit(change: ProposedChange, operation: Operation<Fence>): Admission {
    const { after, before } = change;
    if (!before && after) addFinalizer(after);
    const refusal = after && (this.#tooScattered(after) ?? this.#keptTwice(after, before) ?? this.#portsKeptTwice(after, before));
    if (refusal) return { kind: "refuse", status: refusal };
    const uid = before?.metadata?.uid;
    if (change.dryRun || !before || uid === undefined || !takesAway(before, after) || this.#isFenced(uid)) return { kind: "go" };
    if (this.ports.clock.now() >= operation.deadline) return { kind: "refuse", status: unconfirmed() };
    return { kind: "wait", supply: () => this.#fence(uid, operation) };
  }

  committed(change: CommittedChange): void {
    const { storage } = this.ports;
    if (change.type === "DELETED") this.ports.mutate(() => storage.cidrDelete(change.uid));
    else if (change.after) this.#record(change.after);
    this.ports.wakeSoon();
  }

  writeUndone(): void {
    this.ports.storage.forget();
  }

  turnLost(): void {
    this.ports.storage.forget();
  }

  abandon(operation: Operation<Fence>): void {
    const uid = operation.supply?.uid;
    const row = uid === undefined ? undefined : this.ports.view().cidrs.get(uid);
    if (row && row.fencedUntil > 0) this.#saveFence(row, 0);
    this.ports.wakeSoon();
  }

  turnCommitted(): void {
    this.ports.kick();
  }

  #record(object: ServiceCIDR): void {
    const { storage } = this.ports;
    this.ports.mutate(() => {
      const view = this.ports.view();
      const row = cidrRowOf(object, view.cidrs.get(object.metadata?.uid ?? ""));
      storage.cidrSave(row);
      const added = addedPrefixes(view, object);
      for (const prefix of added) storage.rangeSave({ uid: row.uid, prefix, ready: false });
      // A client's write that needs more segments was refused; the server's own writes of the default range are not.
      const wanted = added.map(storedPrefix);
      claimUnownedFor(storage, row.uid, { wanted, owned: ownedIn(view, wanted), alreadyClaimed: view.claimsOf(row.uid).length });
    });
  }

  /** Refuses a ServiceCIDR with so many others inside that its owner could not be told of all the segments between them. */
  #tooScattered(after: ServiceCIDR): Status | undefined {
    const view = this.ports.view();
    const added = addedPrefixes(view, after);
    if (added.length === 0) return undefined;
    const wanted = added.map(storedPrefix);
    const unowned = claimUnowned(wanted, ownedIn(view, wanted));
    const segments = view.claimsOf(after.metadata?.uid ?? "").length + unowned.length;
    if (segments <= SERVICE_CIDR_SEGMENTS_MAX) return undefined;
    const detail =
      `the ServiceCIDRs inside leave ${segments} separate segments of it, and one ServiceCIDR can have at most ${SERVICE_CIDR_SEGMENTS_MAX}: ` +
      "create a smaller range, or remove ServiceCIDRs that lie inside this one first";
    return invalid(serviceCIDRsDefinition, after.metadata?.name ?? "", [forbiddenField("spec.cidrs", detail)]);
  }

  /** Refuses a second selector for the same prefix: nobody could say which of them decides. */
  #keptTwice(after: ServiceCIDR, before: ServiceCIDR | undefined): Status | undefined {
    const selector = tenancyOf(after)?.selector;
    const isSame = before && tenancyOf(before)?.selector === selector && before.spec?.cidrs?.length === after.spec?.cidrs?.length;
    if (selector === undefined || isSame) return undefined;
    const view = this.ports.view();
    const name = after.metadata?.name ?? "";
    for (const prefix of after.spec?.cidrs ?? []) {
      const others = view.rangesIn(storedPrefix(prefix)).filter((range) => range.prefix === prefix);
      const other = others.map(({ uid }) => view.cidrs.get(uid)).find((row) => row?.tenancy && row.name !== name);
      if (!other) continue;
      const detail = `ServiceCIDR ${JSON.stringify(other.name)} has ${prefix}, too, and a selector of its own: one alone decides about a prefix`;
      return invalid(serviceCIDRsDefinition, name, [invalidValue(pathOf(NAMESPACE_SELECTOR), selector, detail)]);
    }
    return undefined;
  }

  /** Refuses node ports that another ServiceCIDR keeps for other namespaces. */
  #portsKeptTwice(after: ServiceCIDR, before: ServiceCIDR | undefined): Status | undefined {
    const tenancy = tenancyOf(after);
    const ports = tenancy?.nodePorts;
    if (!ports || (before && semanticEqual(tenancyOf(before), tenancy))) return undefined;
    const name = after.metadata?.name ?? "";
    for (const other of this.ports.view().cidrs.values()) {
      const theirs = other.name === name || other.tenancy?.selector === tenancy.selector ? undefined : other.tenancy?.nodePorts;
      if (!theirs || theirs.last < ports.first || theirs.first > ports.last) continue;
      const detail = `ServiceCIDR ${JSON.stringify(other.name)} keeps ${nodePortRangeText(theirs)} for other namespaces`;
      return invalid(serviceCIDRsDefinition, name, [invalidValue(pathOf(NODE_PORT_RANGE), nodePortRangeText(ports), detail)]);
    }
    return undefined;
  }

  /** Sets the fence and waits for the owners. A Status = the write is refused. */
  async #fence(uid: string, operation: Operation<Fence>): Promise<Status | undefined> {
    const row = this.ports.view().cidrs.get(uid);
    if (!row) return undefined;
    operation.supply = { uid };
    this.#saveFence(row, operation.deadline + FENCE_GRACE_MS);
    this.ports.kick();
    const ended = (): boolean => this.#isFenced(uid) || this.#isLifted(uid);
    const inTime = await this.ports.until(ended, operation.deadline - this.ports.clock.now());
    return inTime ? undefined : unconfirmed();
  }

  #saveFence(row: CidrRow, fencedUntil: number): void {
    this.ports.mutate(() => this.ports.storage.cidrSave({ ...row, fencedUntil }));
  }

  /** Whether the object's ranges can no longer give out anything on its account. */
  #isFenced(uid: string): boolean {
    const view = this.ports.view();
    const row = view.cidrs.get(uid);
    const isShut = row === undefined || row.deleting || row.suspended || row.fencedUntil > this.ports.clock.now();
    return isShut && view.areSettled(view.ownersUnder(view.rangesOf(uid)));
  }

  /** Whether the fence is gone: another operation had fenced the same object and was refused. The write has to ask again. */
  #isLifted(uid: string): boolean {
    return this.ports.view().cidrs.get(uid)?.fencedUntil === 0;
  }
}

/** The prefixes of the object that the topology does not know yet. */
function addedPrefixes(view: TopologyView, { metadata, spec }: ServiceCIDR): string[] {
  const known = new Set(view.rangesOf(metadata?.uid ?? "").map((range) => range.prefix));
  return (spec?.cidrs ?? []).filter((prefix) => !known.has(prefix));
}

/** The segments that share an address with one of the prefixes. */
function ownedIn(view: TopologyView, prefixes: readonly Prefix[]): Prefix[] {
  return prefixes.flatMap((prefix) => view.claimsIn(prefix)).map((claim) => claim.parsed);
}

function takesAway(before: ServiceCIDR, after: ServiceCIDR | undefined): boolean {
  if (isDeleting(before)) return false;
  if (!after || isDeleting(after)) return true;
  return isReadyFalse(after) && !isReadyFalse(before);
}

function unconfirmed(): Status {
  return serviceUnavailable(
    "the objects that give out the addresses of this ServiceCIDR have not confirmed the change yet, try again later",
    RETRY_AFTER_SECONDS,
  );
}
