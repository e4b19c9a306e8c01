import { describe, expect, it } from "vitest";
import { applyConfiguration } from "../../../../src/api/fields/apply";
import { compareObjects } from "../../../../src/api/fields/compare";
import { fieldSetOf, tracked } from "../../../../src/api/fields/field-set-of";
import { decodeManagedFields, type ManagedFieldsEntry } from "../../../../src/api/fields/managed-fields";
import { pathText } from "../../../../src/api/fields/path-element";
import { PathSet } from "../../../../src/api/fields/path-set";
import { trackUpdate } from "../../../../src/api/fields/update";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import type { JsonObject } from "../../../../src/api/schema/json/json-value";
import { definitions } from "../../../../src/api/registry/all";
import { ServiceSchema } from "../../../../src/api/schema/kinds/core-services";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { RandomValues } from "../schema/random-values";
import { ApplyModel, fieldsOfService, randomConfig, type ServiceLike } from "./apply-model";

const SEED = 41;
const T0 = Date.UTC(2026, 0, 1);
const context = { schema: ServiceSchema, apiVersion: "v1", kind: "Service", subresource: "", hasStatus: true };

const asConfig = (config: ServiceLike): JsonObject => ({ apiVersion: "v1", kind: "Service", ...config }) as unknown as JsonObject;
const asJson = (object: KubeObject | undefined): JsonObject => (object ?? {}) as unknown as JsonObject;

function withEntries(object: KubeObject, managedFields: ManagedFieldsEntry[] | undefined): KubeObject {
  const { managedFields: _old, ...metadata } = object.metadata ?? {};
  return { ...object, metadata: { ...metadata, ...(managedFields ? { managedFields } : {}) } };
}

function ownedBy(object: KubeObject | undefined, manager: string): string[] {
  const managers = decodeManagedFields(object?.metadata?.managedFields);
  const paths = [...(managers?.values() ?? [])].filter((entry) => entry.manager === manager).flatMap((entry) => [...entry.fields.paths()]);
  return paths.map(pathText).sort();
}

