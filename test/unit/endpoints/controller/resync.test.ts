import { expect, it } from "vitest";
import type { Endpoints } from "../../../../src/api/meta/kubernetes";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { WRITES_AT_ONCE } from "../../../../src/controllers/frame/planned-work";
import { Resync, RESYNC_MS } from "../../../../src/endpoints/controller/resync";
import { MemoryRowStorage } from "../../../support/memory/row-storage";
import { EndpointWorld, type Name } from "../../../support/worlds/endpoint-world";
import { aNode, aPod, aService, ipv4 } from "../../../support/worlds/slice-world";

const START = 1_000_000;

class World {
  readonly storage = new MemoryRowStorage();
  rows = new KeptRows(this.storage);
  keys = ["ns/a", "ns/b", "ns/c"];
  resync = this.#begin();

  /** Something was read. */
  read(revision: number): void {
    this.rows.moveCursor("pods", { incarnation: "i", revision });
  }

  sleep(): void {
    this.rows.save();
    this.rows = new KeptRows(this.storage);
    this.resync = this.#begin();
  }

  take(nowMs: number, limit = 50, waiting: readonly string[] = []): string[] {
    return this.resync.take(nowMs, limit, (key) => waiting.includes(key)).map(({ key }) => key);
  }

  #begin(): Resync {
    this.rows.load();
    const resync = new Resync(this.rows, () => this.keys);
    resync.load();
    return resync;
  }
}

it("a resync: begins an hour after the last one, goes on in portions, and is over", () => {
  const world = new World();
  world.read(1);
  expect(world.take(START)).toEqual([]);
  world.read(2);
  expect(world.take(START + RESYNC_MS - 1)).toEqual([]);
  expect(world.take(START + RESYNC_MS, 2)).toEqual(["ns/a", "ns/b"]);
  expect(world.resync.isUnderWay).toBe(true);
  expect(world.take(START + RESYNC_MS, 0)).toEqual([]);
  expect(world.take(START + RESYNC_MS, 2)).toEqual(["ns/c"]);
  expect(world.resync.isUnderWay).toBe(false);
  world.read(3);
  expect(world.take(START + RESYNC_MS + 1)).toEqual([]);
});

it("Services that wait for a look: are left out, they have their own time", () => {
  const world = new World();
  world.take(START);
  world.read(1);
  expect(world.take(START + RESYNC_MS, 50, ["ns/b"])).toEqual(["ns/a", "ns/c"]);
});

it("nothing was read since the last resync: no other one, also after sleep", () => {
  const world = new World();
  world.read(1);
  world.take(START);
  expect(world.take(START + 2 * RESYNC_MS)).toEqual([]);
  world.sleep();
  expect(world.take(START + 3 * RESYNC_MS)).toEqual([]);
  world.read(2);
  expect(world.take(START + 3 * RESYNC_MS)).toEqual(world.keys);
});

it("sleep during a resync: the next pass begins it anew", () => {
  const world = new World();
  world.take(START);
  world.read(1);
  world.take(START + RESYNC_MS, 1);
  world.sleep();
  expect(world.take(START + RESYNC_MS)).toEqual(world.keys);
});

it("the clock was set back: the next change is followed by a resync", () => {
  const world = new World();
  world.take(START);
  world.read(1);
  expect(world.take(START - 1)).toEqual(world.keys);
});

const pod = (i: number) => aPod({ name: `p${i}`, ips: [ipv4(256 + i)] });

