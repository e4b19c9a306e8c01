/** The controller "node-lifecycle-controller": which Nodes live, and what becomes of the Pods and taints of those that do not. */
import { OPERATION_DEADLINE_MS } from "../core/base/limits";
import type { Clock } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import type { Config } from "../core/config/config";
import { EventRecorder, type EventRecorderPorts } from "../api/events/event-recorder";
import { qualifiedResource } from "../api/meta/status";
import { nodesDefinition } from "../api/registry/nodes/definition";
import { podsDefinition } from "../api/registry/pods/definition";
import type { ValuedStore } from "../api/rpc/object-values";
import { Controller, type ControllerPorts, type Pass } from "../controllers/frame/controller";
import { madeOnce } from "../controllers/frame/made-once";
import type { ControllerEntry } from "../controllers/controller-table";
import { type CalledPeers, gatheredStores } from "../controllers/followed/called-store";
import type { RowStorage } from "../controllers/followed/row-storage";
import { clusterName } from "../tenancy/cluster-id";
import { comesToNode } from "./lifecycle/bound-pods";
import { lifecyclePass } from "./lifecycle/lifecycle-pass";
import { changesNode } from "./lifecycle/node-state";

/** upstream's component of the events */
const REPORTER = "node-controller";

export interface NodeLifecycleSetting extends ControllerPorts {
  /** id of the cluster */
  cluster: string;
  clock: Clock;
  /** the configuration that the objects of the cluster run under; throws when it is broken */
  config(): Pick<Config, "nodeMonitorGraceSeconds" | "nodeStartupGraceSeconds" | "nodeMonitorPeriodSeconds">;
  /** each function makes a stub for one call */
  peers: Pick<EventRecorderPorts, "events"> & CalledPeers & { leases(): ValuedStore };
  tables: { rows: RowStorage };
}

const PODS = qualifiedResource(podsDefinition);
const NODES = qualifiedResource(nodesDefinition);

/** Leases are not followed: a renewal asks for no pass. Neither does a status of a Pod, or a heartbeat of a Node. */
export const nodeLifecycleController: ControllerEntry<NodeLifecycleSetting, Controller> = {
  follows: [NODES, PODS],
  filters: { [NODES]: changesNode, [PODS]: comesToNode },
  upstream: "node-lifecycle-controller",
  make: (setting) =>
    new Controller(
      setting,
      madeOnce(() => passOf(setting)),
    ),
};

function passOf(setting: NodeLifecycleSetting): Pass {
  const { cluster, clock, recorder, config, peers, tables } = setting;
  const store = gatheredStores(setting);
  const { nodeMonitorGraceSeconds, nodeStartupGraceSeconds, nodeMonitorPeriodSeconds } = config();
  const instance = `${REPORTER}-${clusterName(cluster)}`;
  return lifecyclePass({
    clock,
    recorder,
    storage: tables.rows,
    events: new EventRecorder({ controller: REPORTER, instance }, { clock, recorder, events: () => peers.events() }),
    nodes: store(nodesDefinition),
    pods: store(podsDefinition),
    leases: {
      valuesSince: (question, cursor) => withTimeout(clock, OPERATION_DEADLINE_MS, peers.leases().valuesSince(question, cursor)),
    },
    graceMs: nodeMonitorGraceSeconds * 1_000,
    startupGraceMs: nodeStartupGraceSeconds * 1_000,
    periodMs: nodeMonitorPeriodSeconds * 1_000,
  });
}
