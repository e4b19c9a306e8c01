/** The status that the agent writes for a Pod, as a kubelet would (upstream pkg/kubelet/status/generate.go). */
import type { Pod } from "../../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../../api/meta/time";
import { canonicalAddress } from "../../../core/net/address";

type PodStatus = NonNullable<Pod["status"]>;
type PodCondition = NonNullable<PodStatus["conditions"]>[number];

/** What decides a status. */
export interface ObservedHost {
  /** of the Pod: `podAddresses` of those of the node */
  readonly addresses: readonly string[];
  readonly isReady: boolean;
  /** ms since the epoch */
  readonly now: number;
}

const UNREADY = "ContainersNotReady";

/** The merge patch of the status; undefined = the stored one says the same. The resourceVersion keeps it from undoing what others write meanwhile. */
export function statusPatch(pod: Pod, observed: ObservedHost): object | undefined {
  const stored = pod.status ?? {};
  const wanted = wantedStatus(pod, observed);
  const isSame = (Object.keys(wanted) as (keyof PodStatus)[]).every((key) => contains(stored[key], wanted[key]));
  return isSame ? undefined : withVersion(pod, wanted);
}

/** The merge patch that ends a Pod that nobody runs here. */
export function refusalPatch(pod: Pod): object {
  const message = "This node is a machine without a container runtime: its agent serves processes, and runs no Pods.";
  return withVersion(pod, { phase: "Failed", reason: "NodeCannotRunPods", message });
}

/** The merge patch that ends a Pod whose drain time is over. */
export function completionPatch(pod: Pod): object {
  return withVersion(pod, { phase: "Succeeded" });
}

/** The first address of each family, as the server writes it: a Pod has no more. */
export function podAddresses(addresses: readonly string[]): string[] {
  const isV6 = (address: string): boolean => address.includes(":");
  return addresses.filter((address, i) => addresses.findIndex((other) => isV6(other) === isV6(address)) === i).map(canonicalAddress);
}

/** Whether the condition Ready of the stored Pod is True. */
export function isReadyInStatus({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}

function wantedStatus({ spec, status }: Pod, { addresses, isReady, now }: ObservedHost): PodStatus {
  const [hostIP] = addresses;
  const ips = addresses.map((ip) => ({ ip }));
  const startTime = status?.startTime ?? rfc3339Seconds(now);
  const [container] = spec?.containers ?? [];
  const name = container?.name ?? "";
  const unready = isReady ? {} : { reason: UNREADY, message: `containers with unready status: [${name}]` };
  const value = isReady ? "True" : "False";
  const known = status?.conditions ?? [];
  const wanted = [
    conditionOf(known, { type: "Initialized", status: "True" }, now),
    conditionOf(known, { type: "Ready", status: value, ...unready }, now),
    conditionOf(known, { type: "ContainersReady", status: value, ...unready }, now),
    conditionOf(known, { type: "PodScheduled", status: "True" }, now),
  ];
  // A merge patch replaces the list: conditions of others stay in it.
  const others = known.filter(({ type }) => !wanted.some((condition) => condition.type === type));
  return {
    phase: "Running",
    ...(hostIP !== undefined && { hostIP, podIP: hostIP }),
    hostIPs: ips,
    podIPs: ips,
    startTime,
    conditions: [...wanted, ...others],
    containerStatuses: [
      {
        name,
        ready: isReady,
        started: true,
        restartCount: 0,
        image: container?.image ?? "",
        imageID: "",
        state: { running: { startedAt: startTime } },
      },
    ],
  };
}

/** The time moves when the status of the condition changes, and not with its reason. */
function conditionOf(known: readonly PodCondition[], condition: PodCondition, now: number): PodCondition {
  const before = known.find(({ type }) => type === condition.type);
  const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: since ?? rfc3339Seconds(now) };
}

function withVersion({ metadata }: Pod, status: PodStatus): object {
  return { metadata: { uid: metadata?.uid, resourceVersion: metadata?.resourceVersion }, status };
}

/** Whether the stored value has all of the wanted one. The server adds members, but no elements. */
function contains(stored: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return stored === wanted;
  if (typeof stored !== "object" || stored === null) return false;
  if (Array.isArray(wanted)) {
    return Array.isArray(stored) && stored.length === wanted.length && wanted.every((value, i) => contains(stored[i], value));
  }
  return Object.entries(wanted).every(([key, value]) => value === undefined || contains((stored as Record<string, unknown>)[key], value));
}
