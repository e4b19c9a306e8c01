/** Objects die at each await of what deletes a namespace with a Service in it: the client's request, and the passes that empty it and let it go. */
import { env } from "cloudflare:test";
import { afterAll, beforeAll } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { controller } from "../../../durable-objects/peers/peers";
import type { Namespace, Pod } from "../../../src/api/meta/kubernetes";
import { definitions } from "../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import { addressesOf, service } from "../../support/objects/address-paths";
import { type ObjectCluster, storedIn } from "../../support/objects/object-cluster";
import { createIn, deleteFrom, storeStubOf } from "../../support/objects/store-stubs";
import { describeDeaths } from "../../support/objects/write-path";

const bindings = env as unknown as Env;
const NAMESPACE = "shop";
/** Stores that hold nothing of the namespace are asked alike: one stands for all of them. */
const ALIKE = [
  "configmaps",
  "endpoints",
  "events",
  "podtemplates",
  "resourcequotas",
  "secrets",
  "serviceaccounts",
  "rolebindings",
  "roles",
  "leases",
  "endpointslices",
];

const served = definitions as ResourceDefinition[];
const all = [...served];
beforeAll(() => void served.splice(0, all.length, ...all.filter(({ resource }) => !ALIKE.includes(resource))));
afterAll(() => void served.splice(0, served.length, ...all));

async function given(cluster: ObjectCluster): Promise<void> {
  await createIn(storeStubOf(cluster.name, "namespaces"), { metadata: { name: NAMESPACE } });
  // Only stores that are used are closed and emptied.
  const other: Pod = { metadata: { namespace: "default", name: "other" }, spec: { containers: [{ name: "c", image: "c" }] } };
  await createIn(storeStubOf(cluster.name, "pods"), other);
  await cluster.create("web", {}, NAMESPACE);
  if (addressesOf(await service(cluster)).length !== 1) throw new Error("the namespace has no Service with an address");
}

async function isGone(cluster: ObjectCluster): Promise<boolean> {
  const namespaces = await storedIn<Namespace>(storeStubOf(cluster.name, "namespaces"));
  return namespaces.every(({ metadata }) => metadata?.name !== NAMESPACE) && (await service(cluster)) === undefined;
}

describeDeaths([
  {
    name: "delete a namespace with a Service",
    controller: "namespaces",
    of: ["namespaces", "pods", "services", "controllers/namespaces"],
    given,
    ask: (cluster) => deleteFrom(storeStubOf(cluster.name, "namespaces"), "", NAMESPACE),
    done: isGone,
    nudge: (cluster) => controller(bindings, cluster.name, "namespaces").poke(),
    awaits: [
      "ResourceStore.write",
      "ResourceStore.get",
      "ResourceStore disk",
      "ResourceStore.closeNamespace",
      "ResourceStore.emptyNamespace",
      "ServicesStore.closeNamespace",
      "ServicesStore.emptyNamespace",
      "ServicesStore disk",
      "Controller.poke",
    ],
  },
]);
