import { describe, expect, it } from "vitest";
import type { AddressPool, PoolAddress } from "../../../src/api/registry/ipam/ipam";
import type { WriteResult } from "../../../src/api/rpc/store";
import { PoolsWorld } from "../../support/pools/pools-world";

const SOON = 3_000;
const LATE = 60_000;

/** `201`, or code and message of the refusal. */
function shown(answer: WriteResult): string {
  return answer.ok ? String(answer.code) : `${answer.status.code} ${answer.status.message}`;
}

/** A pool of 10.0.0.1 to 10.0.0.9, three of which are used. */
async function used(): Promise<PoolsWorld> {
  const world = new PoolsWorld();
  await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] });
  for (const name of ["a", "b", "c"]) {
    await world.claim(name, "p");
    await world.pass(SOON);
  }
  return world;
}

/** what a pool of 10.0.0.1 and 10.0.0.2 gives */
const TWO = { family: "IPv4", intervals: [["167772161", "167772162"]], natDomain: "", keepsOutside: false } as const;
const IN_USE = "400 Pool has IPAddresses allocated. Cannot delete Pool until all IPAddresses have been removed.";

describe("a pool in use", () => {
  it("deletion: refused in upstream's words; with upstream's annotation it waits for the last address", async () => {
    const world = await used();
    expect(shown(await world.remove("pools", "ns/p"))).toBe(IN_USE);
    await world.updatePool("p", {}, { annotations: { "ipam.cluster.x-k8s.io/skip-validate-delete-webhook": "" } });
    expect(shown(await world.remove("pools", "ns/p"))).toBe("200");
    await world.claim("late", "p");
    await world.pass(SOON);
    expect(world.claims).toEqual(["a Ready a", "b Ready b", "c Ready c", "late PoolNotReady -"]);
    for (const name of ["a", "b"]) await world.remove("claims", `ns/${name}`);
    await world.pass(SOON);
    expect([world.given, world.world.names("pools"), world.counts("p")]).toEqual([["c 10.0.0.3"], ["p"], "1/9 free 8 outside 0"]);
    world.world.takeCalls();
    await world.pass(LATE);
    expect(world.world.takeCalls()).toEqual([]);
    await world.remove("claims", "ns/c");
    await world.pass(SOON);
    expect([world.given, world.world.names("pools"), [...world.rows]]).toEqual([[], [], []]);
  });

  it("shrunk below what is used: refused in upstream's words; with our annotation what is outside is counted, and stays", async () => {
    const world = await used();
    const refused = await world.updatePool("p", { addresses: ["10.0.0.2", "10.0.0.5-10.0.0.9"] });
    expect(shown(refused)).toBe("400 pool addresses do not contain allocated addresses: [10.0.0.1-10.0.0.1 10.0.0.3-10.0.0.3]");
    const kept = { annotations: { "servicenet.dev/keep-out-of-range": "true" } };
    expect(shown(await world.updatePool("p", { addresses: ["10.0.0.2", "10.0.0.5-10.0.0.9"] }, kept))).toBe("200");
    await world.claim("d", "p");
    await world.pass(SOON);
    expect(world.given).toEqual(["a 10.0.0.1", "b 10.0.0.2", "c 10.0.0.3", "d 10.0.0.5"]);
    expect(world.counts("p")).toBe("4/6 free 2 outside 2");
    // Nothing more is lost by the next change.
    expect(shown(await world.updatePool("p", { addresses: ["10.0.0.2", "10.0.0.5-10.0.0.8"] }, { annotations: {} }))).toBe("200");
    await world.pool("q", { addresses: ["10.0.0.3-10.0.0.4"] });
    expect(shown(await world.pool("q", { addresses: ["10.0.0.3-10.0.0.4"] }))).toBe(
      '422 InClusterIPPool.ipam.cluster.x-k8s.io "q" is invalid: spec.addresses: Invalid value: ["10.0.0.3-10.0.0.4"]: ' +
        'IPAddress "ns/c" of InClusterIPPool "ns/p" has 10.0.0.3',
    );
  });

  it("a dry run: is judged, and changes nothing", async () => {
    const world = await used();
    const before = JSON.stringify([...world.rows]);
    expect(shown(await world.remove("pools", "ns/p", { dryRun: true }))).toBe(IN_USE);
    for (const name of ["a", "b", "c"]) await world.remove("claims", `ns/${name}`);
    await world.pass(SOON);
    expect(shown(await world.remove("pools", "ns/p", { dryRun: true }))).toBe("200");
    expect(JSON.stringify([...world.rows])).toBe(before);
  });
});

