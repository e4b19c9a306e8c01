import { describe, expect, it } from "vitest";
import type { EndpointSlice, Service } from "../../../../src/api/meta/kubernetes";
import { MergedServices } from "../../../../src/endpoints/merge/merged-services";
import type { NodePlace } from "../../../../src/endpoints/merge/usable-endpoints";
import { type ProxyConfigPage, ProxyConfigs } from "../../../../src/endpoints/proxy-config/proxy-configs";
import { aService, aSlice, anEndpoint, type SliceEndpoint } from "../../../support/values/endpoint-objects";

const N1 = { name: "n1", zone: "z1" };
const N2 = { name: "n2", zone: "z2" };
const N3 = { name: "n3", zone: undefined };
const LOCAL = { internalTrafficPolicy: "Local" };

interface ShownService {
  name: string;
  ports: { cluster?: string[]; isServedSomewhere: boolean }[];
  local?: Record<string, string[]>;
  localReady?: number;
}

const read = (...pieces: readonly Uint8Array[]) =>
  JSON.parse(pieces.map((bytes) => new TextDecoder().decode(bytes)).join("")) as ShownService;
const readAll = (page: ProxyConfigPage) => page.services.map((pieces) => read(...pieces));

/** A page as short texts: `web 10.1.0.1:8080 | 10.1.0.2:8080` shows the lists of the policies Cluster and Local, `-web` a removal. */
function textsOf(page: ProxyConfigPage | undefined): string[] | undefined {
  if (!page) return undefined;
  const lists = readAll(page).map(({ name, ports: [port], local }) => {
    const here = local && ["|", ...(local["http/TCP"] ?? [])].join(" ");
    return [name, port?.cluster?.join(" "), here].filter((text) => text !== undefined && text !== "").join(" ");
  });
  return [...lists, ...page.removed.map((bytes) => `-${read(bytes).name}`)];
}

/** A cluster's pages. */
class World {
  readonly view = new MergedServices();
  readonly configs: ProxyConfigs;

  constructor(removalsMax?: number) {
    this.configs = new ProxyConfigs(removalsMax);
  }

  put(...objects: (Service | EndpointSlice)[]): void {
    for (const object of objects) {
      if ("addressType" in object) this.view.putSlice(object);
      else this.view.putService(object as Service);
    }
    this.configs.apply(this.view.sync());
  }

  delete(name: string): void {
    this.view.deleteService(aService(name));
    this.configs.apply(this.view.sync());
  }
}

const on = (node: string, ip: string, more: Partial<SliceEndpoint> = {}) => anEndpoint(ip, "ready", { nodeName: node, ...more });
const hinted = (ip: string, zone: string) => anEndpoint(ip, "ready", { hints: { forZones: [{ name: zone }] } });
const web = (...endpoints: SliceEndpoint[]) => aSlice("web-a", "web", endpoints);

