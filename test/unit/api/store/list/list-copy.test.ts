import { describe, expect, it } from "vitest";
import { seal } from "../../../../../src/core/encoding/sealed-text";
import { LIST_COPY_AGE_MAX_MS, LIST_COPY_CHARS_MAX } from "../../../../../src/api/store/state/limits";
import type { KubeObject } from "../../../../../src/api/meta/kubernetes";
import { eventsDefinition, eventsGroupEventsDefinition } from "../../../../../src/api/registry/events/definition";
import { leasesDefinition } from "../../../../../src/api/registry/leases/definition";
import { secretsDefinition } from "../../../../../src/api/registry/secrets/definition";
import type { CollectionRequest } from "../../../../../src/api/rpc/store";
import { type ListBody, listOfCopy, listPage } from "../../../../../src/api/store/list/list-page";
import { namespaceRange } from "../../../../../src/api/store/state/keys";
import {
  isUsable,
  type ListCopy,
  listCopies,
  listCopyKey,
  mayComeFromCopy,
  openListCopy,
  storeName,
} from "../../../../../src/api/store/list/list-copy";
import type { Result } from "../../../../../src/core/base/result";
import type { Status } from "../../../../../src/api/meta/status";
import { readList, readStreamedList } from "../../../../support/values/list-body";
import { fakeDigest } from "../../../../support/sim/platform/fake-digest";
import { aLease, collectionRequest, StoreWorld } from "../../../../support/worlds/store-world";

const NAME = "default/leases.coordination.k8s.io";

async function bytesOf(world: StoreWorld): Promise<Uint8Array> {
  const bytes = await world.scheduler.run(listCopies(world.store, NAME, fakeDigest).take());
  if (!bytes) throw new Error("nothing was published");
  return bytes;
}

async function copyOf(world: StoreWorld): Promise<ListCopy> {
  const copy = await openListCopy(await bytesOf(world), NAME, fakeDigest);
  if (!copy) throw new Error("the copy cannot be opened");
  return copy;
}

/** Two namespaces, one of which is the beginning of the other's name, and labels. */
async function filled(): Promise<StoreWorld> {
  const world = new StoreWorld();
  for (const [namespace, name] of [
    ["ns", "b"],
    ["ns", "a"],
    ["ns-2", "c"],
    ["kube", "d"],
  ] as const) {
    await world.create(aLease(name, { holderIdentity: `ü ${name}` }, { namespace, labels: { app: name } }));
  }
  return world;
}

/** What a client is shown. */
function shown(list: Result<ListBody, Status>): unknown {
  return list.ok ? readList(list.value) : list.error;
}

describe("mayComeFromCopy", () => {
  const cases: [string, Partial<CollectionRequest>, boolean][] = [
    ["at resourceVersion 0", {}, true],
    ["with a limit", { limit: 500 }, true],
    ["of one namespace", { namespace: "ns" }, true],
    ["with a label selector", { labelSelector: "app=a" }, true],
    ["with a field selector", { fieldSelector: "metadata.namespace!=ns" }, true],
    ["of NotOlderThan 0", { resourceVersionMatch: "NotOlderThan" }, true],
    ["as a Table", { representation: { as: "table", includeObject: "Object", version: "v1" } }, true],
    ["of the newest version", { resourceVersion: "" }, false],
    ["of a version", { resourceVersion: "7" }, false],
    ["Exact", { resourceVersionMatch: "Exact" }, false],
    ["with a continue token", { continueToken: "x" }, false],
    ["with a name", { fieldSelector: "metadata.name=a" }, false],
    ["with a name among others", { fieldSelector: "metadata.namespace=ns,metadata.name==a" }, false],
    ["without a name", { fieldSelector: "metadata.name!=a" }, false],
    ["with a selector that cannot be read", { fieldSelector: "x" }, false],
    ["by a watch", { verb: "watch" }, false],
    ["deletecollection", { verb: "deletecollection" }, false],
  ];
  it.each(cases)("list %s (%j): from a copy %s", (_, overrides, expected) => {
    expect(mayComeFromCopy(collectionRequest(leasesDefinition, { resourceVersion: "0", ...overrides }), leasesDefinition)).toBe(expected);
  });

  it("list of Secrets: never from a copy", () => {
    expect(mayComeFromCopy(collectionRequest(secretsDefinition, { resourceVersion: "0" }), secretsDefinition)).toBe(false);
  });
});