it.each<[Name, (world: EndpointWorld) => unknown]>([
  ["slices", (world) => world.addresses],
  ["endpoints", (world) => world.endpoints.flatMap(({ subsets }) => subsets?.flatMap(({ addresses }) => addresses?.map(({ ip }) => ip)))],
])("the controller of %s has lost that a Service waits: the resync looks at it, and another one writes nothing", async (name, shown) => {
  const world = new EndpointWorld({ controllers: [name], batchMs: 60_000 });
  await world.putNode(aNode("n1"));
  await world.putPod(pod(0));
  await world.putService(aService());
  await world.settle();
  await world.putPod(pod(1));
  await world.settle();
  // Cron's pass saves how far stores were read: what is read again would ask for a look.
  world.poke();
  await world.settle();
  world.sleep();
  world.rows[name].lose("due", "ns/s");
  world.wake();
  await world.settle(RESYNC_MS);
  expect(shown(world)).toEqual([ipv4(256)]);
  world.poke();
  await world.settle();
  expect(shown(world)).toEqual([ipv4(256), ipv4(257)]);
  world.takeWrites();
  await world.settle(2 * RESYNC_MS);
  world.poke();
  await world.settle();
  expect(world.takeWrites()).toEqual([]);
});

it("the controller of mirrored slices has lost that a Service went: the resync finds its slices", async () => {
  const world = new EndpointWorld({ controllers: ["mirror"], batchMs: 60_000 });
  const services = ["s", "other"];
  for (const name of services) {
    await world.putService(aService({ selector: undefined }, { name }));
    await world.put("endpoints", {
      metadata: { namespace: "ns", name },
      subsets: [{ addresses: [{ ip: ipv4(1) }], ports: [{ port: 80 }] }],
    } as Endpoints);
  }
  await world.settle(120_000);
  expect(world.slices).toHaveLength(2);
  world.fault = (call) => (call === "endpoints objectsNamed" ? "down" : undefined);
  await world.delete("services", "s");
  await world.settle();
  world.poke();
  await world.settle();
  world.sleep();
  world.rows.mirror.lose("due", "ns/s");
  world.fault = () => undefined;
  world.wake();
  await world.settle(RESYNC_MS);
  expect(world.slices).toHaveLength(2);
  world.poke();
  await world.settle();
  expect(world.slices.map(({ metadata }) => metadata?.labels?.["kubernetes.io/service-name"])).toEqual(["other"]);
});

it("a store that does not answer during the resync of 150 Services: all are put right when it does, in the same resync", async () => {
  const world = new EndpointWorld({ batchMs: 60_000 });
  const labels = (i: number) => ({ app: `a${String(i)}` });
  await world.putNode(aNode("n1"));
  for (let i = 0; i < 150; i++) await world.putService(aService({ selector: labels(i) }, { name: `s${String(i)}` }));
  await world.settle(60_000);
  for (let i = 0; i < 150; i++) await world.putPod(aPod({ name: `p${String(i)}`, ips: [ipv4(256 + i)], labels: labels(i) }));
  await world.settle();
  world.sleep();
  for (let i = 0; i < 150; i++) world.rows.slices.lose("due", `ns/s${String(i)}`);
  world.wake();
  await world.settle(RESYNC_MS);
  expect(world.addresses).toEqual([]);
  let unanswered = 0;
  world.fault = (call) => {
    if (call !== "endpointslices update" || unanswered === WRITES_AT_ONCE) return undefined;
    unanswered++;
    return "silent";
  };
  world.poke();
  await world.settle(RESYNC_MS / 2);
  expect(unanswered).toBe(WRITES_AT_ONCE);
  expect(world.addresses).toHaveLength(150);
});

it("a change during the resync of 300 Services: is written before the rest is looked at", async () => {
  const world = new EndpointWorld({ controllers: ["endpoints"] });
  for (let i = 0; i < 300; i++) await world.putService(aService({ selector: { app: `a${i}` } }, { name: `s${i}` }));
  await world.settle(60_000);
  await world.putNode(aNode("n1"));
  await world.settle(RESYNC_MS);
  world.calls = [];
  await world.putPod(aPod({ name: "live", ips: [ipv4(1)], labels: { app: "a299" } }));
  await world.settle(60_000);
  const looks = world.calls.filter((call) => call === "endpoints objectsNamed").length;
  const before = world.calls.slice(0, world.calls.indexOf("endpoints update")).filter((call) => call === "endpoints objectsNamed").length;
  expect(looks).toBeGreaterThanOrEqual(300);
  expect(before).toBeLessThanOrEqual(100);
});