describe("page of a node", () => {
  it("Service with everything: a data plane finds what it needs", () => {
    const world = new World();
    const spec = {
      type: "LoadBalancer",
      externalTrafficPolicy: "Local",
      healthCheckNodePort: 32000,
      sessionAffinity: "ClientIP",
      externalIPs: ["192.0.2.1"],
      loadBalancerSourceRanges: ["10.0.0.0/8"],
      ports: [{ name: "http", port: 80, nodePort: 30080, protocol: "TCP" }],
    };
    world.put(aService("web", spec, { ingress: [{ ip: "192.0.2.9" }] }), web(on("n1", "10.1.0.1"), on("n2", "10.1.0.2")));
    const page = world.configs.page(N1);
    expect(page && { ...page, services: readAll(page) }).toEqual({
      revision: 1,
      isFull: true,
      services: [
        {
          namespace: "default",
          name: "web",
          family: "IPv4",
          clusterIP: "10.96.0.5",
          externalIPs: ["192.0.2.1"],
          loadBalancerIPs: ["192.0.2.9"],
          loadBalancerSourceRanges: ["10.0.0.0/8"],
          affinitySeconds: 10_800,
          internalTrafficPolicy: "Cluster",
          externalTrafficPolicy: "Local",
          healthCheckNodePort: 32000,
          ports: [
            {
              name: "http",
              protocol: "TCP",
              port: 80,
              nodePort: 30080,
              cluster: ["10.1.0.1:8080", "10.1.0.2:8080"],
              isServedSomewhere: true,
            },
          ],
          local: { "http/TCP": ["10.1.0.1:8080"] },
          localReady: 1,
        },
      ],
      removed: [],
    });
  });

  it("ready endpoints on a port that the Service does not have: count for its check, on their node alone", () => {
    const world = new World();
    const spec = { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 32000 };
    const ready = (node: NodePlace) => readAll(world.configs.page(node) as ProxyConfigPage).map(({ localReady }) => localReady);
    world.put(aService("web", spec), web(on("n1", "10.1.0.1")));
    expect([ready(N1), ready(N2)]).toEqual([[1], [0]]);
    world.put(aSlice("web-b", "web", [on("n1", "10.1.0.1"), on("n2", "10.1.0.2")], { ports: [{ name: "other", port: 9 }] }));
    expect([ready(N1), ready(N2), ready(N3)]).toEqual([[1], [1], [0]]);
  });

  it("cluster without Services: an empty page, then nothing", () => {
    const { configs } = new World();
    const page = configs.page(N1);
    expect(page).toEqual({ revision: 0, isFull: true, services: [], removed: [] });
    expect(configs.page(N1, page?.revision)).toBeUndefined();
  });

  it("Service that no node is special for: all nodes share its bytes", () => {
    const world = new World();
    world.put(aService("web"), web(on("n1", "10.1.0.1"), on("n2", "10.1.0.2")));
    const [a = [], b = [], c = []] = [N1, N2, N3].map((node) => world.configs.page(node)?.services[0]);
    expect(a).toHaveLength(2);
    for (const [i, piece] of a.entries()) expect([b[i] === piece, c[i] === piece]).toEqual([true, true]);
  });

  it("hints by zone: the nodes of a zone share bytes, those of zones without hints too", () => {
    const world = new World();
    world.put(aService("web"), web(hinted("10.1.0.1", "z1"), hinted("10.1.0.2", "z2")));
    const bytes = (name: string, zone?: string) => world.configs.page({ name, zone })?.services[0]?.[0];
    expect(bytes("n1", "z1")).toBe(bytes("n9", "z1"));
    expect(bytes("n3")).toBe(bytes("n4", "z4"));
    expect([N1, N2, N3].map((node) => textsOf(world.configs.page(node)))).toEqual([
      ["web 10.1.0.1:8080"],
      ["web 10.1.0.2:8080"],
      ["web 10.1.0.1:8080 10.1.0.2:8080"],
    ]);
  });

  it("policy Local: nodes without an endpoint share bytes", () => {
    const world = new World();
    world.put(aService("web", LOCAL), web(on("n1", "10.1.0.1")));
    expect(textsOf(world.configs.page(N1))).toEqual(["web | 10.1.0.1:8080"]);
    expect(textsOf(world.configs.page(N2))).toEqual(["web |"]);
    const [n2, n3] = [N2, N3].map((node) => world.configs.page(node)?.services[0]);
    expect(n2?.[1]).toBe(n3?.[1]);
  });

  it("policies Cluster and Local in one Service: nodes share what is long, and have what is theirs", () => {
    const world = new World();
    const spec = { type: "NodePort", externalTrafficPolicy: "Local", ports: [{ name: "http", port: 80, nodePort: 30080 }] };
    world.put(aService("web", spec), web(on("n1", "10.1.0.1"), on("n2", "10.1.0.2")));
    expect([N1, N2].map((node) => textsOf(world.configs.page(node)))).toEqual([
      ["web 10.1.0.1:8080 10.1.0.2:8080 | 10.1.0.1:8080"],
      ["web 10.1.0.1:8080 10.1.0.2:8080 | 10.1.0.2:8080"],
    ]);
    const [n1, n2] = [N1, N2].map((node) => world.configs.page(node)?.services[0]);
    expect(n1?.[0]).toBe(n2?.[0]);
  });

  it("hints by node that not every ready endpoint has: nodes share bytes", () => {
    const world = new World();
    world.put(aService("web"), web(anEndpoint("10.1.0.1", "ready", { hints: { forNodes: [{ name: "n1" }] } }), anEndpoint("10.1.0.2")));
    expect(textsOf(world.configs.page(N1))).toEqual(["web 10.1.0.1:8080 10.1.0.2:8080"]);
    const [n1, n2] = [N1, N2].map((node) => world.configs.page(node)?.services[0]);
    expect(n1?.[0]).toBe(n2?.[0]);
  });
});

