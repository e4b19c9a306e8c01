/** Objects die at each await of what stores do alone: Leases and EndpointSlices. */
import type { EndpointSlice, KubeObject, Lease } from "../../../src/api/meta/kubernetes";
import type { WriteResult } from "../../../src/api/rpc/store";
import { type ObjectCluster, storedIn } from "../../support/objects/object-cluster";
import { mergePatch, storeStubOf } from "../../support/objects/store-stubs";
import { aLease, createRequest, DELETE, WRITE } from "../../support/worlds/store-world";
import { describeDeaths, type WritePath } from "../../support/objects/write-path";

const LEASES = "leases.coordination.k8s.io";
const SLICES = "endpointslices.discovery.k8s.io";
const STORING = ["ResourceStore.write", "ResourceStore disk"];
const FIRST = "2026-01-01T00:00:00.000000Z";
const SECOND = "2026-01-01T00:00:10.000000Z";

const store = (cluster: ObjectCluster, qualified: string) => storeStubOf(cluster.name, qualified);

async function find<T extends KubeObject>(cluster: ObjectCluster, qualified: string, name: string): Promise<T | undefined> {
  return (await storedIn<T>(store(cluster, qualified))).find(({ metadata }) => metadata?.name === name);
}

/** The stored object is the one that the client was told of, revision and all. */
function isAsTold(object: KubeObject | undefined, answer: unknown): boolean {
  const result = answer as WriteResult | undefined;
  return object !== undefined && (!result?.ok || JSON.stringify(object) === JSON.stringify(JSON.parse(result.object)));
}

function create(cluster: ObjectCluster, qualified: string, object: KubeObject): Promise<WriteResult> {
  const group = qualified.slice(qualified.indexOf(".") + 1);
  return store(cluster, qualified).write(createRequest(object, { ...WRITE, group: qualified.includes(".") ? group : "" }));
}

function remove(cluster: ObjectCluster, qualified: string, namespace: string, name: string): Promise<WriteResult> {
  return store(cluster, qualified).write({ verb: "delete", key: { namespace, name }, options: DELETE });
}

const lease = (namespace = "default") => aLease("held", { holderIdentity: "me", renewTime: FIRST } as Lease["spec"], { namespace });

const slice = (metadata: EndpointSlice["metadata"] = {}) =>
  ({
    metadata: { name: "web-1", namespace: "default", labels: { "kubernetes.io/service-name": "web" }, ...metadata },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.1.0.1"] }],
    ports: [{ name: "http", port: 80, protocol: "TCP" }],
  }) as EndpointSlice;

const PATHS: readonly WritePath[] = [
  {
    name: "create a Lease",
    ask: (cluster) => create(cluster, LEASES, lease()),
    done: async (cluster, answer) => isAsTold(await find(cluster, LEASES, "held"), answer),
    awaits: STORING,
  },
  {
    name: "renew a Lease",
    given: (cluster) => create(cluster, LEASES, lease()),
    ask: (cluster) => store(cluster, LEASES).write(mergePatch("default", "held", { spec: { renewTime: SECOND } })),
    async done(cluster, answer) {
      const found = await find<Lease>(cluster, LEASES, "held");
      return found?.spec?.renewTime === SECOND && isAsTold(found, answer);
    },
    awaits: STORING,
  },
  {
    name: "delete a Lease",
    given: (cluster) => create(cluster, LEASES, lease()),
    ask: (cluster) => remove(cluster, LEASES, "default", "held"),
    done: async (cluster) => (await find(cluster, LEASES, "held")) === undefined,
    awaits: STORING,
  },
  {
    name: "create an EndpointSlice",
    ask: (cluster) => create(cluster, SLICES, slice()),
    done: async (cluster, answer) => isAsTold(await find(cluster, SLICES, "web-1"), answer),
    awaits: STORING,
  },
  {
    name: "reconcile an EndpointSlice",
    given: (cluster) => create(cluster, SLICES, slice()),
    ask(cluster) {
      const endpoints = [{ addresses: ["10.1.0.1"] }, { addresses: ["10.1.0.2"], conditions: { ready: false } }];
      const object = JSON.stringify({ ...slice(), endpoints });
      const key = { namespace: "default", name: "web-1" };
      return store(cluster, SLICES).write({
        verb: "update",
        key,
        subresource: "",
        object,
        options: { ...WRITE, group: "discovery.k8s.io" },
      });
    },
    async done(cluster, answer) {
      const found = await find<EndpointSlice>(cluster, SLICES, "web-1");
      return found?.endpoints.length === 2 && isAsTold(found, answer);
    },
    awaits: STORING,
  },
];

describeDeaths(PATHS);
