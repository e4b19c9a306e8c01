/** Columns of pods (upstream pkg/printers/internalversion printPod). */
import { humanDuration } from "../../meta/age";
import type { Pod } from "../../meta/kubernetes";
import { parseTime } from "../../meta/time";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import type { Cell, ColumnDefinition } from "../resource";

type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number];

export const POD_COLUMNS: readonly ColumnDefinition[] = [
  NAME_COLUMN,
  column("Ready", "Containers that are ready, of all."),
  column("Status", "Phase of the pod, or why it is not running."),
  column("Restarts", "Restarts of its containers, and the time since the last one."),
  AGE_COLUMN,
  column("IP", "Address of the pod.", "wide"),
  column("Node", "Node that runs the pod.", "wide"),
  column("Nominated Node", "Node that is being cleared for the pod.", "wide"),
  column("Readiness Gates", "Readiness gates that are met, of all.", "wide"),
];

/** The reason why a container does not run: of its waiting or its end; "" while it runs. */
function reasonOf(status: ContainerStatus): string {
  const { waiting, terminated } = status.state ?? {};
  if (waiting?.reason) return waiting.reason;
  if (!terminated) return "";
  return terminated.reason || (terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`);
}

/** `Init:1/3`, `Init:Error`, or "" when the init containers have ended. */
function initReason(pod: Pod): string {
  const statuses = pod.status?.initContainerStatuses ?? [];
  const total = pod.spec?.initContainers?.length ?? 0;
  for (const [i, status] of statuses.entries()) {
    const sidecar = pod.spec?.initContainers?.find(({ name }) => name === status.name)?.restartPolicy === "Always";
    if (status.state?.terminated?.exitCode === 0 || (sidecar && status.started)) continue;
    const reason = reasonOf(status);
    return reason !== "" && reason !== "PodInitializing" ? `Init:${reason}` : `Init:${i}/${total}`;
  }
  return "";
}

function statusCell(pod: Pod): string {
  const deleting = Boolean(pod.metadata?.deletionTimestamp);
  if (deleting) return pod.status?.reason === "NodeLost" ? "Unknown" : "Terminating";
  const init = initReason(pod);
  if (init !== "") return init;
  let reason = pod.status?.reason || pod.status?.phase || "Unknown";
  let running = false;
  for (const status of [...(pod.status?.containerStatuses ?? [])].reverse()) {
    const why = reasonOf(status);
    if (why !== "") reason = why;
    else if (status.ready && status.state?.running) running = true;
  }
  if (reason !== "Completed" || !running) return reason;
  const ready = pod.status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
  return ready ? "Running" : "NotReady";
}

function restartsCell(statuses: readonly ContainerStatus[], now: number): string {
  let restarts = 0;
  let last = 0;
  for (const status of statuses) {
    restarts += status.restartCount ?? 0;
    last = Math.max(last, parseTime(status.lastState?.terminated?.finishedAt) ?? 0);
  }
  return restarts > 0 && last > 0 ? `${restarts} (${humanDuration(now - last)} ago)` : String(restarts);
}

function gatesCell(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0) return "<none>";
  const met = gates.filter(({ conditionType }) =>
    pod.status?.conditions?.some((condition) => condition.type === conditionType && condition.status === "True"),
  );
  return `${met.length}/${gates.length}`;
}

export function podCells(pod: Pod, now: number): Cell[] {
  const statuses = pod.status?.containerStatuses ?? [];
  const ready = statuses.filter((status) => status.ready && status.state?.running).length;
  return [
    nameOf(pod),
    `${ready}/${pod.spec?.containers?.length ?? 0}`,
    statusCell(pod),
    restartsCell(statuses, now),
    ageOf(pod, now),
    pod.status?.podIP || "<none>",
    pod.spec?.nodeName || "<none>",
    pod.status?.nominatedNodeName || "<none>",
    gatesCell(pod),
  ];
}
