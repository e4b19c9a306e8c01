import { describe, expect, it } from "vitest";
import type { Random } from "../../../../src/core/base/ports";
import { applyConfiguration } from "../../../../src/api/fields/apply";
import type { ManagedFieldsEntry } from "../../../../src/api/fields/managed-fields";
import { parseApply } from "../../../../src/api/fields/parse-apply";
import { trackUpdate } from "../../../../src/api/fields/update";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import { type JsonObject, type JsonValue, setMember } from "../../../../src/api/schema/json/json-value";
import { ServiceSchema } from "../../../../src/api/schema/kinds/core-services";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

const SEED = 99;
const context = { schema: ServiceSchema, apiVersion: "v1", kind: "Service", subresource: "", hasStatus: true, nowMs: 0 };
const NAMES = ["metadata", "spec", "status", "labels", "finalizers", "ports", "port", "protocol", "selector", "type", "clusterIPs"];
const KEYS = [...NAMES, "loadBalancer", "conditions", "managedFields", "__proto__", "constructor", "toString", "", ".", "f:x", "k:{}"];
const STEPS = [
  "f:spec",
  "f:ports",
  'k:{"port":80,"protocol":"TCP"}',
  "k:{}",
  "k:[]",
  "v:1",
  "v:",
  "i:1",
  "i:x",
  ".",
  "f:",
  "x:y",
  "f:__proto__",
  "__proto__",
];

function randomValue(random: Random, keys: readonly string[], depth: number): JsonValue {
  const kind = random.below(depth > 4 ? 5 : 8);
  switch (kind) {
    case 0:
      return null;
    case 1:
      return random.below(100);
    case 2:
      return random.next() < 0.5;
    case 3:
    case 4:
      return ["", "x", "TCP", "v1"][random.below(4)] ?? "";
    case 5:
      return Array.from({ length: random.below(3) }, () => randomValue(random, keys, depth + 1));
    default: {
      const object: JsonObject = {};
      for (let i = random.below(5); i > 0; i--)
        setMember(object, keys[random.below(keys.length)] ?? "x", randomValue(random, keys, depth + 1));
      return object;
    }
  }
}

const service = { metadata: { name: "web", uid: "u" }, spec: { type: "ClusterIP", ports: [{ port: 80, protocol: "TCP" }] } } as KubeObject;

describe(`random hostile input: refused or harmless (seed ${SEED})`, () => {
  it("a hostile configuration: refused or applied, no crash", () => {
    const random = seededRandom(SEED);
    let refused = 0;
    for (let round = 0; round < 3000; round++) {
      const config: JsonObject = { apiVersion: "v1", kind: "Service" };
      for (const name of ["metadata", "spec", "status"]) if (random.next() < 0.7) config[name] = randomValue(random, KEYS, 0);
      const live = random.next() < 0.5 ? service : undefined;
      const result = applyConfiguration({
        ...context,
        live,
        config,
        manager: random.next() < 0.5 ? "kubectl" : "m",
        force: random.next() < 0.5,
      });
      if (result.ok) JSON.stringify(result.value);
      else {
        refused++;
        expect([400, 409, 500]).toContain(result.error.code);
      }
    }
    expect(refused).toBeGreaterThan(100);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("hostile managedFields: read or ignored, no crash", () => {
    const random = seededRandom(SEED);
    for (let round = 0; round < 3000; round++) {
      const entry = {
        manager: "x",
        operation: "Update",
        apiVersion: random.next() < 0.9 ? "v1" : "",
        fieldsType: "FieldsV1",
        time: "nonsense",
        fieldsV1: randomValue(random, STEPS, 0),
      } as ManagedFieldsEntry;
      const after = { ...service, metadata: { ...service.metadata, managedFields: [entry] }, spec: { type: "NodePort" } } as KubeObject;
      const entries = trackUpdate({ ...context, manager: "m", before: random.next() < 0.5 ? service : undefined, after });
      const live = { ...after, metadata: { ...after.metadata, managedFields: entries ?? [entry] } };
      const config = { apiVersion: "v1", kind: "Service", spec: { type: "ClusterIP" } };
      const result = applyConfiguration({ ...context, live, config, manager: "m", force: true });
      expect(result.ok).toBe(true);
      JSON.stringify([entries, result]);
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("a hostile body: refused or parsed, no crash", () => {
    const random = seededRandom(SEED);
    const pieces = [
      "a",
      ": ",
      "- ",
      "{",
      "}",
      "[",
      "]",
      '"',
      "'",
      "\n",
      "  ",
      "#",
      "&x",
      "*x",
      "!!",
      "|",
      ">",
      "---\n",
      "? ",
      "<<: ",
      ",",
      "\t",
      "\u0000",
      "%",
    ];
    for (let round = 0; round < 3000; round++) {
      const text = Array.from({ length: random.below(30) }, () => pieces[random.below(pieces.length)] ?? "").join("");
      const result = parseApply(text, "Strict");
      if (!result.ok) expect(result.error.message).toMatch(/^error (strict )?decoding YAML: /);
    }
  });
});
