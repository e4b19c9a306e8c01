import { describe, expect, it } from "vitest";
import type { TrafficPolicy } from "../../../../src/api/registry/services/proxied-service";
import type { MergedEndpoint } from "../../../../src/api/registry/endpoint-slices/slice-portion";
import { usableEndpoints } from "../../../../src/endpoints/merge/usable-endpoints";
import { BalancedPort, REMEMBERED_CLIENTS_MAX } from "../../../../src/clients/proxy/balanced-port";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

const NODE = { name: "n1", zone: undefined };

/** An endpoint from its name and words: `here`, `notReady`, `servingLast`. */
function endpoint(text: string): MergedEndpoint {
  const [ip = "", ...words] = text.split(" ");
  const has = (word: string) => words.includes(word);
  return {
    key: ip,
    ip,
    port: 80,
    ready: !has("notReady") && !has("servingLast"),
    serving: !has("notReady"),
    terminating: has("servingLast"),
    nodeName: has("here") ? "n1" : undefined,
    zone: undefined,
    zoneHints: [],
    nodeHints: [],
  };
}

class World {
  now = 1_000_000;
  readonly port = new BalancedPort(seededRandom(7));

  set(endpoints: string[], affinitySeconds?: number): void {
    const all = endpoints.map(endpoint);
    this.port.state = { endpoints: all, usable: usableEndpoints(all, { cluster: true, local: true }, NODE), affinitySeconds };
  }

  choose(client = "c1", { policy = "Cluster", refused = [] }: { policy?: TrafficPolicy; refused?: string[] } = {}): string {
    return this.port.choose(policy, { client, now: this.now, refused: new Set(refused) })?.key ?? "";
  }

  /** Who is chosen by 200 connections, with how many each. */
  counts(...of: Parameters<World["choose"]>): Record<string, number> {
    const counts: Record<string, number> = {};
    for (let i = 0; i < 200; i++) {
      const key = this.choose(...of);
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }
}

const world = (endpoints: string[], affinitySeconds?: number): World => {
  const made = new World();
  made.set(endpoints, affinitySeconds);
  return made;
};

describe("choose", () => {
  it.each<{ name: string; endpoints: string[]; policy?: TrafficPolicy; refused?: string[]; chosen: string[] }>([
    { name: "no endpoint", endpoints: [], chosen: [""] },
    { name: "Cluster", endpoints: ["a", "b here", "c notReady", "d servingLast"], chosen: ["a", "b"] },
    { name: "Local", endpoints: ["a", "b here", "c here"], policy: "Local", chosen: ["b", "c"] },
    { name: "Local without a local one", endpoints: ["a"], policy: "Local", chosen: [""] },
    { name: "only terminating ones", endpoints: ["a notReady", "b servingLast"], chosen: ["b"] },
    { name: "refused by one", endpoints: ["a", "b", "c"], refused: ["b"], chosen: ["a", "c"] },
    { name: "refused by all", endpoints: ["a", "b"], refused: ["a", "b"], chosen: [""] },
  ])("$name: chosen at random among the usable ones", ({ endpoints, policy, refused, chosen }) => {
    const counts = world(endpoints).counts("c1", { policy, refused });
    expect(Object.keys(counts).sort()).toEqual(chosen);
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan((200 / chosen.length) * 0.7);
  });

  it("hasEndpoint: by policy", () => {
    const { port } = world(["a"]);
    expect([port.hasEndpoint("Cluster"), port.hasEndpoint("Local")]).toEqual([true, false]);
  });
});

describe("session affinity", () => {
  it("clients: each keeps its endpoint until the timeout since its last connection", () => {
    const made = world(["a", "b", "c", "d"], 10);
    const first = made.choose();
    for (let i = 0; i < 20; i++) {
      made.now += 9_999;
      expect(made.choose()).toBe(first);
    }
    const after = new Set<string>();
    for (let i = 0; i < 30; i++) {
      made.now += 10_000;
      after.add(made.choose());
    }
    expect(after.size).toBe(4);
  });

  it("several clients: spread over the endpoints", () => {
    const made = world(["a", "b"], 10);
    expect(new Set(Array.from({ length: 30 }, (_, i) => made.choose(`c${i}`)))).toEqual(new Set(["a", "b"]));
  });

  it("an endpoint that is no longer usable, or refuses: another one, which the client then keeps", () => {
    const made = world(["a", "b"], 10);
    const first = made.choose();
    const other = first === "a" ? "b" : "a";
    expect(made.choose("c1", { refused: [first] })).toBe(other);
    expect(made.counts()).toEqual({ [other]: 200 });
    made.set([`${other} notReady`, first], 10);
    expect(made.choose()).toBe(first);
    made.set(["a", "b"], 10);
    expect(made.counts()).toEqual({ [first]: 200 });
  });

  it("switched off and on again: nothing is remembered", () => {
    const made = world(["a", "b"], 10);
    for (let i = 0; i < 20; i++) made.choose(`c${i}`);
    const before = Array.from({ length: 20 }, (_, i) => made.choose(`c${i}`));
    made.set(["a", "b"]);
    made.set(["a", "b"], 10);
    expect(Array.from({ length: 20 }, (_, i) => made.choose(`c${i}`))).not.toEqual(before);
  });

  it("more clients than are remembered: the one not seen longest is forgotten", () => {
    const made = world(["a"], 10);
    const oldest = Array.from({ length: 20 }, (_, i) => `oldest${i}`);
    for (const client of oldest) made.choose(client);
    for (let i = 0; i < REMEMBERED_CLIENTS_MAX; i++) made.choose(`c${i}`);
    made.set(["a", "b"], 10);
    expect(made.choose("c0")).toBe("a");
    expect(new Set(oldest.map((client) => made.choose(client)))).toEqual(new Set(["a", "b"]));
  });
});

describe("keepsFlowTo", () => {
  it.each([
    { name: "ready", endpoints: ["a", "b"], kept: true },
    { name: "terminating and serving", endpoints: ["a servingLast", "b"], kept: true },
    { name: "not serving, beside one that serves", endpoints: ["a notReady", "b"], kept: false },
    { name: "not serving, as all others", endpoints: ["a notReady", "b notReady"], kept: false },
    { name: "not serving, and alone", endpoints: ["a notReady"], kept: false },
    { name: "gone", endpoints: ["b"], kept: false },
    { name: "gone as all others", endpoints: [], kept: false },
  ])("an endpoint that is $name: $kept", ({ endpoints, kept }) => {
    expect(world(endpoints).port.keepsFlowTo("a")).toBe(kept);
  });
});