describe(`applies of three managers in any order (seed ${SEED})`, () => {
  it("result and owners: those of the model", () => {
    const random = seededRandom(SEED);
    const seen = { conflicts: 0, forced: 0, removed: 0, shared: 0 };
    for (let history = 0; history < 120; history++) {
      const model = new ApplyModel();
      let live: KubeObject | undefined;
      for (let step = 0; step < 12; step++) {
        const manager = ["a", "b", "c"][random.below(3)] ?? "a";
        const force = random.next() < 0.4;
        const config = randomConfig(random);
        const frozen = JSON.stringify([live, config]);
        const sizeBefore = model.values.size;
        const conflicts = model.apply(manager, fieldsOfService(config), force);
        const result = applyConfiguration({ ...context, live, config: asConfig(config), manager, force, nowMs: T0 + step * 1000 });
        const where = `seed ${SEED}, history ${history}, step ${step}`;
        expect(JSON.stringify([live, config]), where).toBe(frozen);
        if (!result.ok) {
          const causes = result.error.details?.causes ?? [];
          expect(causes.map(({ message, field }) => `${/"(.*)"/.exec(message ?? "")?.[1]} ${field}`).sort(), where).toEqual(conflicts);
          seen.conflicts++;
          continue;
        }
        expect(conflicts, where).toEqual([]);
        live = withEntries(result.value.object, result.value.managedFields);
        expect(sortedEntries(fieldsOfService(live as ServiceLike)), where).toEqual(sortedEntries(model.values));
        for (const name of ["a", "b", "c"]) expect(ownedBy(live, name), where).toEqual(model.ownedBy(name));
        if (force) seen.forced++;
        if (model.values.size < sizeBefore) seen.removed++;
        if ([...model.owners.values()].some((owners) => owners.size > 1)) seen.shared++;

        const again = applyConfiguration({ ...context, live, config: asConfig(config), manager, force: false, nowMs: T0 + 99_000 });
        expect(again.ok && withEntries(again.value.object, again.value.managedFields), where).toEqual(live);
      }
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(100);
  });
});

const CONTAINERS = new Set([
  ".metadata.labels",
  ".metadata.finalizers",
  ".spec.ports",
  ".spec.sessionAffinityConfig",
  ".spec.sessionAffinityConfig.clientIP",
]);

const sortedEntries = (fields: Map<string, string>): [string, string][] => [...fields].sort(([a], [b]) => (a < b ? -1 : 1));

describe(`applies and updates in any order (seed ${SEED})`, () => {
  it("owners: each present field has one, no absent field has one", () => {
    const random = seededRandom(SEED);
    for (let history = 0; history < 80; history++) {
      let live: KubeObject | undefined;
      for (let step = 0; step < 14; step++) {
        const manager = `m${random.below(4)}`;
        const config = randomConfig(random);
        const nowMs = T0 + step * 1000;
        if (random.next() < 0.5) {
          const result = applyConfiguration({ ...context, live, config: asConfig(config), manager, force: true, nowMs });
          if (!result.ok) throw new Error(result.error.message);
          live = withEntries(result.value.object, result.value.managedFields);
        } else {
          const after = withEntries({ ...config, metadata: { ...config.metadata, uid: "u" } } as KubeObject, live?.metadata?.managedFields);
          live = withEntries(after, trackUpdate({ ...context, before: live, after, manager, nowMs }));
        }
        const where = `seed ${SEED}, history ${history}, step ${step}`;
        const managers = [...(decodeManagedFields(live.metadata?.managedFields)?.values() ?? [])];
        const all = managers.reduce((union, entry) => union.union(entry.fields), new PathSet());
        const present = tracked(fieldSetOf(asJson(live), ServiceSchema));
        if (managers.length > 0) expect([...present.difference(all).paths()].map(pathText), where).toEqual([]);
        const known = compareObjects({}, asJson(live), ServiceSchema);
        const everything = known ? present.union(known.added).union(known.modified) : present;
        const stale = [...all.difference(everything).paths()].map(pathText);
        // as upstream: a list, map or struct that another manager's apply emptied keeps its owner
        expect(
          stale.filter((path) => !CONTAINERS.has(path)),
          where,
        ).toEqual([]);
      }
    }
  });
});

describe("the first apply (seed 5)", () => {
  it.each(definitions.map((definition) => [definition.kind, definition] as const))("%s: stored as it was applied", (_kind, definition) => {
    const random = seededRandom(5);
    const values = new RandomValues(random);
    let accepted = 0;
    for (let round = 0; round < 60; round++) {
      const config = values.message(definition.schema) as JsonObject;
      if (typeof config.metadata === "object") delete (config.metadata as JsonObject).managedFields;
      const request = {
        ...context,
        schema: definition.schema,
        kind: definition.kind,
        hasStatus: definition.subresources.includes("status"),
      };
      const result = applyConfiguration({
        ...request,
        live: undefined,
        config: { apiVersion: "v1", kind: definition.kind, ...config },
        manager: "m",
        force: false,
        nowMs: T0,
      });
      // random lists may repeat their keys, or lack them
      if (!result.ok) {
        expect(result.error.message).toMatch(/duplicate entries for key|omits all key fields/);
        continue;
      }
      accepted++;
      expect(withoutEmpty(result.value.object)).toEqual(withoutEmpty(config));
    }
    expect(accepted).toBeGreaterThan(10);
  });
});

/** Without members that are null, {} or []: storage drops them too. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => withoutEmpty(item) ?? null);
  if (typeof value !== "object" || value === null) return value ?? undefined;
  const entries = Object.entries(value)
    .map(([name, item]) => [name, withoutEmpty(item)] as const)
    .filter(([, item]) => item !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
