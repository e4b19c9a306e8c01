/** Ranges of Services beside pools: each meets the other, whichever comes first, and of two that come at once at most one comes to be. */
import { describe, expect, it } from "vitest";
import type { ServiceCIDR } from "../../../src/api/meta/kubernetes";
import { serviceCIDRsDefinition } from "../../../src/api/registry/service-cidrs/definition";
import type { PoolAnswer, PoolQuestion } from "../../../src/api/rpc/pool-book";
import { resourceMissing } from "../../../src/api/rpc/protocol";
import type { WriteResult } from "../../../src/api/rpc/store";
import { GuardedRanges } from "../../../src/pools/guarded-ranges";
import { PoolsWorld } from "../../support/pools/pools-world";
import { createRequest, StoreWorld } from "../../support/worlds/store-world";

const SOON = 3_000;
const TEN = { addresses: ["10.0.0.0/24"] };
const OPTIONS = { group: "networking.k8s.io" };

function shown(answer: WriteResult): string {
  return answer.ok ? String(answer.code) : `${answer.status.code} ${answer.status.message}`;
}

function range(name: string, cidrs: string[], natDomain?: string): ServiceCIDR {
  return { metadata: { name, ...(natDomain && { annotations: { "servicenet.dev/nat-domain": natDomain } }) }, spec: { cidrs } };
}

/** The store of ServiceCIDRs beside those of pools. */
class World extends PoolsWorld {
  readonly ranges: StoreWorld;
  readonly guarded: GuardedRanges;
  hasPools = true;
  readonly questions: PoolQuestion[] = [];
  /** of each question of a range, on its way to the book and back */
  bookMs = 0;
  /** of each look of a pool at the ranges, on its way there and back */
  readMs = 0;
  answer: (question: PoolQuestion) => Promise<PoolAnswer> = (question) => this.book.askPools(question);

  constructor() {
    super();
    const { scheduler } = this.world;
    const clock = scheduler.clock();
    this.guarded = new GuardedRanges({
      clock,
      hasPools: () => Promise.resolve(this.hasPools),
      book: () => ({
        askPools: async (question) => {
          this.questions.push(question);
          await clock.sleep(this.bookMs);
          const answer = await this.answer(question);
          await clock.sleep(this.bookMs);
          return answer;
        },
      }),
    });
    this.ranges = new StoreWorld({ definition: serviceCIDRsDefinition, scheduler, extension: this.guarded.around({}) });
    this.rangesRead = async () => {
      await clock.sleep(this.readMs);
      const stored = [...this.ranges.storage.objectScan("", "")].map(({ data }) => JSON.parse(data) as ServiceCIDR);
      const ranges = stored.map(({ metadata, spec }) => ({ name: metadata?.name ?? "", natDomain: "", cidrs: spec?.cidrs ?? [] }));
      const all = [...ranges, ...this.guarded.underWay];
      await clock.sleep(this.readMs);
      return all;
    };
  }

  range(...of: Parameters<typeof range>): Promise<WriteResult> {
    return this.ranges.create(range(...of), OPTIONS);
  }
}

const met = (why: string): string => `422 ServiceCIDR.networking.k8s.io "r" is invalid: spec.cidrs: Invalid value: ["10.0.0.0/16"]: ${why}`;

