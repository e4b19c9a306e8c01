import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import type { ResourceStore } from "../../../durable-objects/resource-store";
import { collect, createIn, freshCluster, mergePatch, storeStubOf } from "../../support/objects/store-stubs";
import { aLease } from "../../support/worlds/store-world";
import { seededRandom } from "../../support/sim/platform/seeded-random";
import { SEED } from "../../support/sim/platform/seeds";

const SECONDS = 60;
const WRITES_PER_SECOND = 200;
const OBJECTS = 100;
/** characters of a Service with its managedFields */
const OBJECT_CHARS = 1_500;
const seed = SEED || 20_261_121;

it(`a client away for 60 s at 200 writes/s (seed ${seed}): continues without a list`, async () => {
  const random = seededRandom(seed);
  const stub = storeStubOf(freshCluster(), "leases.coordination.k8s.io");
  await Promise.all(
    Array.from({ length: OBJECTS }, (_, i) =>
      createIn(stub, aLease(`a${i}`, {}, { namespace: "default", annotations: { pad: "x".repeat(OBJECT_CHARS) } })),
    ),
  );
  const { revision: left } = await stub.counters();
  // The client has watched until now: renewals that nobody reads have no history on the disk (rule 33).
  const watch = { verb: "watch", resourceVersion: String(left), timeoutSeconds: 1 } as const;
  await (await collect(stub, "coordination.k8s.io", "leases", watch)).text();
  const wanted: string[] = [];
  await runInDurableObject(stub, async (store: ResourceStore) => {
    for (let second = 0; second < SECONDS; second++) {
      const names = Array.from({ length: WRITES_PER_SECOND }, () => `a${random.below(OBJECTS)}`);
      wanted.push(...names);
      const written = await Promise.all(
        names.map((name, i) => store.write(mergePatch("default", name, { spec: { holderIdentity: `${second}-${i}` } }))),
      );
      expect(written.every(({ ok }) => ok)).toBe(true);
    }
    await store.compact();
  });
  const response = await collect(stub, "coordination.k8s.io", "leases", watch);
  expect(response.status).toBe(200);
  const lines = (await response.text()).trimEnd().split("\n");
  const seen = lines.map((line) => {
    const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name: string; resourceVersion: string } } };
    return { type, name: object.metadata.name, revision: Number(object.metadata.resourceVersion) };
  });
  expect(seen.filter(({ type }) => type !== "MODIFIED")).toEqual([]);
  expect(seen.map(({ name }) => name)).toEqual(wanted);
  expect(seen.map(({ revision }) => revision)).toEqual(wanted.map((_, i) => left + 1 + i));
}, 60_000);
