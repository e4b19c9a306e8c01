/** Columns of pods (upstream pkg/printers/internalversion printPod). */
import { humanDuration } from "../age";
import type { ContainerStatus, Pod } from "../../meta/kubernetes";
import type { RowCondition } from "../../meta/table";
import { parseTime } from "../../meta/time";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import type { Cell, ColumnDefinition } from "../resource";

type Terminated = NonNullable<NonNullable<ContainerStatus["state"]>["terminated"]>;

const SCHEDULING_GATED = "SchedulingGated";

/** phase of a Pod that has ended -> the message of its row */
const ENDED: ReadonlyMap<string, string> = new Map([
  ["Succeeded", "The pod has completed successfully."],
  ["Failed", "The pod failed."],
]);

export const POD_COLUMNS: readonly ColumnDefinition[] = [
  NAME_COLUMN,
  column("Ready", "Containers and sidecars that are ready, of all."),
  column("Status", "Phase of the pod, or why it is not running."),
  column("Restarts", "Restarts of its containers, and the time since the last one."),
  AGE_COLUMN,
  column("IP", "Address of the pod.", "wide"),
  column("Node", "Node that runs the pod.", "wide"),
  column("Nominated Node", "Node that is being cleared for the pod.", "wide"),
  column("Readiness Gates", "Readiness gates that are met, of all.", "wide"),
];

/** The reason of a container's end. */
function endReason({ reason, signal, exitCode }: Terminated): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

/** Restarts of some containers: their number, and when the last of them began (0 = not known). */
class Restarts {
  count = 0;
  last = 0;

  add({ restartCount, lastState }: ContainerStatus): void {
    this.count += restartCount ?? 0;
    this.last = Math.max(this.last, parseTime(lastState?.terminated?.finishedAt) ?? 0);
  }

  cell(now: number): string {
    return this.count > 0 && this.last > 0 ? `${this.count} (${humanDuration(now - this.last)} ago)` : String(this.count);
  }
}

/** What the containers of a Pod say together. */
interface Containers {
  ready: number;
  reason: string;
  restarts: Restarts;
}

function isTrue(pod: Pod, type: string): boolean {
  return pod.status?.conditions?.find((condition) => condition.type === type)?.status === "True";
}

/** The reason of an init container that has neither ended well nor, as a sidecar, started. `place` is `1/3`. */
function initReason({ state }: ContainerStatus, place: string): string {
  const waiting = state?.waiting?.reason;
  if (state?.terminated) return `Init:${endReason(state.terminated)}`;
  return `Init:${waiting && waiting !== "PodInitializing" ? waiting : place}`;
}

/** Init containers up to the first that is not done, which gives the reason; "" = all are done. */
function initContainers(pod: Pod, sidecars: ReadonlySet<string>): Containers & { ofSidecars: Restarts } {
  const found = { ready: 0, reason: "", restarts: new Restarts(), ofSidecars: new Restarts() };
  for (const [i, status] of (pod.status?.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecars.has(status.name);
    found.restarts.add(status);
    if (isSidecar) found.ofSidecars.add(status);
    if (status.state?.terminated?.exitCode === 0) continue;
    if (!isSidecar || !status.started) {
      found.reason = initReason(status, `${i}/${pod.spec?.initContainers?.length ?? 0}`);
      break;
    }
    if (status.ready) found.ready++;
  }
  return found;
}

/** Adds the containers proper. The first of them with a reason decides, but an error wins over Completed. */
function addContainers(pod: Pod, containers: Containers): void {
  let running = 0;
  let failure = "";
  for (const status of [...(pod.status?.containerStatuses ?? [])].reverse()) {
    const { waiting, terminated } = status.state ?? {};
    containers.restarts.add(status);
    if (waiting?.reason) {
      containers.reason = waiting.reason;
    } else if (terminated) {
      containers.reason = endReason(terminated);
      if (terminated.exitCode !== 0) failure = containers.reason;
    } else if (status.ready && status.state?.running) {
      running++;
    }
  }
  containers.ready += running;
  if (containers.reason !== "Completed") return;
  if (running > 0 && isTrue(pod, "Ready")) containers.reason = "Running";
  else containers.reason = failure || (running > 0 ? "NotReady" : "Completed");
}

/** What a Pod says of itself. */
function ownReason({ status }: Pod): string {
  const isGated = status?.conditions?.some(({ type, reason }) => type === "PodScheduled" && reason === SCHEDULING_GATED);
  return isGated ? SCHEDULING_GATED : status?.reason || status?.phase || "";
}

/** Init containers count until all are done or the Pod is Initialized. Then only the sidecars among them count, with the containers proper. */
function containersOf(pod: Pod, sidecars: ReadonlySet<string>): Containers {
  const { ofSidecars, ...init } = initContainers(pod, sidecars);
  if (init.reason !== "" && !isTrue(pod, "Initialized")) return init;
  const containers = { ready: init.ready, reason: init.reason || ownReason(pod), restarts: ofSidecars };
  addContainers(pod, containers);
  return containers;
}

/** A deletion hides the reason of a Pod that has not ended. */
function statusCell({ metadata, status }: Pod, reason: string): string {
  if (!metadata?.deletionTimestamp) return reason;
  if (status?.reason === "NodeLost") return "Unknown";
  return ENDED.has(status?.phase ?? "") ? reason : "Terminating";
}

function gatesCell(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0) return "<none>";
  const met = gates.filter(({ conditionType }) => isTrue(pod, conditionType));
  return `${met.length}/${gates.length}`;
}

export function podCells(pod: Pod, now: number): Cell[] {
  const { containers = [], initContainers: inits = [] } = pod.spec ?? {};
  const sidecars = new Set(inits.filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name));
  const { ready, reason, restarts } = containersOf(pod, sidecars);
  return [
    nameOf(pod),
    `${ready}/${containers.length + sidecars.size}`,
    statusCell(pod, reason),
    restarts.cell(now),
    ageOf(pod, now),
    pod.status?.podIP || "<none>",
    pod.spec?.nodeName || "<none>",
    pod.status?.nominatedNodeName || "<none>",
    gatesCell(pod),
  ];
}

/** The row of a Pod that has ended says so: clients may show it with less weight. */
export function podRowConditions(pod: Pod): RowCondition[] {
  const phase = pod.status?.phase ?? "";
  const message = ENDED.get(phase);
  return message === undefined ? [] : [{ type: "Completed", status: "True", reason: phase, message }];
}
