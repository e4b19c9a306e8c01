/** Merges count the members of the patch that they walk. As many as its text has: no field stands there twice, and nobody looks again. */
import { describe, expect, it } from "vitest";
import { applyMergePatch } from "../../../../src/api/patch/merge-patch";
import { readPatch } from "../../../../src/api/patch/patch-body";
import { applyStrategicMerge } from "../../../../src/api/patch/strategic-merge";
import { PodSchema } from "../../../../src/api/schema/kinds/core-pods";
import type { JsonObject, JsonValue } from "../../../../src/api/schema/json/json-value";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";

const random = seededRandom(7);
const chance = (percent: number): boolean => random.below(100) < percent;
const some = <T>(max: number, make: () => T): T[] => Array.from({ length: random.below(max + 1) }, make);

function anyValue(depth = 2): JsonValue {
  if (depth === 0 || chance(40)) return pick<JsonValue>(random, [null, 1, "a", true, {}, []]);
  if (chance(40)) return some(3, () => anyValue(depth - 1));
  return mapOf(() => anyValue(depth - 1));
}

function mapOf(valueOf: () => JsonValue): JsonObject {
  const members = some(3, (): [string, JsonValue] => [pick(random, ["a", "b", "name", "__proto__"]), valueOf()]);
  return { ...Object.fromEntries(members), ...(chance(10) ? { $patch: pick(random, ["replace", "delete"]) } : {}) };
}

function listOf(elementOf: () => JsonValue): JsonValue {
  return chance(10) ? null : some(4, elementOf);
}

function container(): JsonObject {
  return {
    name: pick(random, ["a", "b", "c"]),
    ...(chance(20) ? { $patch: pick(random, ["replace", "delete"]) } : {}),
    ...(chance(40) ? { env: listOf(() => ({ name: pick(random, ["X", "Y"]), value: pick<JsonValue>(random, ["1", null]) })) } : {}),
    ...(chance(20) ? { args: listOf(() => anyValue(0)), other: anyValue() } : {}),
  };
}

function podPatch(): JsonObject {
  const order = some(3, () => pick(random, ["a", "b", "c"]));
  const containers: JsonObject = chance(80) ? { containers: listOf(container) } : {};
  return {
    metadata: {
      ...(chance(60) ? { labels: chance(80) ? mapOf(() => pick<JsonValue>(random, ["x", null])) : null } : {}),
      ...(chance(40) ? { finalizers: some(3, () => "x/y") } : {}),
      ...(chance(30) ? { "$deleteFromPrimitiveList/finalizers": ["x/y"] } : {}),
    },
    spec: {
      ...containers,
      ...(chance(20) ? { "$setElementOrder/containers": order.map((name) => ({ name })) } : {}),
      ...(chance(30) ? { nodeSelector: mapOf(() => "x"), unknown: anyValue() } : {}),
      ...(chance(10) ? { $retainKeys: ["containers", "nodeSelector", "unknown"] } : {}),
    },
    ...(chance(10) ? { status: anyValue() } : {}),
  };
}

const STORED = {
  metadata: { labels: { a: "1" }, finalizers: ["x/y", "x/z"] },
  spec: { containers: [{ name: "a", env: [{ name: "X" }], args: [{ deep: {} }] }, { name: "c" }] },
} satisfies JsonObject;

describe("members of a patch that is merged: each is met once", () => {
  it.each([
    ["merge", {}],
    ["merge", STORED],
    ["strategic", {}],
    ["strategic", STORED],
  ] as const)("%s, onto %j", (form, stored) => {
    let applied = 0;
    for (let i = 0; i < 600; i++) {
      const text = JSON.stringify(podPatch());
      const body = readPatch(text, form);
      if (!body.ok) throw new Error(body.error.message);
      const current = structuredClone(stored) as JsonObject;
      const result = form === "merge" ? applyMergePatch(current, body.value) : applyStrategicMerge(current, body.value, PodSchema);
      if (!result.ok) continue;
      applied++;
      expect(result.value.members, text).toBe(body.value.members);
    }
    expect(applied).toBeGreaterThan(200);
  });
});