describe("isUsable", () => {
  const now = 1_700_000_000_000;
  const copy = { format: 1 as const, name: NAME, incarnation: "i", revision: 10, takenAt: now - 5, rows: 0 };
  const seen = { incarnation: "i", floor: 5, at: now - 5 };
  const cases: [string, Partial<typeof copy>, Partial<typeof seen>, boolean][] = [
    ["fresh", {}, {}, true],
    ["of this moment", { takenAt: now }, { at: now }, true],
    ["60 s old", { takenAt: now - LIST_COPY_AGE_MAX_MS }, {}, true],
    ["older than 60 s", { takenAt: now - LIST_COPY_AGE_MAX_MS - 1 }, {}, false],
    ["from the future", { takenAt: now + 1 }, {}, false],
    ["with news of the store 60 s ago", {}, { at: now - LIST_COPY_AGE_MAX_MS }, true],
    ["with older news of the store", {}, { at: now - LIST_COPY_AGE_MAX_MS - 1 }, false],
    ["with news of the store from the future", {}, { at: now + 1 }, false],
    ["of another incarnation", { incarnation: "j" }, {}, false],
    ["at the floor of the history", { revision: 5 }, {}, true],
    ["below the floor", { revision: 4 }, {}, false],
  ];
  it.each(cases)("copy %s (copy %j, store %j): usable %s", (_, inCopy, inSeen, expected) => {
    expect(isUsable({ ...copy, ...inCopy }, { ...seen, ...inSeen }, now)).toBe(expected);
  });
});