describe("pools that meet", () => {
  const overlaps = (other: string): string =>
    `422 InClusterIPPool.ipam.cluster.x-k8s.io "q" is invalid: spec.addresses: Invalid value: ["10.0.0.128/25"]: overlaps with ${other}`;

  it("refused with the name of the other, in either scope, at creation and at change", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.0/24"] }, {});
    expect(shown(await world.pool("q", { addresses: ["10.0.0.128/25"] }))).toBe(overlaps('GlobalInClusterIPPool "p"'));
    expect(shown(await world.pool("q", { addresses: ["10.0.1.0/25"] }))).toBe("201");
    expect(shown(await world.updatePool("q", { addresses: ["10.0.0.128/25"] }))).toBe(overlaps('GlobalInClusterIPPool "p"'));
    expect(shown(await world.pool("r", { addresses: ["10.0.1.100"] }, {}))).toContain('overlaps with InClusterIPPool "ns/q"');
    // What a pool does not give out is free for others.
    expect(shown(await world.pool("s", { addresses: ["10.0.2.0/24"], excludedAddresses: ["10.0.2.128/25"] }))).toBe("201");
    expect(shown(await world.pool("t", { addresses: ["10.0.2.128-10.0.2.200"] }))).toBe("201");
  });

  it("accepted where both have NAT domains that differ; then both give the same address", async () => {
    const world = new PoolsWorld();
    const nat = (domain: string) => ({ namespace: "ns", annotations: { "servicenet.dev/nat-domain": domain } });
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] }, nat("x"));
    expect(shown(await world.pool("q", { addresses: ["10.0.0.1-10.0.0.9"] }, nat("x")))).toContain("overlaps");
    expect(shown(await world.pool("q", { addresses: ["10.0.0.1-10.0.0.9"] }))).toContain("overlaps");
    expect(shown(await world.pool("q", { addresses: ["10.0.0.1-10.0.0.9"] }, nat("y")))).toBe("201");
    await world.claim("a", "p");
    await world.claim("b", "q");
    await world.pass(SOON);
    expect(world.given).toEqual(["a 10.0.0.1", "b 10.0.0.1"]);
    const moved = await world.updatePool("q", {}, { annotations: { "servicenet.dev/nat-domain": "x" } });
    expect(shown(moved)).toContain("overlaps");
  });

  it("ranges of Services: count as pools", async () => {
    const world = new PoolsWorld();
    world.serviceRanges = [{ name: "kubernetes", natDomain: "", cidrs: ["10.0.0.0/16", "fd00::/112"] }];
    expect(shown(await world.pool("q", { addresses: ["10.0.0.128/25"] }))).toBe(overlaps('ServiceCIDR "kubernetes" (10.0.0.0/16)'));
    expect(shown(await world.pool("q", { addresses: ["10.1.0.128/25"] }))).toBe("201");
  });

  it("at once: one of them comes to be", async () => {
    const world = new PoolsWorld();
    const { scheduler, stores } = world.world;
    const make = (kind: "pools" | "globalPools", namespace: string): Promise<WriteResult> => {
      const object: AddressPool = {
        metadata: { name: "p", ...(namespace && { namespace }) },
        spec: { addresses: ["10.0.0.0/24"], prefix: 24 },
      };
      const options = {
        dryRun: false,
        fieldManager: "t",
        fieldValidation: "Ignore",
        force: false,
        group: "ipam.cluster.x-k8s.io",
      } as const;
      return stores[kind].store.write({
        verb: "create",
        namespace,
        object: JSON.stringify(object),
        options: { ...options, version: "v1alpha2" },
      });
    };
    const answers = await scheduler.run(Promise.all([make("pools", "ns"), make("globalPools", ""), make("pools", "other")]));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  });
});

