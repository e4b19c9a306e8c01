/** What controllers of endpoints read of their own rows: facts of Services stand there, and memory has their keys alone. */
import { expect, it } from "vitest";
import { PAGES_KIND } from "../../../../src/controllers/followed/packed-rows";
import { EndpointWorld } from "../../../support/worlds/endpoint-world";
import { aNode, aPod, aService } from "../../../support/worlds/slice-world";

const SERVICES = 300;
/** Facts of few Services, in pages of 32. */
const READ_MAX = 40;

const nameOf = (i: number): string => `s${String(i).padStart(3, "0")}`;
const service = (i: number, labels: Record<string, string> = {}) => aService({ selector: { app: nameOf(i) } }, { name: nameOf(i), labels });
const pod = (i: number, ip: string) => aPod({ ips: [ip], name: `p${i}`, labels: { app: nameOf(i), tier: "web" } });

/** Rows that were read by key, and kinds that were read in whole. */
function counted(world: EndpointWorld): { rows(): number; scans: string[] } {
  let read = 0;
  const scans: string[] = [];
  for (const storage of [world.rows.slices, world.rows.endpoints]) {
    const { rowGet, rows } = storage;
    storage.rowGet = (kind, key) => {
      read++;
      return rowGet.call(storage, kind, key);
    };
    storage.rows = (kind) => {
      scans.push(kind);
      return rows.call(storage, kind);
    };
  }
  return {
    scans,
    rows() {
      const since = read;
      read = 0;
      return since;
    },
  };
}

async function filled(): Promise<EndpointWorld> {
  const world = new EndpointWorld({ controllers: ["slices", "endpoints"] });
  await world.settle(1_000);
  await world.putNode(aNode("n1"));
  for (let i = 0; i < SERVICES; i++) await world.putService(service(i));
  await world.settle(60_000);
  expect([world.slices.length, world.endpoints.length]).toEqual([SERVICES, SERVICES]);
  return world;
}

it("a change of one Service, of one Pod, and the end of a Service: rows of few Services are read, and no kind in whole", async () => {
  const world = await filled();
  const read = counted(world);
  await world.putService(service(7, { color: "red" }));
  await world.settle();
  expect(read.rows()).toBeLessThan(READ_MAX);
  await world.putPod(pod(200, "10.1.1.1"));
  await world.settle();
  expect(world.addresses).toEqual(["10.1.1.1"]);
  expect(read.rows()).toBeLessThan(READ_MAX);
  await world.delete("services", nameOf(299));
  await world.settle();
  expect(read.rows()).toBeLessThan(READ_MAX);
  expect(read.scans).toEqual([]);
});

it("a start: each row is read once, and a change behind it reads those of few Services", async () => {
  const world = await filled();
  const read = counted(world);
  world.wake();
  await world.settle();
  expect(read.scans.filter((kind) => kind === PAGES_KIND)).toHaveLength(2);
  expect(read.rows()).toBeLessThan(READ_MAX);
  read.scans.length = 0;
  await world.putPod(pod(100, "10.1.1.1"));
  await world.settle();
  expect(world.addresses).toEqual(["10.1.1.1"]);
  expect(read.rows()).toBeLessThan(READ_MAX);
  expect(read.scans).toEqual([]);
});

it("labels that many Services share in part: a Pod finds those that select it, also after a start", async () => {
  const world = new EndpointWorld({ controllers: ["slices"] });
  await world.putNode(aNode("n1"));
  for (let i = 0; i < 20; i++) await world.putService(aService({ selector: { tier: "web", app: nameOf(i % 5) } }, { name: nameOf(i) }));
  await world.settle();
  for (const ip of ["10.1.1.1", "10.1.1.2"]) {
    world.wake();
    await world.settle();
    await world.putPod(pod(ip === "10.1.1.1" ? 3 : 4, ip));
    await world.settle();
  }
  const at = (ip: string): string[] =>
    world.slices
      .flatMap(({ metadata, endpoints }) =>
        (endpoints ?? []).some(({ addresses }) => addresses.includes(ip)) ? [metadata?.labels?.["kubernetes.io/service-name"] ?? ""] : [],
      )
      .sort();
  expect(at("10.1.1.1")).toEqual([3, 8, 13, 18].map(nameOf));
  expect(at("10.1.1.2")).toEqual([4, 9, 14, 19].map(nameOf));
});