describe("a range of Services behind a pool", () => {
  it("422 with the pool's name, in a dry run as well; what meets none comes to be", async () => {
    const world = new World();
    await world.pool("p", TEN);
    // Until the controller has heard of the pool, the book cannot tell whether its write has come to nothing.
    expect(shown(await world.range("r", ["10.0.0.0/16"]))).toContain(
      '503 the range overlaps with InClusterIPPool "ns/p", whose write is under way',
    );
    await world.pass(SOON);
    expect(shown(await world.range("r", ["10.0.0.0/16"]))).toBe(met('overlaps with InClusterIPPool "ns/p"'));
    const dry = await world.ranges.create(range("r", ["10.0.0.0/16"]), { ...OPTIONS, dryRun: true });
    expect(shown(dry)).toBe(met('overlaps with InClusterIPPool "ns/p"'));
    expect(shown(await world.range("r", ["10.1.0.0/16", "fd00::/112"]))).toBe("201");
    expect(world.guarded.underWay).toEqual([]);
  });

  it("accepted where both are in NAT domains that differ, and refused when the range leaves its own", async () => {
    const world = new World();
    await world.pool("p", TEN, { namespace: "ns", annotations: { "servicenet.dev/nat-domain": "x" } });
    await world.pass(SOON);
    expect(shown(await world.range("r", ["10.0.0.0/16"]))).toContain("overlaps with");
    expect(shown(await world.range("r", ["10.0.0.0/16"], "x"))).toContain("overlaps with");
    expect(shown(await world.range("r", ["10.0.0.0/16"], "y"))).toBe("201");
    const stored = world.ranges.stored<ServiceCIDR>("r");
    const moved = await world.ranges.update({ ...stored, metadata: { ...stored?.metadata, annotations: {} } }, OPTIONS);
    expect(shown(moved)).toBe(met('overlaps with InClusterIPPool "ns/p"'));
  });

  it("an address that a pool keeps outside of itself counts, too", async () => {
    const world = new World();
    await world.pool("p", TEN);
    await world.claim("a", "p");
    await world.pass(SOON);
    const keep = { annotations: { "servicenet.dev/keep-out-of-range": "true" } };
    expect(shown(await world.updatePool("p", { addresses: ["10.9.0.0/24"] }, keep))).toBe("200");
    await world.pass(SOON);
    expect(shown(await world.range("r", ["10.0.0.0/16"]))).toBe(met('IPAddress "ns/a" of InClusterIPPool "ns/p" has 10.0.0.1'));
  });

  it("a dry run is in no pool's way", async () => {
    const world = new World();
    const { scheduler, stores } = world.world;
    world.bookMs = 50;
    const pool = { metadata: { name: "p", namespace: "ns" }, spec: { ...TEN, prefix: 24 } };
    const [dry, real] = await scheduler.run(
      Promise.all([
        world.ranges.store.write(createRequest(range("r", ["10.0.0.0/16"]), { ...OPTIONS, dryRun: true })),
        scheduler
          .clock()
          .sleep(10)
          .then(() => stores.pools.store.write(createRequest(pool, { group: "ipam.cluster.x-k8s.io" }))),
      ]),
    );
    expect(shown(real as WriteResult)).toBe("201");
    expect(shown(dry as WriteResult).slice(0, 3)).not.toBe("500");
  });

  it("an address that lies outside of its pool is met when the pool comes into the domain of a range", async () => {
    const world = new World();
    const domain = (natDomain: string): Record<string, Record<string, string>> => ({
      annotations: { "servicenet.dev/nat-domain": natDomain, "servicenet.dev/keep-out-of-range": "true" },
    });
    await world.pool("p", TEN, { namespace: "ns", ...domain("x") });
    await world.claim("a", "p");
    await world.pass(SOON);
    expect(shown(await world.updatePool("p", { addresses: ["10.9.0.0/24"] }, domain("x")))).toBe("200");
    await world.pass(SOON);
    world.rangesRead = () => Promise.resolve([{ name: "r", natDomain: "y", cidrs: ["10.0.0.0/16"] }]);
    expect(shown(await world.updatePool("p", { addresses: ["10.9.0.0/24"] }, domain("y")))).toContain(
      'its IPAddress "ns/a" has 10.0.0.1, which belongs to ServiceCIDR "r" (10.0.0.0/16)',
    );
    // What it had claimed is given back at once.
    expect(shown(await world.updatePool("p", { addresses: ["10.9.0.0/24"] }, domain("z")))).toBe("200");
  });

  it("asks nobody in a cluster that never had a pool, and once for what it adds", async () => {
    const world = new World();
    world.hasPools = false;
    expect(shown(await world.range("r", ["10.0.0.0/16"]))).toBe("201");
    expect(world.questions).toEqual([]);
    world.hasPools = true;
    expect(shown(await world.range("s", ["10.1.0.0/16"]))).toBe("201");
    const stored = world.ranges.stored<ServiceCIDR>("s");
    await world.ranges.update({ ...stored, metadata: { ...stored?.metadata, labels: { a: "b" } } }, OPTIONS);
    expect(world.questions).toHaveLength(1);
  });

  it("a pool that a lost write has left in the way is forgotten; the book's silence is 503, and a fault of the program is none", async () => {
    const world = new World();
    const facts = { family: "IPv4", intervals: [["167772160", "167772415"]], natDomain: "", keepsOutside: false } as const;
    await world.book.askPools({ does: "claim", pool: "InClusterIPPool/ns/lost", token: "t", facts, before: null, dryRun: false });
    expect(shown(await world.range("r", ["10.0.0.0/16"]))).toContain('overlaps with InClusterIPPool "ns/lost"');
    await world.pass(60_000);
    expect(shown(await world.range("r", ["10.0.0.0/16"]))).toBe("201");
    world.answer = () => Promise.reject(new Error("lost"));
    expect(shown(await world.range("s", ["10.1.0.0/16"]))).toContain("503 the range cannot be compared with the pools of the cluster now");
    world.answer = () => Promise.resolve(undefined as unknown as PoolAnswer);
    expect(shown(await world.range("s", ["10.1.0.0/16"]))).toContain("503 the range cannot be compared with the pools of the cluster now");
    world.answer = () => Promise.reject(new TypeError("undefined is no function"));
    await expect(world.range("s", ["10.1.0.0/16"])).rejects.toThrow("undefined is no function");
    expect(world.guarded.underWay).toEqual([]);
  });

  it.each([
    resourceMissing("ipam.cluster.x-k8s.io", "ipaddresses"),
    new TypeError('The RPC receiver does not implement the method "askPools".'),
  ])("a book of a release before pools (%s): there are none", async (error) => {
    const world = new World();
    world.answer = () => Promise.reject(error);
    expect(shown(await world.range("r", ["10.0.0.0/16"]))).toBe("201");
  });

  it("more lost pools than one write forgets: 503, and the next try goes on", async () => {
    const world = new World();
    const lost = 20;
    for (let i = 0; i < lost; i++) {
      const facts = {
        family: "IPv4",
        intervals: [[String(167772160 + i), String(167772160 + i)]],
        natDomain: "",
        keepsOutside: false,
      } as const;
      await world.book.askPools({ does: "claim", pool: `InClusterIPPool/ns/lost-${i}`, token: "t", facts, before: null, dryRun: false });
    }
    await world.pass(60_000);
    expect(shown(await world.range("r", ["10.0.0.0/16"]))).toContain("503 ");
    expect(shown(await world.range("r", ["10.0.0.0/16"]))).toBe("201");
    expect(world.rows.size).toBe(0);
  });
});

