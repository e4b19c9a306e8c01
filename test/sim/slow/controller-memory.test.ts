/**
 * What controllers hold of the Services of a cluster: the objects of all controllers may share one isolate, which has 128 MB. The heap is measured with and
 * without the controllers, behind a full collection. What a store or a row holds is in both.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import type { Service } from "../../../src/api/meta/kubernetes";
import { endpointSlicesDefinition } from "../../../src/api/registry/endpoint-slices/definition";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import { servicesDefinition } from "../../../src/api/registry/services/definition";
import { ObjectLinksReader } from "../../../src/api/store/feeds/object-links-reader";
import { GarbageCollector } from "../../../src/controllers/garbage-collection/collector";
import type { CollectedStore } from "../../../src/controllers/garbage-collection/ports";
import { storeName } from "../../../src/controllers/garbage-collection/resolve-owner";
import { PushPass } from "../../../src/proxy-health/pushed/push-pass";
import { MemoryGraphStorage } from "../../support/memory/graph-storage";
import { MemoryRowStorage } from "../../support/memory/row-storage";
import { EndpointWorld, type Kind, type Name } from "../../support/worlds/endpoint-world";

/** What a store of this many Services may cost all controllers together. */
const SERVICES = 100_000;
const BYTES_MAX = 40e6;
/** Of a power of two of that: so tables that double are as full as there. */
const SIZES = [3_125, 6_250] as const;
const CONTROLLERS: readonly Name[] = ["slices", "endpoints", "mirror"];

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** The least of several looks: what a weak reference or the compiler keeps for a while is not held. */
async function heldBytes(): Promise<number> {
  let least = Infinity;
  for (let look = 0; look < 4; look++) {
    // Weak references end with the turn in which they were read.
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    least = Math.min(least, heapUsed + arrayBuffers);
  }
  return least;
}

/** The controllers that follow Services, or what belongs to Services, over real stores. Others read a Service and forget it. */
class World extends EndpointWorld {
  readonly #graph = new MemoryGraphStorage();
  readonly #health = new MemoryRowStorage();
  #others: { readonly collector: GarbageCollector; readonly health: PushPass } | undefined;

  constructor(private readonly isSelecting: boolean) {
    super({ controllers: CONTROLLERS, historyEntries: 1e6 });
  }

  async fill(services: number): Promise<void> {
    // The lists of the first pass are empty.
    await this.settle(1_000);
    for (let i = 0; i < services; i++) {
      await this.putService(aService(i, this.isSelecting));
      if (i % 500 === 499) await this.settle(100);
    }
    await this.settle(120_000);
    await this.#runOthers();
  }

  /** All controllers begin anew, with the rows that they have, and look whether something is to do. */
  async awake(): Promise<void> {
    this.wake();
    await this.settle(60_000);
    await this.#runOthers();
  }

  /** Nothing of the controllers is in memory. */
  async asleep(): Promise<void> {
    this.sleep();
    this.#others = undefined;
    await this.settle(60_000);
    this.calls = [];
  }

  /** Slices, and nodes of the collector. Here alone, so that no frame of the test holds the slices. */
  get held(): number[] {
    return [this.slices.length, this.#others?.collector.remembered ?? 0];
  }

  async #runOthers(): Promise<void> {
    this.#others ??= { collector: this.#collector(), health: this.#pushPass() };
    await this.scheduler.run(this.#others.collector.run());
    await this.scheduler.run(this.#others.health.run());
    await this.settle(60_000);
    this.calls = [];
  }

  #collector(): GarbageCollector {
    const stores = [this.#collected("endpointslices", endpointSlicesDefinition), this.#collected("services", servicesDefinition)];
    const events = { report: () => undefined, flush: () => Promise.resolve() };
    return new GarbageCollector({ clock: this.scheduler.clock(), storage: this.#graph, stores, recorder: QUIET, events });
  }

  #collected(kind: Kind, definition: ResourceDefinition): CollectedStore {
    const { store } = this.stores[kind];
    const links = new ObjectLinksReader(store);
    const call = async <T>(work: () => T | Promise<T>): Promise<T> => {
      await this.scheduler.clock().sleep(1);
      return work();
    };
    return {
      name: storeName(definition),
      group: definition.group,
      version: "v1",
      changesSince: (cursor, limit) => call(() => links.changesSince(cursor, limit)),
      listMetadata: (after, limit) => call(() => links.listMetadata(after, limit)),
      metadataOf: (keys) => call(() => links.metadataOf(keys)),
      whereabouts: (sought, after) => call(() => links.whereabouts(sought, after)),
      write: (request) => call(() => store.write(request)),
    };
  }

  #pushPass(): PushPass {
    const followed = (kind: Kind) => this.followed(kind, () => true);
    const stores = { nodes: followed("nodes"), services: followed("services"), slices: followed("endpointslices") };
    const push = (): Promise<never> => Promise.reject(new Error("there is no node"));
    return new PushPass({ clock: this.scheduler.clock(), recorder: QUIET, storage: this.#health, ...stores, push });
  }
}

const QUIET = { log: () => undefined };

function aService(i: number, isSelecting: boolean): Service {
  const name = `service-${String(i).padStart(6, "0")}`;
  const clusterIP = `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
  const labels = { app: name, tier: "backend" };
  return {
    metadata: { name, namespace: "default", labels },
    spec: {
      type: "ClusterIP",
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ["IPv4"],
      ...(isSelecting && { selector: { app: name } }),
      ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080 }],
    },
  };
}

/** Of all controllers, for each Service: after they have made everything, and after they came back to it. */
async function bytesOf(services: number, isSelecting: boolean): Promise<{ made: number; woken: number }> {
  const world = new World(isSelecting);
  await world.fill(services);
  const slices = isSelecting ? services : 0;
  expect(world.held).toEqual([slices, slices]);
  const full = await heldBytes();
  await world.asleep();
  const made = full - (await heldBytes());
  await world.awake();
  const awake = await heldBytes();
  await world.asleep();
  return { made, woken: awake - (await heldBytes()) };
}

it.each([
  ["with a selector, a slice and Endpoints", true],
  ["without a selector", false],
])(
  "100,000 Services %s: all controllers hold less than 40 MB of them",
  async (_, isSelecting) => {
    const [few, many] = [await bytesOf(SIZES[0], isSelecting), await bytesOf(SIZES[1], isSelecting)];
    const perService = (of: "made" | "woken"): number => (many[of] - few[of]) / (SIZES[1] - SIZES[0]);
    for (const of of ["made", "woken"] as const) expect(SERVICES * perService(of), of).toBeLessThan(BYTES_MAX);
  },
  300_000,
);