describe("a write of a pool that comes to nothing", () => {
  it("an answer of the book that is lost: 503, and the pool's place is free again", async () => {
    const world = new PoolsWorld();
    world.bookFault = ({ does }) => (does === "claim" ? new Error("lost") : undefined);
    expect(shown(await world.pool("p", { addresses: ["10.0.0.0/24"] }))).toContain("503 ");
    world.bookFault = () => undefined;
    expect(shown(await world.pool("q", { addresses: ["10.0.0.0/24"] }))).toBe("201");
  });

  it("a death behind the claim of a new pool: what overlaps it is refused while the write may come, and then accepted", async () => {
    const world = new PoolsWorld();
    const facts = { family: "IPv4", intervals: [["167772160", "167772415"]], natDomain: "", keepsOutside: false } as const;
    await world.book.askPools({
      does: "claim",
      pool: "InClusterIPPool/ns/lost",
      token: "t",
      facts,
      before: null,
      dryRun: false,
    });
    expect(shown(await world.pool("q", { addresses: ["10.0.0.0/24"] }))).toContain('overlaps with InClusterIPPool "ns/lost"');
    await world.pass(LATE);
    expect(shown(await world.pool("q", { addresses: ["10.0.0.0/24"] }))).toBe("201");
    expect([...world.rows.keys()]).toEqual(["InClusterIPPool/ns/q"]);
  });

  it("a death behind the claim of a change: the pool gives what both states have, and all of its own when the controller has settled it", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.2"] });
    await world.pass(SOON);
    const [row] = [...world.rows.values()];
    const facts = { family: "IPv4", intervals: [["167772162", "167772163"]], natDomain: "", keepsOutside: false } as const;
    await world.book.askPools({
      does: "claim",
      pool: "InClusterIPPool/ns/p",
      token: "t",
      facts,
      before: row?.facts ?? null,
      dryRun: false,
    });
    const added = await world.address("b", "10.0.0.3", "p", {}, { fieldManager: "ip-pools", byController: true });
    expect(shown(added)).toContain("the pool does not give this address out");
    await world.claim("a", "p");
    await world.pass(SOON);
    expect(world.given).toEqual([]);
    await world.pass(LATE);
    expect(world.given).toEqual(["a 10.0.0.1"]);
    expect([...world.rows.values()]).toEqual([row]);
  });

  it("a death behind the close of a deletion: the pool gives nothing at first, and is open again when the controller has settled it", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.2"] });
    await world.pass(SOON);
    await world.book.askPools({ does: "close", pool: "InClusterIPPool/ns/p", token: "t", facts: TWO, inUse: false, dryRun: false });
    await world.claim("a", "p");
    await world.pass(SOON);
    expect(world.given).toEqual([]);
    await world.pass(LATE);
    expect(world.given).toEqual(["a 10.0.0.1"]);
  });

  it("a pool whose finalizer somebody takes away by force: nobody is held up by it", async () => {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.0/24"] });
    await world.pass(SOON);
    world.world.stores.pools.storage.objectDelete("ns/p");
    expect(shown(await world.pool("q", { addresses: ["10.0.0.0/24"] }))).toBe("201");
  });
});

