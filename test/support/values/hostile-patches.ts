/** Patches whose text says little and makes much work, where each step is done on the whole value. */
import type { PatchType } from "../../../src/api/rpc/store";
import type { JsonObject, JsonValue } from "../../../src/api/schema/json/json-value";

export interface HostilePatch {
  name: string;
  kind: "ConfigMap" | "Service" | "PodTemplate";
  /** absent: the text is a whole object, for an update */
  patchType?: PatchType;
  text: string;
  /** the stored object, besides its name */
  stored?: JsonObject;
}

const many = <T>(n: number, itemAt: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => itemAt(i));
const members = (n: number, of: JsonValue = 1): JsonObject => Object.fromEntries(many(n, (i) => [`k${i}`, of] as const));
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

const OPERATIONS = 9_900;
const JUNK = { op: "add", path: "/junk", value: many(150_000, () => 0) };

function json(name: string, operations: readonly JsonObject[]): HostilePatch {
  return { name, kind: "ConfigMap", patchType: "json", text: JSON.stringify(operations) };
}

function* jsonPatches(): Generator<HostilePatch> {
  const toAndFro = [
    { op: "move", from: "/junk", path: "/other" },
    { op: "move", from: "/other", path: "/junk" },
  ];
  yield json("a large value moved", [JUNK, ...many(OPERATIONS, (i) => toAndFro[i % 2] ?? {}), { op: "remove", path: "/junk" }]);
  yield json("insertions at the head", [JUNK, ...many(OPERATIONS, () => ({ op: "add", path: "/junk/0", value: 0 }))]);
  yield json("removals at the head", [JUNK, ...many(OPERATIONS, () => ({ op: "remove", path: "/junk/0" }))]);
  yield json("copies of a large value", [JUNK, ...many(OPERATIONS, (i) => ({ op: "copy", from: "/junk", path: `/c${i}` }))]);
  yield json("copies of a copy", [
    { op: "add", path: "/a", value: {} },
    ...many(OPERATIONS, () => ({ op: "copy", from: "/a", path: "/a/a" })),
  ]);
  yield json("tests beside a large value", [JUNK, ...many(OPERATIONS, () => ({ op: "test", path: "/junk/0", value: 0 }))]);
  const deep = many(45, (i) => `{"op":"add","path":"/data${"/a".repeat(900 * i)}","value":${nested(900)}}`);
  yield { name: "nested adds", kind: "ConfigMap", patchType: "json", text: `[${deep.join(",")}]` };
}

function* strategicMerges(): Generator<HostilePatch> {
  // An element of each list is stored: without one the list is taken as it stands.
  const stored = {
    Service: { spec: { ports: many(10_000, (port) => ({ port })) } },
    PodTemplate: { template: { spec: { containers: [{ name: "b" }] } } },
  };
  const strategic = (name: string, kind: "Service" | "PodTemplate", patch: JsonObject): HostilePatch => {
    return { name, kind, patchType: "strategic", text: JSON.stringify(patch), stored: stored[kind] };
  };
  const ports = [{ port: 80, ...members(40_000) }, ...many(50_000, () => ({ port: 80 }))];
  yield strategic("equal merge keys, unknown members", "Service", { spec: { ports } });
  const env = many(8_000, (i) => ({ name: `E${i}` }));
  const containers = [{ name: "a", env }, ...many(2_000, () => ({ name: "a", env: [{ name: "E1" }] }))];
  yield strategic("equal merge keys, a long list", "PodTemplate", { template: { spec: { containers } } });
  const order = many(60_000, (i) => ({ port: 60_000 - i }));
  yield strategic("a long order", "Service", { spec: { "$setElementOrder/ports": order, ports: order.slice(0, 10_000) } });
  const deleted = many(40_000, (port) => ({ port, $patch: "delete" }));
  yield strategic("deletions, most of what is not there", "Service", { spec: { ports: deleted } });
  const labels = Object.fromEntries(many(140_000, (i) => [`k${(i * 7_919) % 140_000}`, ""] as const));
  yield strategic("a directive that is none, in a large map", "Service", { metadata: { labels: { ...labels, $patch: "x" } } });
  yield strategic("a large map with an unknown field beside it", "Service", { metadata: { labels }, spec: { u: 1 } });
}

/** The `i`th spelling of one step. */
function spelling(i: number): string {
  return `v:"${many(16, (bit) => ((i >> bit) % 2 === 1 ? "\\u0061" : "a")).join("")}"`;
}

function entryOf(i: number, below: JsonObject, operation = "Update"): JsonObject {
  const time = new Date(1_700_000_000_000 + i * 1000).toISOString().replace(".000", "");
  return { manager: `m${i}`, operation, apiVersion: "v1", time, fieldsType: "FieldsV1", fieldsV1: { "f:data": below } };
}

function* ownedFields(): Generator<HostilePatch> {
  const updateOf = (name: string, managedFields: JsonObject[]): HostilePatch => {
    return {
      name,
      kind: "ConfigMap",
      text: JSON.stringify({ metadata: { name: "a", namespace: "default", managedFields }, data: { a: "b" } }),
    };
  };
  const leaves = Object.fromEntries(many(20_000, (i) => [`f:x${i}`, {}]));
  const spellings = Object.fromEntries(many(3_000, (i) => [spelling(i), i === 0 ? leaves : { [`f:y${i}`]: {} }]));
  yield updateOf("equal steps of managedFields", [entryOf(0, spellings)]);
  const updaters = many(5_000, (i) => entryOf(i, i === 0 ? leaves : { [`f:y${i}`]: {} }));
  yield updateOf("many updaters", updaters);
  const apply = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: members(2_000, "1") };
  const owned = Object.fromEntries(many(2_000, (i) => [`f:k${i}`, {}]));
  const owners = [{ ...entryOf(0, owned), manager: "m".repeat(500_000) }, ...many(3_000, (i) => entryOf(i, { "f:k1": {} }, "Apply"))];
  yield {
    name: "conflicts with many",
    kind: "ConfigMap",
    patchType: "apply",
    text: JSON.stringify(apply),
    stored: { metadata: { managedFields: owners } },
  };
}

function* repeatedNames(): Generator<HostilePatch> {
  const twice = many(140_000, () => '"a":1').join(",");
  yield {
    name: "a name many times below a long one",
    kind: "ConfigMap",
    patchType: "merge",
    text: `{"${"k".repeat(1_000_000)}":{${twice}}}`,
  };
}

export function* hostilePatches(): Generator<HostilePatch> {
  yield* jsonPatches();
  yield* strategicMerges();
  yield* ownedFields();
  yield* repeatedNames();
}
