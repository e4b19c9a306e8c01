/**
 * The six tables of KEP-0752, measured for 20,000 endpoints on 5,000 nodes and for 20 on 10. The Service is made, one endpoint changes, and all Pods
 * are replaced; as Endpoints, as slices of 100, and as slices of 1. Writes and bytes are what one watcher was sent. The nodes are a multiplication:
 * each has one watcher, and all of them are sent the same.
 */
import type { Server } from "../../../../../test/support/server/server";
import { type Counted, CountedWatch } from "../../counted-watch";
import { type Change, CHANGES, decimalBytes, estimate, LARGE, type Sizes, SMALL, type Way } from "../../kep-0752";
import { loadPods, makeNode, NODE_IS_A_NAME, readyPods, serviceOf, SERVICES, setReady, SLICES, write } from "../../pods-behind-service";
import type { BenchRow } from "../../row";
import { withServer } from "../../started";
import { WatchedSlices } from "../../watched-slices";

const ENDPOINTS = "/api/v1/namespaces/default/endpoints";
const QUIET_MS = 1_500;
/** A rolling update replaces a quarter of the Pods at a time. */
const STEPS = 4;
const RANGE = "10.96.0.0/16";
const SLICES_OF_1 = [
  "--var",
  "MAX_ENDPOINTS_PER_SLICE=1",
  "--var",
  "CONTROLLERS=*,-node-lifecycle-controller,-endpoints-controller,-endpointslice-mirroring-controller",
];

export async function benchKepTables(): Promise<BenchRow[]> {
  const rows = await withServer(RANGE, (server) => tables(server, ["B=100", "Endpoints"]), NODE_IS_A_NAME);
  rows.push(...(await withServer(RANGE, (server) => tables(server, ["B=1"]), SLICES_OF_1)));
  return rows;
}

async function tables(server: Server, ways: readonly Way[]): Promise<BenchRow[]> {
  await makeNode(server);
  return [...(await tablesOf(server, SMALL, 0, ways)), ...(await tablesOf(server, LARGE, 2 * SMALL.endpoints, ways))];
}

/** `firstPod`: its number; twice as many are made */
async function tablesOf(server: Server, sizes: Sizes, firstPod: number, ways: readonly Way[]): Promise<BenchRow[]> {
  const count = sizes.endpoints;
  const app = `of-${String(count)}`;
  const watches = await Watches.open(server, app, ways);
  await readyPods(server, { from: firstPod, count, app });
  const measured = new Map<Change, Map<Way, WayCounted>>();

  await write(server, "POST", SERVICES, serviceOf(app, app));
  measured.set("creation", await watches.settled(count));

  await setReady(server, firstPod, false);
  measured.set("update", await watches.settled(count - 1));

  await setReady(server, firstPod, true);
  await watches.settled(count);
  const step = count / STEPS;
  for (let from = firstPod; from < firstPod + count; from += step) {
    await readyPods(server, { from: from + count, count: step, app });
    await loadPods(server, { verb: "delete", from, count: step, app });
  }
  measured.set("rolling", await watches.settled(count));
  watches.close();
  return CHANGES.flatMap((change) =>
    ways.flatMap((way) => {
      const counted = measured.get(change)?.get(way);
      return counted ? rowsOf(sizes, way, change, counted) : [];
    }),
  );
}

function rowsOf(sizes: Sizes, way: Way, change: Change, { json, protobuf }: WayCounted): BenchRow[] {
  const { writes, bytes } = estimate(sizes, way, change);
  const { endpoints, nodes } = sizes;
  const name = `kep-tables.${endpoints.toLocaleString("en-US")}/${nodes.toLocaleString("en-US")}.${change}.${way}`;
  const total = (each: number): string => decimalBytes(each * nodes);
  return [
    {
      name: `${name}.writes`,
      value: json.events,
      unit: "writes",
      target: `<= ${writes.toLocaleString("en-US")} (KEP)`,
      ok: json.events <= writes,
      note: `${(json.events * nodes).toLocaleString("en-US")} events at all watchers; the KEP: ${(writes * nodes).toLocaleString("en-US")}`,
    },
    {
      name: `${name}.bytes`,
      value: protobuf.bytes,
      unit: "bytes",
      target: `<= ${decimalBytes(bytes / nodes)} (KEP)`,
      ok: protobuf.bytes <= bytes / nodes,
      note: `one watcher in protobuf, ${json.bytes.toLocaleString("en-US")} in JSON; all: ${total(protobuf.bytes)}, ${total(json.bytes)} in JSON; the KEP: ${decimalBytes(bytes)}`,
    },
  ];
}

interface WayCounted {
  json: Counted;
  protobuf: Counted;
}

/** Watchers of one Service's slices and Endpoints. */
class Watches {
  private constructor(
    private readonly slices: WatchedSlices,
    private readonly ofWays: ReadonlyMap<Way, { json: CountedWatch; protobuf: CountedWatch }>,
  ) {}

  static async open(server: Server, service: string, ways: readonly Way[]): Promise<Watches> {
    const slices = new WatchedSlices(server.url, service);
    await slices.open();
    const ofWays = new Map<Way, { json: CountedWatch; protobuf: CountedWatch }>();
    for (const way of ways) {
      const path = `${way === "Endpoints" ? ENDPOINTS : SLICES}?watch=true&${way === "Endpoints" ? "fieldSelector=metadata.name" : "labelSelector=kubernetes.io%2Fservice-name"}%3D${service}`;
      ofWays.set(way, {
        json: await CountedWatch.open(server.url, path, "json"),
        protobuf: await CountedWatch.open(server.url, path, "protobuf"),
      });
    }
    return new Watches(slices, ofWays);
  }

  /** Waits until so many endpoints are ready and nothing is written any more; answers what came since the last call. */
  async settled(ready: number): Promise<Map<Way, WayCounted>> {
    await this.slices.until(() => this.slices.ready.size === ready);
    const counted = new Map<Way, WayCounted>();
    for (const { json, protobuf } of this.ofWays.values()) {
      await json.quiet(QUIET_MS);
      await protobuf.quiet(QUIET_MS);
    }
    for (const [way, { json, protobuf }] of this.ofWays) counted.set(way, { json: json.take(), protobuf: protobuf.take() });
    return counted;
  }

  close(): void {
    this.slices.close();
    for (const { json, protobuf } of this.ofWays.values()) {
      json.close();
      protobuf.close();
    }
  }
}