describe("an address that a client makes", () => {
  it("refused where another object has it, or another pool covers it", async () => {
    const world = await used();
    await world.pool("q", { addresses: ["10.0.1.1-10.0.1.9"] });
    const refused = (name: string, why: string): string =>
      `422 IPAddress.ipam.cluster.x-k8s.io "${name}" is invalid: spec.address: Invalid value: ${why}`;
    expect(shown(await world.address("x", "10.0.0.2", "p"))).toBe(refused("x", '"10.0.0.2": IPAddress "ns/b" has it'));
    expect(shown(await world.address("x", "10.0.1.2", "p"))).toBe(refused("x", '"10.0.1.2": it belongs to InClusterIPPool "ns/q"'));
    expect(shown(await world.address("x", "10.0.0.4", "p"))).toBe("201");
    await world.claim("d", "p");
    await world.pass(SOON);
    expect(world.objectOf<PoolAddress>("addresses", "ns/d")?.spec?.address).toBe("10.0.0.5");
  });

  it("for a claim: is of the claim's pool", async () => {
    const world = await used();
    await world.pool("q", { addresses: ["10.0.1.1-10.0.1.9"] });
    await world.claim("early", "later");
    expect(shown(await world.address("early", "10.0.1.4", "q"))).toContain(
      "the referenced pool is different from the pool referenced by the claim this address should fulfill",
    );
    expect(shown(await world.address("nobody", "10.0.1.4", "q"))).toBe("201");
  });

  it("under the name of the controller: is compared as any other, and may be outside of its pool, as one that a restore brings back", async () => {
    const world = await used();
    await world.pool("q", { addresses: ["10.0.1.1-10.0.1.9"] });
    await world.claim("early", "later");
    const named = { fieldManager: "ip-pools" };
    expect(shown(await world.address("early", "10.0.1.4", "q", {}, named))).toContain("the referenced pool is different");
    expect(shown(await world.address("d", "10.0.5.5", "q", {}, named))).toBe("201");
  });

  it("from the controller: refused where the pool does not give it out any more, also if the pool keeps what is outside", async () => {
    const world = await used();
    const kept = { annotations: { "servicenet.dev/keep-out-of-range": "true" } };
    await world.updatePool("p", { addresses: ["10.0.0.2", "10.0.0.5-10.0.0.8"] }, kept);
    const late = await world.address("d", "10.0.0.9", "p", {}, { fieldManager: "ip-pools", byController: true });
    expect(shown(late)).toContain("the pool does not give this address out");
    expect(shown(await world.address("d", "10.0.0.8", "p", {}, { fieldManager: "ip-pools", byController: true }))).toBe("201");
  });

  /** Made by a client when the controller has read the claim, and before it makes the address. */
  function madeMeanwhile(world: PoolsWorld, name: string, address: string): void {
    world.world.fault = (call) => {
      if (call !== "claims objectsNamed") return undefined;
      world.world.fault = () => undefined;
      const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "p" };
      void world.world.stores.addresses.store.write({
        verb: "create",
        namespace: "ns",
        object: JSON.stringify({ metadata: { name, namespace: "ns" }, spec: { claimRef: { name }, poolRef, address, prefix: 24 } }),
        options: { ...OPTIONS, version: "v1beta2" },
      });
      return undefined;
    };
  }

  it("one that comes to be while the controller picks: the claim gets the next one", async () => {
    const world = await used();
    madeMeanwhile(world, "x", "10.0.0.4");
    await world.claim("d", "p");
    await world.pass(LATE);
    expect(world.given).toEqual(["a 10.0.0.1", "b 10.0.0.2", "c 10.0.0.3", "d 10.0.0.5", "x 10.0.0.4"]);
    expect(world.claims).toContain("d Ready d");
  });

  it("one of the claim's own name that comes to be meanwhile: the claim takes it over", async () => {
    const world = await used();
    madeMeanwhile(world, "d", "10.0.0.7");
    await world.claim("d", "p");
    await world.pass(LATE);
    expect(world.given).toEqual(["a 10.0.0.1", "b 10.0.0.2", "c 10.0.0.3", "d 10.0.0.7"]);
    expect(world.claims).toContain("d Ready d");
    expect(world.counts("p")).toBe("4/9 free 5 outside 0");
  });
});

const OPTIONS = { dryRun: false, fieldManager: "t", fieldValidation: "Ignore", force: false, group: "ipam.cluster.x-k8s.io" } as const;

describe("an address of somebody else's pool", () => {
  const theirs = { poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: "OtherPool", name: "x" } };

  it("refused where a pool of ours covers it, or an address of one has it", async () => {
    const world = await used();
    expect(shown(await world.address("m", "10.0.0.1", "", theirs))).toContain('"10.0.0.1": IPAddress "ns/a" has it');
    expect(shown(await world.address("m", "10.0.0.9", "", theirs))).toContain('"10.0.0.9": it belongs to InClusterIPPool "ns/p"');
    expect(shown(await world.address("m", "10.0.0.10", "", theirs))).toBe("201");
    // They are kept apart, and named, by whoever gives them.
    expect(shown(await world.address("n", "10.0.0.10", "", { ...theirs, claimRef: { name: "other" } }))).toBe("201");
  });

  it("counts: no pool of ours comes to cover it, and no address of ours to have it, behind a restart as well", async () => {
    const world = await used();
    await world.address("m", "10.0.0.10", "", theirs);
    for (let life = 0; life < 2; life++) {
      expect(shown(await world.updatePool("p", { addresses: ["10.0.0.1-10.0.0.10"] }))).toContain(
        'IPAddress "ns/m" of OtherPool.ipam.cluster.x-k8s.io "ns/x" has 10.0.0.10',
      );
      expect(shown(await world.address("d", "10.0.0.10", "p"))).toContain('"10.0.0.10": IPAddress "ns/m" has it');
      world.restartBook();
    }
  });
});