describe("page since a revision", () => {
  it("changes and removals: those alone", () => {
    const world = new World();
    world.put(aService("web"), aService("api"), aService("old"), web(anEndpoint("10.1.0.1")));
    const first = world.configs.page(N1);
    expect(textsOf(first)).toEqual(["web 10.1.0.1:8080", "api", "old"]);
    world.put(web(anEndpoint("10.1.0.1"), anEndpoint("10.1.0.2")));
    world.delete("old");
    const second = world.configs.page(N1, first?.revision);
    expect(second?.isFull).toBe(false);
    expect(textsOf(second)).toEqual(["web 10.1.0.1:8080 10.1.0.2:8080", "-old"]);
    expect(world.configs.page(N1, second?.revision)).toBeUndefined();
    expect(world.configs.page(N1)?.revision).toBe(second?.revision);
  });

  it("change that only other nodes see: nothing, and the revision stays", () => {
    const world = new World();
    world.put(aService("web", LOCAL), web(on("n1", "10.1.0.1"), on("n2", "10.1.0.2")));
    const [a, b] = [world.configs.page(N1), world.configs.page(N2)];
    world.put(web(on("n1", "10.1.0.1"), on("n2", "10.1.0.3")));
    expect(world.configs.page(N1, a?.revision)).toBeUndefined();
    expect(world.configs.page(N1)?.revision).toBe(a?.revision);
    expect(textsOf(world.configs.page(N2, b?.revision))).toEqual(["web | 10.1.0.3:8080"]);
  });

  it("endpoint of a node that goes and comes again: the node hears of both", () => {
    const world = new World();
    world.put(aService("web", LOCAL), web(on("n1", "10.1.0.1"), on("n2", "10.1.0.2")));
    const first = world.configs.page(N1);
    world.put(web(on("n2", "10.1.0.2")));
    const second = world.configs.page(N1, first?.revision);
    expect(textsOf(second)).toEqual(["web |"]);
    world.put(web(on("n1", "10.1.0.1"), on("n2", "10.1.0.2")));
    expect(textsOf(world.configs.page(N1, second?.revision))).toEqual(["web | 10.1.0.1:8080"]);
  });

  it("Service removed and made again meanwhile: as it is now", () => {
    const world = new World();
    world.put(aService("web"));
    const first = world.configs.page(N1);
    world.delete("web");
    world.put(aService("web"));
    expect(textsOf(world.configs.page(N1, first?.revision))).toEqual(["web"]);
  });

  it("removals more than are remembered: a full page for who missed one, changes for who did not", () => {
    const world = new World(1);
    world.put(...["a", "b", "c"].map((name) => aService(name)));
    const first = world.configs.page(N1);
    world.delete("a");
    const second = world.configs.page(N1, first?.revision);
    expect(textsOf(second)).toEqual(["-a"]);
    world.delete("b");
    expect(textsOf(world.configs.page(N1, second?.revision))).toEqual(["-b"]);
    expect(world.configs.page(N1, first?.revision)).toMatchObject({ isFull: true, removed: [] });
  });

  it("revision of the future: a full page", () => {
    const world = new World();
    world.put(aService("web"));
    expect(world.configs.page(N1, 9)).toMatchObject({ revision: 1, isFull: true });
  });
});

it("hundreds of nodes come and go behind one Service: the names that are gone are forgotten, and every node is told", () => {
  const world = new World();
  const holding = (node: number) => web(on(`n${node}`, "10.1.0.1"));
  world.put(aService("web", LOCAL), holding(0));
  let revision = world.configs.page(N1)?.revision;
  for (let node = 2; node < 300; node++) {
    world.put(holding(node));
    const page = world.configs.page(N1, revision);
    if (page) expect(textsOf(page)).toEqual(["web |"]);
    revision = page?.revision ?? revision;
  }
  world.put(holding(1));
  expect(textsOf(world.configs.page(N1, revision))).toEqual(["web | 10.1.0.1:8080"]);
});

it("a Service that changed thousands of times: is told once, and what changed before it is not forgotten", () => {
  const world = new World();
  world.put(aService("web"), web(on("n1", "10.1.0.1")));
  const revision = world.configs.page(N1)?.revision;
  world.put(aService("api"));
  for (let i = 0; i < 3_000; i++) world.put(web(on("n1", `10.1.0.${(i % 2) + 2}`)));
  expect(textsOf(world.configs.page(N1, revision))).toEqual(["api", "web 10.1.0.3:8080"]);
});