describe("a copy", () => {
  it("a copy: has the name of its store, and its rows by namespace", async () => {
    const world = await filled();
    const copy = await copyOf(world);
    expect(listCopyKey(storeName("default", leasesDefinition))).toBe(`list/${NAME}`);
    expect(copy).toMatchObject({ name: NAME, incarnation: world.store.incarnation, revision: 5, takenAt: world.scheduler.now, rows: 4 });
    const keys = (namespace: string) => [...copy.rowsIn(namespaceRange(namespace))].map(({ key }) => key);
    expect(keys("")).toEqual(["kube/d", "ns-2/c", "ns/a", "ns/b"]);
    expect(keys("ns")).toEqual(["ns/a", "ns/b"]);
    expect(keys("none")).toEqual([]);
  });

  it("a copy of an empty store: is a copy, without rows", async () => {
    const copy = await copyOf(new StoreWorld());
    expect([copy.revision, [...copy.rowsIn(namespaceRange(""))]]).toEqual([1, []]);
  });

  const requests: [string, Partial<CollectionRequest>][] = [
    ["everything", {}],
    ["a namespace", { namespace: "ns" }],
    ["a limit", { limit: 1 }],
    ["labels", { labelSelector: "app in (a,c)" }],
    ["fields", { fieldSelector: "metadata.namespace!=ns" }],
    ["a Table", { representation: { as: "table", includeObject: "Metadata", version: "v1" } }],
    ["metadata", { representation: { as: "partial", version: "v1" }, labelSelector: "!nothing" }],
    ["an unknown field", { fieldSelector: "spec.x=1" }],
    ["unreadable labels", { labelSelector: "a==b==c" }],
  ];
  it.each(requests)("a list out of a copy is the store's own: %s", async (_, overrides) => {
    const world = await filled();
    const request = collectionRequest(leasesDefinition, { resourceVersion: "0", ...overrides });
    const fromCopy = listOfCopy(await copyOf(world), request, leasesDefinition, () => world.scheduler.now);
    expect(shown(fromCopy)).toEqual(shown(listPage(world.store, request, leasesDefinition)));
  });

  it.each(["json", "protobuf"] as const)("a large list out of a copy, in %s: comes in pieces, and is the store's own", async (encoding) => {
    const world = await filled();
    const copy = await copyOf(world);
    for (const namespace of ["", "ns"]) {
      const request = collectionRequest(leasesDefinition, { resourceVersion: "0", labelSelector: "app in (a,b,c)", namespace, encoding });
      const list = listOfCopy(copy, request, leasesDefinition, () => 0, { whole: 500, piece: 100 });
      if (!list.ok) throw new Error(list.error.message);
      expect(list.value.rest).toBeDefined();
      expect(await readStreamedList(list.value)).toEqual(shown(listPage(world.store, request, leasesDefinition)));
    }
  });

  it("a change of the store: the copy stays as it was", async () => {
    const world = await filled();
    const request = collectionRequest(leasesDefinition, { resourceVersion: "0" });
    const copy = await copyOf(world);
    const before = shown(listPage(world.store, request, leasesDefinition));
    await world.delete("a");
    expect(shown(listOfCopy(copy, request, leasesDefinition, () => 0))).toEqual(before);
  });

  it("a revision that is not durable: not published; a sync that fails: rejected", async () => {
    const world = await filled();
    world.storage.holdSync();
    let bytes: Uint8Array | undefined;
    const taken = listCopies(world.store, NAME, fakeDigest)
      .take()
      .then((value) => (bytes = value));
    await world.scheduler.pass(1_000);
    expect(bytes).toBeUndefined();
    world.storage.failSync();
    await expect(taken).rejects.toThrow("the disk is gone");
    expect(bytes).toBeUndefined();
  });

  it("a store beyond the bound: no copy is made, whatever KV would take", async () => {
    const world = new StoreWorld();
    const pad = "x".repeat(1_000_000);
    for (let at = 0; at * pad.length <= LIST_COPY_CHARS_MAX; at++) {
      world.storage.objectPut({ key: `ns/a${at}`, uid: "", revision: 1, data: `{"pad":"${pad}"}` });
    }
    expect(await listCopies(world.store, NAME, fakeDigest).take()).toBeUndefined();
  });

  const damages: [string, (bytes: Uint8Array) => Uint8Array][] = [
    ["nothing", () => new Uint8Array()],
    ["its digest alone", (bytes) => bytes.slice(0, 64)],
    ["its end missing", (bytes) => bytes.slice(0, -1)],
    ["one bit", (bytes) => bytes.map((byte, at) => (at === bytes.length - 3 ? byte ^ 1 : byte))],
    ["another text", () => new TextEncoder().encode('{"items":[]}'.repeat(20))],
  ];
  it.each(damages)("a damaged copy counts as none: %s", async (_, damage) => {
    expect(await openListCopy(damage(await bytesOf(await filled())), NAME, fakeDigest)).toBeUndefined();
  });

  const HEAD = { format: 1, name: NAME, incarnation: "i", revision: 3, takenAt: 0, rows: 0 };
  it.each([
    ["as it should be", JSON.stringify(HEAD), true],
    ["of a later format", JSON.stringify({ ...HEAD, format: 2 }), false],
    ["of another store", JSON.stringify({ ...HEAD, name: "other/leases.coordination.k8s.io" }), false],
    ["with another number of rows", JSON.stringify({ ...HEAD, rows: 1 }), false],
    ["that is no JSON", "{", false],
    ["that is null", "null", false],
  ])("a copy with a right digest and a head %s: read only with a right head", async (_, head, expected) => {
    expect((await openListCopy(await seal(head, fakeDigest), NAME, fakeDigest)) !== undefined).toBe(expected);
  });

  it("the other representation of its kind: the list of the store", async () => {
    const world = new StoreWorld({ definition: eventsDefinition, representations: [eventsGroupEventsDefinition] });
    await world.create({ metadata: { namespace: "ns", name: "a" }, involvedObject: { namespace: "ns" }, reason: "r" } as KubeObject);
    const name = storeName("c", eventsDefinition);
    const bytes = await world.scheduler.run(listCopies(world.store, name, fakeDigest).take());
    const copy = bytes && (await openListCopy(bytes, name, fakeDigest));
    if (!copy) throw new Error("there is no copy");
    for (const definition of [eventsDefinition, eventsGroupEventsDefinition]) {
      const request = collectionRequest(definition, { resourceVersion: "0", fieldSelector: "reason=r" });
      const answer = listOfCopy(copy, request, definition, () => 0);
      expect(shown(answer)).toEqual(shown(listPage(world.store, request, definition)));
      expect(answer).toMatchObject({ ok: true, value: { begun: { keys: ["ns/a"] } } });
    }
  });
});
