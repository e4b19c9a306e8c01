import { expect, it } from "vitest";
import type { Pod } from "../../../../../src/api/meta/kubernetes";
import { podCells, podRowConditions } from "../../../../../src/api/registry/pods/columns";

type Status = NonNullable<Pod["status"]>;
type ContainerStatus = NonNullable<Status["containerStatuses"]>[number];

const now = Date.UTC(2026, 0, 1, 0, 10);

function container(changes: Partial<ContainerStatus>): ContainerStatus {
  return { name: "c", image: "i", imageID: "", ready: false, restartCount: 0, ...changes };
}

const running = container({ ready: true, state: { running: {} } });
const completed = container({ state: { terminated: { exitCode: 0, reason: "Completed" } } });
const failed = container({ state: { terminated: { exitCode: 1, reason: "Error" } } });

/** A container that last ended at this minute of the hour. */
function restarted(name: string, restartCount: number, minute: number, changes: Partial<ContainerStatus>): ContainerStatus {
  const finishedAt = `2026-01-01T00:0${String(minute)}:00Z`;
  return container({ name, restartCount, lastState: { terminated: { exitCode: 1, finishedAt } }, ...changes });
}

function conditions(...types: string[]): NonNullable<Status["conditions"]> {
  return types.map((type) => ({ type, status: "True" }));
}

const twoInits = [{ name: "a" }, { name: "b", restartPolicy: "Always" }];

