/** Every stub of a cluster's object says where the cluster is, whoever makes it. */
import { describe, expect, it } from "vitest";
import { controllerPeers } from "../../../durable-objects/peers/controller-peers";
import * as peers from "../../../durable-objects/peers/peers";
import type { Env } from "../../../durable-objects/platform/env";
import { CONTROLLERS } from "../../../durable-objects/platform/controllers";
import { storedDefinitions } from "../../../src/api/registry/all";
import { clusterId, lifeIn } from "../../../src/tenancy/cluster-id";
import { clusterObjects } from "../../../src/tenancy/cluster-objects";
import { clusterShardOf } from "../../../src/tenancy/shards";
import { type Location, LOCATIONS } from "../../../src/core/config/location";
import { fakeEnv } from "../../unit/worker/fake-env";

const BINDINGS = [
  "COORDINATOR",
  "SERVICE_CIDR",
  "RESOURCE_STORE",
  "SERVICES_STORE",
  "IP_ADDRESSES_STORE",
  "CONTROLLER",
  "PROXY_VIEW",
  "NODE_PROXY",
  "CLUSTER_RECORD",
  "CLUSTER_NAMES",
  "CREDENTIAL_STORE",
] as const satisfies readonly (keyof Env)[];

/** Objects that keep the options of each stub. */
function listening() {
  const made: { object: string; hint: string | undefined }[] = [];
  const stub = new Proxy({}, { get: (_, member) => (member === "then" ? undefined : () => Promise.resolve([])) });
  const namespace = (binding: string) => ({
    idFromName: (name: string) => name,
    get: (id: string, options?: { locationHint?: string }) => {
      made.push({ object: `${binding} ${id}`, hint: options?.locationHint });
      return stub;
    },
  });
  const namespaces = Object.fromEntries(BINDINGS.map((binding) => [binding, namespace(binding)]));
  return { made, env: fakeEnv({}, namespaces as unknown as Partial<Env>).env };
}

type Made = Record<keyof typeof peers, (env: Env, id: string, location: Location | undefined) => unknown>;

const PODS = { group: "", resource: "pods" };
/** Each function that makes stubs. */
const OF_CLUSTER: Omit<Made, "clusterNames" | "clusterShard" | "shardStub" | "bearerTokens"> = {
  storeStub: (env, id) => storedDefinitions.map((definition) => peers.storeStub(env, id, definition)),
  allStores: (env, id) => peers.allStores(env, id).map(({ store }) => store()),
  servicesStore: peers.servicesStore,
  namespacesStore: peers.namespacesStore,
  resourceQuotasStore: peers.resourceQuotasStore,
  policyStore: peers.policyStore,
  poolBook: peers.poolBook,
  eventsStore: peers.eventsStore,
  leasesStore: peers.leasesStore,
  ipAddressesStore: peers.ipAddressesStore,
  coordinator: peers.coordinator,
  owner: (env, id) => peers.owner(env, id, "12345678-1234-1234-1234-123456789012"),
  controller: (env, id) => CONTROLLERS.names.map((name) => peers.controller(env, id, name)),
  repairStub: peers.repairStub,
  proxyView: peers.proxyView,
  nodeProxy: (env, id) => peers.nodeProxy(env, id, "n1"),
  nodeProxyShard: (env, id) => peers.nodeProxyShard(env, id, 3),
  proxyHealthStub: peers.proxyHealthStub,
  storesFetch: (env, id) => peers.storesFetch(env, id)("/api/v1/pods", { signal: AbortSignal.abort() }),
  slicesStub: (env, id) => peers.slicesStub(env, id, "endpointslice-controller"),
  clusterRecord: (env, _, location) => peers.clusterRecord(env, "blue", location),
  signingKeys: peers.signingKeys,
  recordedObject: (env, id) =>
    [...clusterObjects(CONTROLLERS.names), { kind: "owner", name: "u" } as const].map((object) => peers.recordedObject(env, id, object)),
};

/** What a controller calls. */
function calledByControllers(env: Env, id: string): void {
  const called = controllerPeers(env, id, () => [...CONTROLLERS.names]);
  called.others();
  for (const { store } of called.stores()) store();
  for (const name of ["controllers/namespaces", "services", "pods"]) void called.visit(name);
  called.quotas();
  called.namespaces();
  called.storeOf(storedDefinitions[0] as never);
  called.services();
  called.ipAddresses();
  called.coordinator();
  called.events();
  called.leases();
  called.owner("u");
  called.nodeProxy(1);
}

describe.each([...LOCATIONS, undefined])("a cluster in %s", (location) => {
  const id = clusterId("blue", lifeIn(location, 1));

  it.each(Object.entries(OF_CLUSTER))("%s: says so", async (_, make) => {
    const { made, env } = listening();
    await Promise.resolve(make(env, id, location)).catch(() => undefined);
    expect(made.length).toBeGreaterThan(0);
    expect(made.filter(({ hint }) => hint !== location)).toEqual([]);
    // A stub that is made again is made from what is kept of the first one.
    await Promise.resolve(make(env, id, location)).catch(() => undefined);
    expect(made.filter(({ hint }) => hint !== location)).toEqual([]);
  });

  it("the peers of its controllers: say so", () => {
    const { made, env } = listening();
    calledByControllers(env, id);
    expect(made.length).toBeGreaterThan(storedDefinitions.length);
    expect(made.filter(({ hint }) => hint !== location)).toEqual([]);
  });
});

describe("stubs", () => {
  it("of what belongs to the deployment: are where they are first asked for", () => {
    const { made, env } = listening();
    peers.clusterNames(env);
    peers.clusterShard(env, "blue~3000000001");
    peers.shardStub(env, 7);
    peers.bearerTokens(env);
    expect(made).toEqual([
      { object: "CLUSTER_NAMES clusters", hint: undefined },
      { object: `CLUSTER_NAMES shards/${String(clusterShardOf("blue~3000000001"))}`, hint: undefined },
      { object: "CLUSTER_NAMES shards/7", hint: undefined },
      { object: "CREDENTIAL_STORE credentials", hint: undefined },
    ]);
  });

  it("of two clusters of one isolate: each says its own place", () => {
    const { made, env } = listening();
    for (const [name, location] of [
      ["a", "weur"],
      ["b", "oc"],
      ["a", "weur"],
    ] as const)
      peers.storeStub(env, clusterId(name, lifeIn(location, 2)), PODS);
    expect(made.map(({ hint }) => hint)).toEqual(["weur", "oc", "weur"]);
  });

  it("every function that makes stubs is part of this test", () => {
    expect(Object.keys(peers).sort()).toEqual(
      [...Object.keys(OF_CLUSTER), "bearerTokens", "clusterNames", "clusterShard", "shardStub"].sort(),
    );
  });
});
