/** Short calls to real store objects. */
import { env } from "cloudflare:test";
import { expect } from "vitest";
import type { Controller } from "../../../durable-objects/controller";
import type { ResourceStore } from "../../../durable-objects/resource-store";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { definitionOf } from "../../../src/api/registry/all";
import type { CollectionRequest, WriteRequest, WriteResult } from "../../../src/api/rpc/store";
import { COLLECTION_HEADER, encodeCollection } from "../../../src/api/store/list/collection-header";
import { collectionRequest, createRequest, DELETE, WRITE } from "../worlds/store-world";

const bindings = env as unknown as {
  RESOURCE_STORE: DurableObjectNamespace<ResourceStore>;
  CONTROLLER: DurableObjectNamespace<Controller>;
};

interface Owner {
  path: string | undefined;
  test: string | undefined;
}

let clusters = 0;
const owners = new Map<string, Owner>();
const currentOwner = (): Owner => ({ path: expect.getState().testPath, test: expect.getState().currentTestName });

/** A cluster name that no other test uses. */
export function freshCluster(begin = "store-test"): string {
  const name = `${begin}-${++clusters}`;
  owners.set(name, currentOwner());
  return name;
}

/** Whether the object of this name is one of a cluster that another test made: objects outlive their tests, and go on with late work. */
export function isOfOtherTest(object: string): boolean {
  const owner = owners.get(/^[^/~]*/.exec(object)?.[0] ?? "");
  const { path, test } = currentOwner();
  // Who made it for all tests of a file has no test.
  return owner !== undefined && (owner.path !== path || (owner.test !== undefined && owner.test !== test));
}

export type StoreStub = DurableObjectStub<ResourceStore>;

/** `qualified` = `leases.coordination.k8s.io`, `namespaces`. A stub is dead after a throw and after an abort: ask again. */
export function storeStubOf(cluster: string, qualified: string): StoreStub {
  return bindings.RESOURCE_STORE.getByName(`${cluster}/${qualified}`);
}

export function namespaceController(cluster: string): DurableObjectStub<Controller> {
  return bindings.CONTROLLER.getByName(`${cluster}/controllers/namespaces`);
}

export async function createIn(stub: StoreStub, object: KubeObject): Promise<WriteResult> {
  return stub.write(createRequest(object));
}

export async function deleteFrom(stub: StoreStub, namespace: string, name: string): Promise<WriteResult> {
  return stub.write({ verb: "delete", key: { namespace, name }, options: DELETE });
}

export function mergePatch(namespace: string, name: string, patch: unknown): WriteRequest {
  const options = { ...WRITE, group: namespace === "" ? "" : WRITE.group };
  return { verb: "patch", key: { namespace, name }, subresource: "", patchType: "merge", patch: JSON.stringify(patch), options };
}

export async function storedIn<T extends KubeObject>(stub: StoreStub, namespace: string, name: string): Promise<T | undefined> {
  const found = await stub.get({ namespace, name }, "");
  return found.ok ? (JSON.parse(found.object) as T) : undefined;
}

/** A list, watch or deletecollection as the Worker sends it. */
export function collect(stub: StoreStub, group: string, resource: string, overrides: Partial<CollectionRequest> = {}): Promise<Response> {
  const definition = definitionOf(group, resource);
  if (!definition) throw new Error(`no resource ${resource}`);
  const request = collectionRequest(definition, overrides);
  return stub.fetch("http://store/collection", { headers: { [COLLECTION_HEADER]: encodeCollection(request) } });
}