/** Ready, Status, Restarts */
it.each<{
  name: string;
  status: Status;
  deleting?: boolean;
  init?: { name: string; restartPolicy?: string }[];
  want: [string, string, string];
}>([
  { name: "nothing known", status: {}, want: ["0/2", "", "0"] },
  { name: "pending", status: { phase: "Pending" }, want: ["0/2", "Pending", "0"] },
  { name: "running", status: { phase: "Running", containerStatuses: [running, running] }, want: ["2/2", "Running", "0"] },
  { name: "evicted", status: { phase: "Failed", reason: "Evicted" }, want: ["0/2", "Evicted", "0"] },
  {
    name: "crashing",
    status: {
      phase: "Running",
      containerStatuses: [
        container({
          restartCount: 3,
          state: { waiting: { reason: "CrashLoopBackOff" } },
          lastState: { terminated: { exitCode: 1, finishedAt: "2026-01-01T00:05:00Z" } },
        }),
        running,
      ],
    },
    want: ["1/2", "CrashLoopBackOff", "3 (5m ago)"],
  },
  {
    name: "exit code",
    status: { phase: "Failed", containerStatuses: [container({ state: { terminated: { exitCode: 3 } } })] },
    want: ["0/2", "ExitCode:3", "0"],
  },
  {
    name: "signal",
    status: { phase: "Failed", containerStatuses: [container({ state: { terminated: { exitCode: 0, signal: 9 } } })] },
    want: ["0/2", "Signal:9", "0"],
  },
  {
    name: "one completed, one running, not ready",
    status: { phase: "Running", containerStatuses: [completed, running] },
    want: ["1/2", "NotReady", "0"],
  },
  {
    name: "second init container",
    init: [{ name: "a" }, { name: "b" }],
    status: {
      phase: "Pending",
      initContainerStatuses: [
        container({ name: "a", state: { terminated: { exitCode: 0 } } }),
        container({ name: "b", state: { running: {} } }),
      ],
    },
    want: ["0/2", "Init:1/2", "0"],
  },
  {
    name: "failing init container",
    init: [{ name: "a" }],
    status: { phase: "Pending", initContainerStatuses: [container({ name: "a", state: { waiting: { reason: "ImagePullBackOff" } } })] },
    want: ["0/2", "Init:ImagePullBackOff", "0"],
  },
  {
    name: "a started sidecar",
    init: [{ name: "a", restartPolicy: "Always" }],
    status: { phase: "Running", initContainerStatuses: [container({ name: "a", started: true, state: { running: {} } })] },
    want: ["0/3", "Running", "0"],
  },
  {
    name: "a gated one",
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] },
    want: ["0/2", "SchedulingGated", "0"],
  },
  {
    name: "one completed, one running, ready",
    status: { phase: "Running", containerStatuses: [completed, running], conditions: conditions("Ready") },
    want: ["1/2", "Running", "0"],
  },
  {
    name: "one completed, one failed",
    status: { phase: "Failed", containerStatuses: [completed, failed] },
    want: ["0/2", "Error", "0"],
  },
  {
    name: "one completed, one failed, one running, not ready",
    status: { phase: "Running", containerStatuses: [completed, failed, running] },
    want: ["1/2", "Error", "0"],
  },
  {
    name: "one completed, one failed, one running, ready",
    status: { phase: "Running", containerStatuses: [completed, failed, running], conditions: conditions("Ready") },
    want: ["1/2", "Running", "0"],
  },
  {
    name: "a ready sidecar",
    init: twoInits,
    status: {
      phase: "Running",
      initContainerStatuses: [
        container({ name: "a", state: { terminated: { exitCode: 0 } } }),
        container({ name: "b", ready: true, started: true, state: { running: {} } }),
      ],
      containerStatuses: [running, running],
    },
    want: ["3/3", "Running", "0"],
  },
  {
    name: "restarts while it is initialized",
    init: twoInits,
    status: {
      phase: "Pending",
      initContainerStatuses: [
        restarted("a", 2, 5, { state: { waiting: { reason: "CrashLoopBackOff" } } }),
        restarted("b", 4, 8, { state: { waiting: { reason: "PodInitializing" } } }),
      ],
      containerStatuses: [restarted("c", 8, 9, {})],
    },
    want: ["0/3", "Init:CrashLoopBackOff", "2 (5m ago)"],
  },
  {
    name: "restarts after that: those of sidecars and containers",
    init: twoInits,
    status: {
      phase: "Running",
      initContainerStatuses: [
        restarted("a", 2, 9, { state: { terminated: { exitCode: 0 } } }),
        restarted("b", 4, 6, { started: true, state: { running: {} } }),
      ],
      containerStatuses: [restarted("c", 8, 4, { ready: true, state: { running: {} } })],
    },
    want: ["1/3", "Running", "12 (4m ago)"],
  },
  {
    name: "a sidecar that starts again in an initialized Pod",
    init: twoInits,
    status: {
      phase: "Running",
      initContainerStatuses: [
        restarted("a", 2, 9, { state: { terminated: { exitCode: 0 } } }),
        restarted("b", 4, 6, { started: false, state: { running: {} } }),
      ],
      containerStatuses: [running, container({ state: { waiting: { reason: "ImagePullBackOff" } } })],
      conditions: conditions("Initialized"),
    },
    want: ["1/3", "ImagePullBackOff", "4 (4m ago)"],
  },
  {
    name: "the same, and its containers have no reason",
    init: twoInits,
    status: {
      phase: "Running",
      initContainerStatuses: [
        container({ name: "a", state: { terminated: { exitCode: 0 } } }),
        container({ name: "b", state: { waiting: { reason: "CrashLoopBackOff" } } }),
      ],
      containerStatuses: [running],
      conditions: conditions("Initialized"),
    },
    want: ["1/3", "Init:CrashLoopBackOff", "0"],
  },
  {
    name: "an init container that a signal ended",
    init: twoInits,
    status: { phase: "Pending", initContainerStatuses: [container({ name: "a", state: { terminated: { exitCode: 137, signal: 9 } } })] },
    want: ["0/3", "Init:Signal:9", "0"],
  },
  {
    name: "an ended one, being deleted",
    status: { phase: "Succeeded", containerStatuses: [completed, completed] },
    deleting: true,
    want: ["0/2", "Completed", "0"],
  },
  {
    name: "a failed one, being deleted",
    status: { phase: "Failed", containerStatuses: [failed] },
    deleting: true,
    want: ["0/2", "Error", "0"],
  },
  { name: "being deleted", status: { phase: "Running" }, deleting: true, want: ["0/2", "Terminating", "0"] },
  { name: "lost with its node", status: { reason: "NodeLost" }, deleting: true, want: ["0/2", "Unknown", "0"] },
])("Pod, $name: cells as kubectl shows them upstream", ({ status, deleting, init, want }) => {
  const pod: Pod = {
    metadata: { name: "p", ...(deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}) },
    spec: { containers: [{ name: "c" }, { name: "d" }], initContainers: init },
    status,
  };
  expect(podCells(pod, now).slice(1, 4)).toEqual(want);
});

it("wide columns: show addresses, node and gates", () => {
  const pod: Pod = {
    metadata: { name: "p", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { containers: [], nodeName: "n", readinessGates: [{ conditionType: "A" }, { conditionType: "B" }] },
    status: { podIP: "10.0.0.1", nominatedNodeName: "m", conditions: [{ type: "A", status: "True" }] },
  };
  expect(podCells(pod, now).slice(4)).toEqual(["10m", "10.0.0.1", "n", "m", "1/2"]);
  expect(podCells({}, now).slice(4)).toEqual(["<unknown>", "<none>", "<none>", "<none>", "<none>"]);
});

it.each([
  ["Succeeded", [{ type: "Completed", status: "True", reason: "Succeeded", message: "The pod has completed successfully." }]],
  ["Failed", [{ type: "Completed", status: "True", reason: "Failed", message: "The pod failed." }]],
  ["Running", []],
  [undefined, []],
])("the row of a Pod in phase %s: its conditions", (phase, want) => {
  expect(podRowConditions({ status: { phase } })).toEqual(want);
});
