import { afterEach, describe, expect, it, vi } from "vitest";
import { applyConfiguration } from "../../../../src/api/fields/apply";
import { createdFields } from "../../../../src/api/fields/created-fields";
import { mergeObjects } from "../../../../src/api/fields/merge";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import { ServiceSchema } from "../../../../src/api/schema/kinds/core-services";

const context = { schema: ServiceSchema, apiVersion: "v1", kind: "Service", subresource: "", hasStatus: true, nowMs: 0 };

/** Out of order, so that sorting has work. */
function scrambled<T>(n: number, itemAt: (i: number) => T): T[] {
  return Array.from({ length: n }, (_, i) => itemAt((i * 7919) % n));
}

const objects = {
  "a set": (n: number) => ({ metadata: { name: "a", finalizers: scrambled(n, (i) => `example.com/${i}`) } }),
  "a keyed list": (n: number) => ({ metadata: { name: "a" }, spec: { ports: scrambled(n, (i) => ({ port: i + 1, protocol: "TCP" })) } }),
};

/** The number of texts that `work` parses. */
function parsesOf(work: () => unknown): number {
  const parsing = vi.spyOn(JSON, "parse");
  work();
  const { length } = parsing.mock.calls;
  parsing.mockRestore();
  return length;
}

afterEach(() => vi.restoreAllMocks());

describe.each(Object.entries(objects))("%s of many items", (_, objectOf) => {
  it("create: parses the key of each item at most once", () => {
    for (const n of [100, 1_000, 10_000]) expect(parsesOf(() => createdFields(objectOf(n), context))).toBeLessThanOrEqual(n);
  });

  it("apply: parses the key of each item a few times, for any number of items", () => {
    const perItem = [500, 1_000, 4_000].map((n) => {
      const apply = (manager: string, live?: KubeObject) =>
        applyConfiguration({ ...context, live, config: { apiVersion: "v1", kind: "Service", ...objectOf(n) }, manager, force: false });
      const first = apply("m");
      if (!first.ok) throw new Error(first.error.message);
      const { object, managedFields } = first.value;
      const live = { ...object, metadata: { ...object.metadata, managedFields } } as KubeObject;
      return parsesOf(() => apply("m", live)) / n;
    });
    for (const parses of perItem) expect(parses).toBeLessThanOrEqual(4);
  });

  it("a conflict over all items: counts them, names as many in order as a Status holds, and parses each a few times", () => {
    const n = 2_000;
    const owner = applyConfiguration({
      ...context,
      live: undefined,
      config: { apiVersion: "v1", kind: "Service", ...portsTo(n, 1) },
      manager: "m",
      force: false,
    });
    if (!owner.ok) throw new Error(owner.error.message);
    const { object, managedFields } = owner.value;
    const live = { ...object, metadata: { ...object.metadata, managedFields } } as KubeObject;
    let fields: (string | undefined)[] = [];
    let message: string | undefined;
    const parses = parsesOf(() => {
      const config = { apiVersion: "v1", kind: "Service", ...portsTo(n, 2) };
      const refused = applyConfiguration({ ...context, live, config, manager: "other", force: false });
      if (refused.ok) return;
      fields = refused.error.details?.causes?.map(({ field }) => field) ?? [];
      message = refused.error.message;
    });
    expect(message).toMatch(/^Apply failed with 2000 conflicts: /);
    expect(fields.length).toBeGreaterThanOrEqual(100);
    expect(fields).toEqual(Array.from({ length: fields.length }, (_, i) => `.spec.ports[port=${i + 1},protocol="TCP"].targetPort`));
    expect(parses).toBeLessThanOrEqual(6 * n);
  });
});

function portsTo(n: number, targetPort: number) {
  return { metadata: { name: "a" }, spec: { ports: scrambled(n, (i) => ({ port: i + 1, protocol: "TCP", targetPort })) } };
}

it("merge: takes each item once and moves no other", () => {
  const live = objects["a set"](5_000);
  const shifts = vi.spyOn(Array.prototype, "shift");
  const merged = mergeObjects(live, { metadata: { finalizers: [...live.metadata.finalizers].reverse() } }, ServiceSchema);
  const moved = shifts.mock.calls.length;
  shifts.mockRestore();
  expect(moved).toBe(0);
  expect(merged.metadata).toMatchObject({ finalizers: [...live.metadata.finalizers].reverse() });
});
