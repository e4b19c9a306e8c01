/**
 * The controller "proxy-health": it follows the objects that decide about the health of nodes, and sends their facts to the objects that answer load
 * balancers. Upstream has no such controller.
 */
import { RPC_TIMEOUT_MS } from "../core/base/limits";
import type { Clock } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { qualifiedResource } from "../api/meta/status";
import { endpointSlicesDefinition } from "../api/registry/endpoint-slices/definition";
import { nodesDefinition } from "../api/registry/nodes/definition";
import type { ResourceDefinition } from "../api/registry/resource";
import { servicesDefinition } from "../api/registry/services/definition";
import type { ObjectFeed } from "../api/rpc/object-feed";
import { Controller, type ControllerPorts, hearing } from "../controllers/frame/controller";
import type { ControllerEntry } from "../controllers/controller-table";
import type { NamedFeed } from "../controllers/followed/followed-store";
import { type EnteredNames, UsedStores } from "../controllers/followed/used-stores";
import type { RowStorage } from "../controllers/followed/row-storage";
import type { HealthCounts, HealthTally } from "./pushed/health-tally";
import { changesCounts } from "./pushed/local-slices";
import { changesTarget, type NodeTarget } from "./pushed/node-target";
import { HealthBooks } from "./pushed/health-books";
import { PushPass } from "./pushed/push-pass";
import { changesCheck } from "./pushed/service-checks";
import type { Cursor, ShardChange } from "./pushed/shard-change";
import type { NodeProxyRpc, ProxyHealthControllerRpc } from "./rpc";

export interface ProxyHealthSetting extends ControllerPorts {
  clock: Clock;
  /** each function makes a stub for one call */
  peers: {
    storeOf(definition: ResourceDefinition): ObjectFeed;
    entered?: EnteredNames;
    nodeProxy(shard: number): Pick<NodeProxyRpc, "push">;
  };
  tables: { rows: RowStorage };
}

class ProxyHealthController extends Controller implements ProxyHealthControllerRpc {
  constructor(
    setting: ProxyHealthSetting,
    private readonly pass: PushPass,
    private readonly books: HealthBooks,
  ) {
    super(
      setting,
      hearing(
        (isPoked) => pass.run(isPoked),
        () => pass,
      ),
    );
  }

  async shardState(shard: number, known: Cursor | null, mayRest = false): Promise<ShardChange | null> {
    // Rows that are lost say nothing of a Node that is gone, so nobody would ever tell of it.
    const mustRead = known !== null && !this.pass.knowsNodes;
    if (mustRead) await this.alarm();
    else if (!mayRest && !this.pass.isFresh) void this.ask();
    if (mustRead && !this.pass.knowsNodes) throw new Error("Nodes were not read yet");
    return this.pass.stateOf(shard, known ?? undefined);
  }

  async targets(): Promise<NodeTarget[] | null> {
    // In a cluster of an older release nothing may have changed since.
    if (!this.pass.targets()) await this.alarm();
    else if (!this.pass.isFresh) void this.ask();
    return this.pass.targets() ?? null;
  }

  addHealthTally(shard: number, tally: HealthTally): Promise<void> {
    this.pass.load();
    this.books.add(shard, tally);
    return Promise.resolve();
  }

  healthCounts(): Promise<HealthCounts> {
    this.pass.load();
    return Promise.resolve(this.books.counts);
  }
}

const NODES = qualifiedResource(nodesDefinition);
const SERVICES = qualifiedResource(servicesDefinition);
const SLICES = qualifiedResource(endpointSlicesDefinition);

export const proxyHealthController: ControllerEntry<ProxyHealthSetting, ProxyHealthController> = {
  follows: [NODES, SERVICES, SLICES],
  filters: { [NODES]: changesTarget, [SERVICES]: changesCheck, [SLICES]: changesCounts },
  make: (setting) => {
    const { clock, recorder, tables, peers } = setting;
    const used = new UsedStores(clock, peers.entered);
    const pass = new PushPass({
      clock,
      recorder,
      storage: tables.rows,
      nodes: followed(setting, nodesDefinition, used),
      services: followed(setting, servicesDefinition, used),
      slices: followed(setting, endpointSlicesDefinition, used),
      push: (shard, change) => peers.nodeProxy(shard).push(change),
    });
    return new ProxyHealthController(setting, pass, new HealthBooks(tables.rows));
  },
};

/** A store that hangs keeps nobody waiting for long. */
function followed({ clock, peers }: ProxyHealthSetting, definition: ResourceDefinition, used: UsedStores): NamedFeed {
  const answered = <T>(call: Promise<T>): Promise<T> => withTimeout(clock, RPC_TIMEOUT_MS, call);
  const resource = qualifiedResource(definition);
  return {
    resource,
    isUnused: () => used.isUnused(resource),
    objectsSince: (cursor, limit) => answered(peers.storeOf(definition).objectsSince(cursor, limit)),
    objectsAfter: (after, limit) => answered(peers.storeOf(definition).objectsAfter(after, limit)),
    objectsNamed: (keys) => answered(peers.storeOf(definition).objectsNamed(keys)),
  };
}