it("an address of ours is named as its claim: under another name no claim is compared with it", async () => {
  const world = await used();
  await world.pool("q", { addresses: ["10.0.1.1-10.0.1.9"] });
  await world.claim("m", "q");
  expect(shown(await world.address("m", "10.0.0.5", "p", { claimRef: { name: "zzz" } }))).toContain(
    'spec.claimRef.name: Invalid value: "zzz": an IPAddress has the name of the claim that it is for',
  );
});

describe("a pool that comes into another NAT domain", () => {
  const nat = (domain: string) => ({ namespace: "ns", annotations: { "servicenet.dev/nat-domain": domain } });
  const KEEP = { annotations: { "servicenet.dev/keep-out-of-range": "true" } };

  async function both(): Promise<PoolsWorld> {
    const world = new PoolsWorld();
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] }, nat("x"));
    await world.pool("q", { addresses: ["10.0.0.1-10.0.0.9"] }, nat("y"));
    await world.claim("a", "p");
    await world.pass(SOON);
    return world;
  }

  it("what it holds outside of its new addresses goes with it: refused where another pool covers that, or has given it", async () => {
    const world = await both();
    const moved = () => world.updatePool("p", { addresses: ["10.0.0.20-10.0.0.30"] }, KEEP);
    expect(shown(await moved())).toContain('its IPAddress "ns/a" has 10.0.0.1, which belongs to InClusterIPPool "ns/q"');
    await world.claim("b", "q");
    await world.pass(SOON);
    expect(world.given).toEqual(["a 10.0.0.1", "b 10.0.0.1"]);
    expect(shown(await moved())).toContain('IPAddress "ns/b" of InClusterIPPool "ns/q" has 10.0.0.1');
    // It may go where nobody is.
    const away = { annotations: { ...KEEP.annotations, "servicenet.dev/nat-domain": "z" } };
    expect(shown(await world.updatePool("p", { addresses: ["10.0.0.1-10.0.0.9"] }, away))).toBe("200");
    // There it may shrink.
    const kept = { annotations: { ...KEEP.annotations, "servicenet.dev/nat-domain": "z" } };
    expect(shown(await world.updatePool("p", { addresses: ["10.0.0.20-10.0.0.30"] }, kept))).toBe("200");
  });

  it("a new pool has what an earlier one of its name has given", async () => {
    const world = await both();
    world.world.stores.pools.storage.objectDelete("ns/p");
    expect(shown(await world.pool("p", { addresses: ["10.0.1.1-10.0.1.9"] }, nat("y")))).toContain(
      'its IPAddress "ns/a" has 10.0.0.1, which belongs to InClusterIPPool "ns/q"',
    );
    expect(shown(await world.pool("p", { addresses: ["10.0.1.1-10.0.1.9"] }, nat("z")))).toBe("201");
  });

  it("between claim and answer it is in both, and in both families: an address of it may be met in either", async () => {
    const world = new PoolsWorld();
    await world.pool("r", { addresses: ["10.0.0.20"] }, nat("x"));
    await world.pool("s", { addresses: ["10.0.0.20"] }, nat("z"));
    await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] }, nat("x"));
    await world.pass(SOON);
    const row = world.rows.get("InClusterIPPool/ns/p");
    if (!row) throw new Error("no row");
    const facts = { family: "IPv6", intervals: [["1", "9"]], natDomain: "y", keepsOutside: false } as const;
    await world.book.askPools({ does: "claim", pool: "InClusterIPPool/ns/p", token: "t", facts, before: row.facts, dryRun: false });
    for (let life = 0; life < 2; life++) {
      expect(shown(await world.pool("q", { addresses: ["10.0.0.4"] }, nat("x")))).toContain("overlaps with");
      expect(shown(await world.pool("q", { addresses: ["::4"], prefix: 120 }, nat("y")))).toContain("overlaps with");
      world.restartBook();
    }
    expect(shown(await world.pool("q", { addresses: ["10.0.0.4"] }, nat("y")))).toBe("201");
    // It may turn out to be in the domain of the other one.
    expect(shown(await world.address("m", "10.0.0.4", "p"))).toContain('it belongs to InClusterIPPool "ns/q"');
    expect(shown(await world.address("m", "10.0.0.20", "p"))).toContain('it belongs to InClusterIPPool "ns/r"');
  });
});
