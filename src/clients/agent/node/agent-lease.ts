/**
 * The Lease of a node as its agent writes it: a kubelet's (upstream component-helpers/apimachinery/lease, pkg/kubelet), with two annotations more.
 *
 *   servicenet.dev/agent-id      one state folder: after a restart the same agent goes on at once
 *   servicenet.dev/agent-start   one process, by its number among those of its folder: of two the later start goes on, and the earlier one ends. A Lease
 *                                of an earlier start is the agent's own past, as a restored server shows it.
 */
import type { Lease, OwnerReference } from "../../../api/meta/kubernetes";
import { ownAnnotation, readOwn, writtenOwn } from "../../../api/meta/own-annotation";
import { rfc3339Micros } from "../../../api/meta/time";

export const NODE_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const NAMESPACE = "kube-node-lease";
/** kubelet's */
export const LEASE_SECONDS = 40;

const AGENT_ID = ownAnnotation("agent-id");
const AGENT_START = ownAnnotation("agent-start");
const START = /^(\d+)\.(.+)$/;

export interface AgentIdentity {
  readonly node: string;
  /** of the state folder */
  readonly id: string;
  readonly start: AgentStart;
}

/** One process of a state folder. */
export interface AgentStart {
  /** from 1: how many processes the folder has had, this one among them */
  readonly count: number;
  /** orders two that counted at once */
  readonly nonce: string;
}

/** Whether the agent may go on with the Lease without waiting: it is of its state folder, or nobody's. */
export function isOpenTo(lease: Lease, { id }: AgentIdentity): boolean {
  return !lease.spec?.holderIdentity || idIn(lease) === id;
}

/** Whether somebody else has the Lease: another state folder, or a later process of this one. */
export function isForeign(lease: Lease, { id, start }: AgentIdentity): boolean {
  return idIn(lease) !== id || isLater(readOwn(lease.metadata?.annotations, AGENT_START) ?? "", start);
}

/** Who has written the Lease, for a log line. */
export function holderOf(lease: Lease): string {
  return idIn(lease) ?? lease.spec?.holderIdentity ?? "";
}

/** Another text after each renewal, whoever it is by. */
export function renewalOf({ metadata, spec }: Lease): string {
  return JSON.stringify([metadata?.uid, metadata?.annotations, spec]);
}

/** How long the Lease lasts after a renewal, in milliseconds. */
export function durationMsOf({ spec }: Lease): number {
  return (spec?.leaseDurationSeconds ?? LEASE_SECONDS) * 1_000;
}

/** The owner that a Lease names: with its Node it goes. */
export function ownerOf(name: string, uid: string): OwnerReference {
  return { apiVersion: "v1", kind: "Node", name, uid };
}

/** The Lease as the agent writes it. `before`: as it is; undefined = there is none. `nowMs` since the Unix epoch. */
export function writtenBy(before: Lease | undefined, { node, id, start }: AgentIdentity, owner: OwnerReference, nowMs: number): Lease {
  const metadata = before?.metadata ?? { name: node, namespace: NAMESPACE };
  // An earlier Node of the name would take the Lease with it.
  const others = (metadata.ownerReferences ?? []).filter(({ kind, name }) => kind !== owner.kind || name !== owner.name);
  return {
    ...before,
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        ...writtenOwn(AGENT_ID, id),
        ...writtenOwn(AGENT_START, `${String(start.count)}.${start.nonce}`),
      },
      ownerReferences: [...others, owner],
    },
    spec: { ...before?.spec, holderIdentity: node, leaseDurationSeconds: LEASE_SECONDS, renewTime: rfc3339Micros(nowMs) },
  };
}

/** A text of another form is of no process that counts. */
function isLater(text: string, { count, nonce }: AgentStart): boolean {
  const [, counted, other = ""] = START.exec(text) ?? [];
  return Number(counted) > count || (Number(counted) === count && other > nonce);
}

function idIn({ metadata }: Lease): string | undefined {
  return readOwn(metadata?.annotations, AGENT_ID);
}
