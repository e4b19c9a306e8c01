/**
 * The health of some nodes of a cluster, named `<cluster>/node-proxy-<shard>` (src/tenancy/cluster-objects). A shell: the rules are in
 * src/proxy-health/node-proxy and counted-node-proxy.
 */
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import { CountedNodeProxy as Brain } from "../src/proxy-health/counted-node-proxy";
import type { HealthTally } from "../src/proxy-health/pushed/health-tally";
import type { Cursor } from "../src/proxy-health/pushed/shard-change";
import type { NodeProxyRpc } from "../src/proxy-health/rpc";
import { shardNamed } from "../src/tenancy/cluster-objects";
import type { Wipeable } from "../src/tenancy/rpc";
import { objectConfig, type Env } from "./platform/env";
import { proxyHealthStub, storeStub } from "./peers/peers";
import { setAlarm, systemClock, systemRecorder } from "./platform/ports";
import { shellOf } from "./platform/shell";
import { IDENTITY_SCHEMA, objectName } from "./sql/identity-sql";
import { migrate, type Migration } from "./sql/migrate";
import { NODE_HEALTH_SCHEMA, PUSHED_SCHEMA, sqlNodeStorage } from "./sql/node-health-sql";
import { wipe } from "./platform/wipe";

export const NODE_PROXY_MIGRATIONS: readonly Migration[] = [
  { id: 1, sql: IDENTITY_SCHEMA + NODE_HEALTH_SCHEMA },
  { id: 2, sql: PUSHED_SCHEMA },
];

export class NodeProxy extends shellOf<Brain>()("report", "health", "serviceHealth", "push", "alarm") implements NodeProxyRpc, Wipeable {
  constructor(ctx: DurableObjectState, env: Env) {
    const { storage } = ctx;
    migrate(storage, NODE_PROXY_MIGRATIONS, systemClock.now());
    const name = objectName(ctx);
    const slash = name.indexOf("/");
    const cluster = name.slice(0, slash);
    const shard = shardNamed(name.slice(slash + 1));
    const { drainingTaints, featureGates, proxySyncPeriodSeconds, serverStartedAtMs } = objectConfig(env);
    const ports = {
      storage: sqlNodeStorage(storage),
      clock: systemClock,
      recorder: systemRecorder({ object: name }),
      async node(node: string) {
        const [object = null] = await storeStub<ObjectFeed>(env, cluster, { group: "", resource: "nodes" }).objectsNamed([
          { namespace: "", name: node },
        ]);
        return object;
      },
      state: (known: Cursor | null, mayRest: boolean) => proxyHealthStub(env, cluster).shardState(shard, known, mayRest),
      tell: (tally: HealthTally) => proxyHealthStub(env, cluster).addHealthTally(shard, tally),
      wakeAt: (atMs: number) => setAlarm(storage, atMs),
      alarmAt: () => storage.getAlarm(),
    };
    const { KubeProxyDrainingTerminatingNodes: drainsTerminatingNodes } = featureGates;
    const syncPeriodMs = proxySyncPeriodSeconds * 1_000;
    super(ctx, env, new Brain(ports, { syncPeriodMs, serverStartedAt: serverStartedAtMs, drainingTaints, drainsTerminatingNodes }));
  }

  wipe(): Promise<string[]> {
    return wipe(this.ctx);
  }
}