it("an address that a client makes outside of its pool: 422 in a range of Services, and of a range that comes at once one meets the other", async () => {
  const world = new World();
  await world.pool("p", { addresses: ["10.9.0.0/24"] });
  expect(shown(await world.range("r", ["10.0.0.0/16"]))).toBe("201");
  expect(shown(await world.address("a", "10.0.0.1", "p"))).toContain('"10.0.0.1": it belongs to ServiceCIDR "r" (10.0.0.0/16)');
  expect(shown(await world.address("a", "10.9.0.1", "p"))).toBe("201");
  const seen = new Set<string>();
  for (let lateMs = -6; lateMs <= 6; lateMs++) {
    const both = new World();
    Object.assign(both, { bookMs: 2, readMs: 2 });
    await both.pool("p", { addresses: ["10.9.0.0/24"] });
    const { scheduler, stores } = both.world;
    const clock = scheduler.clock();
    const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "p" };
    const address = {
      metadata: { name: "a", namespace: "ns" },
      spec: { claimRef: { name: "a" }, poolRef, address: "10.0.0.1", prefix: 24 },
    };
    const answers = await scheduler.run(
      Promise.all([
        clock.sleep(Math.max(0, lateMs)).then(() => stores.addresses.store.write(createRequest(address, { group: poolRef.apiGroup }))),
        clock.sleep(Math.max(0, -lateMs)).then(() => both.ranges.store.write(createRequest(range("r", ["10.0.0.0/16"]), OPTIONS))),
      ]),
    );
    const codes = answers.map(shown).map((text) => text.slice(0, 3));
    expect(codes, String(lateMs)).not.toEqual(["201", "201"]);
    if (!codes.includes("201")) expect(codes, String(lateMs)).toContain("503");
    seen.add(codes.join());
  }
  expect([...seen].sort()).toEqual(expect.arrayContaining(["201,503", "503,201"]));
});

it("a range and a pool at once, whatever comes first on the way: never both", async () => {
  const seen = new Set<string>();
  for (let bookMs = 0; bookMs < 4; bookMs++) {
    for (let readMs = 0; readMs < 4; readMs++) {
      for (let lateMs = -6; lateMs <= 6; lateMs++) {
        const world = new World();
        Object.assign(world, { bookMs, readMs });
        const { scheduler, stores } = world.world;
        const clock = scheduler.clock();
        const late = async (ms: number, write: () => Promise<WriteResult>): Promise<WriteResult> => {
          await clock.sleep(Math.max(0, ms));
          return write();
        };
        const pool = { metadata: { name: "p", namespace: "ns" }, spec: { ...TEN, prefix: 24 } };
        const answers = await scheduler.run(
          Promise.all([
            late(lateMs, () => stores.pools.store.write(createRequest(pool, { group: "ipam.cluster.x-k8s.io" }))),
            late(-lateMs, () => world.ranges.store.write(createRequest(range("r", ["10.0.0.0/16"]), OPTIONS))),
          ]),
        );
        const codes = answers.map(shown).map((text) => text.slice(0, 3));
        expect(codes, `${bookMs} ${readMs} ${lateMs}`).not.toEqual(["201", "201"]);
        // Where neither comes to be, one of them may be tried again.
        if (!codes.includes("201")) expect(codes, `${bookMs} ${readMs} ${lateMs}`).toContain("503");
        seen.add(codes.join());
      }
    }
  }
  expect([...seen].sort()).toEqual(expect.arrayContaining(["201,503", "503,201"]));
});
