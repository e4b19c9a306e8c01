import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../../src/api/schema/json/json-value";
import { NodeSchema } from "../../../../src/api/schema/kinds/core-nodes";
import { PodSchema } from "../../../../src/api/schema/kinds/core-pods";
import { ServiceSchema } from "../../../../src/api/schema/kinds/core-services";
import { EndpointSliceSchema } from "../../../../src/api/schema/kinds/discovery";
import type { MessageSchema } from "../../../../src/api/schema/types";
import { deepFreeze } from "../registry/services/a-service";
import { strategicPatched } from "../../../support/values/patch-texts";

function apply(current: JsonObject, patch: JsonObject, schema: MessageSchema = ServiceSchema): unknown {
  const result = strategicPatched(deepFreeze(current), JSON.stringify(deepFreeze(patch)), schema);
  return result.ok ? result.value : result.error;
}

interface Row {
  name: string;
  given: JsonObject;
  patch: JsonObject;
  want: JsonValue;
  schema?: MessageSchema;
}

function rows(title: string, table: readonly Row[]): void {
  describe(title, () => {
    it.each(table)("$name", ({ given, patch, want, schema }) => {
      expect(apply(given, patch, schema)).toEqual(want);
    });
  });
}

const http = { name: "http", port: 80 };
const https = { name: "https", port: 443 };
const dns = { name: "dns", port: 53 };

rows("maps and values", [
  {
    name: "members merge, null deletes",
    given: { metadata: { labels: { a: "1", b: "2" } }, spec: { type: "ClusterIP" } },
    patch: { metadata: { labels: { a: "x", b: null, c: "3" } } },
    want: { metadata: { labels: { a: "x", c: "3" } }, spec: { type: "ClusterIP" } },
  },
  {
    name: "a Service's selector merges",
    given: { spec: { selector: { a: "1" } } },
    patch: { spec: { selector: { b: "2" } } },
    want: { spec: { selector: { a: "1", b: "2" } } },
  },
  {
    name: "$patch replace replaces the map",
    given: { spec: { selector: { a: "1" } } },
    patch: { spec: { selector: { $patch: "replace", b: "2" } } },
    want: { spec: { selector: { b: "2" } } },
  },
  {
    name: "$patch delete empties the map",
    given: { spec: { selector: { a: "1" } } },
    patch: { spec: { selector: { $patch: "delete" } } },
    want: { spec: { selector: {} } },
  },
  {
    name: "a new map is stored without directives and nulls",
    given: { spec: {} },
    patch: { spec: { selector: { $retainKeys: ["a"], a: "1", b: null } } },
    want: { spec: { selector: { a: "1" } } },
  },
  {
    name: "a value replaces a map and the other way round",
    given: { spec: { a: { b: 1 }, c: 1 } },
    patch: { spec: { a: 1, c: { d: 2 } } },
    want: { spec: { a: 1, c: { d: 2 } } },
  },
  {
    name: "lists without a merge key are replaced",
    given: { spec: { externalIPs: ["1.1.1.1"], clusterIPs: ["10.0.0.1"] } },
    patch: { spec: { externalIPs: ["2.2.2.2"] } },
    want: { spec: { externalIPs: ["2.2.2.2"], clusterIPs: ["10.0.0.1"] } },
  },
  {
    name: "the taints of a node are replaced, null takes them away",
    given: { spec: { taints: [{ key: "a", effect: "NoSchedule" }], unschedulable: true } },
    patch: { spec: { taints: null } },
    schema: NodeSchema,
    want: { spec: { unschedulable: true } },
  },
  {
    name: "the endpoints of a slice are replaced",
    given: { endpoints: [{ addresses: ["1.1.1.1"] }], ports: [{ name: "a" }] },
    patch: { endpoints: [{ addresses: ["2.2.2.2"] }] },
    schema: EndpointSliceSchema,
    want: { endpoints: [{ addresses: ["2.2.2.2"] }], ports: [{ name: "a" }] },
  },
]);

rows("keyed lists", [
  {
    name: "an element of the same key is merged, a new one appended",
    given: { spec: { ports: [http, https] } },
    patch: { spec: { ports: [{ port: 80, targetPort: 8080 }, dns] } },
    want: { spec: { ports: [{ ...http, targetPort: 8080 }, dns, https] } },
  },
  {
    name: "kubectl apply: order and deletion",
    given: { spec: { ports: [http, https] } },
    patch: { spec: { "$setElementOrder/ports": [{ port: 53 }, { port: 443 }], ports: [dns, { $patch: "delete", port: 80 }] } },
    want: { spec: { ports: [dns, https] } },
  },
  {
    name: "an order alone reorders; what it does not name keeps its place",
    given: { spec: { ports: [http, https, dns] } },
    patch: { spec: { "$setElementOrder/ports": [{ port: 53 }, { port: 80 }] } },
    want: { spec: { ports: [https, dns, http] } },
  },
  {
    name: "an order for a list that is not there stores nothing",
    given: { spec: { type: "ClusterIP" } },
    patch: { spec: { "$setElementOrder/ports": [] } },
    want: { spec: { type: "ClusterIP" } },
  },
  {
    name: "$patch replace as an element replaces the list",
    given: { spec: { ports: [http, https] } },
    patch: { spec: { ports: [{ $patch: "replace" }, dns] } },
    want: { spec: { ports: [dns] } },
  },
  {
    name: "$patch replace alone empties the list",
    given: { spec: { ports: [http] } },
    patch: { spec: { ports: [{ $patch: "replace" }] } },
    want: { spec: { ports: [] } },
  },
  {
    name: "deleting what is not there does nothing",
    given: { spec: { ports: [http] } },
    patch: { spec: { ports: [{ $patch: "delete", port: 1 }] } },
    want: { spec: { ports: [http] } },
  },
  {
    name: "two entries of one port collide, protocol or not, as upstream",
    given: { spec: { ports: [{ port: 53, protocol: "UDP", name: "udp" }] } },
    patch: { spec: { ports: [{ port: 53, protocol: "TCP", name: "tcp" }] } },
    want: { spec: { ports: [{ port: 53, protocol: "TCP", name: "tcp" }] } },
  },
  { name: "null deletes the list", given: { spec: { ports: [http] } }, patch: { spec: { ports: null } }, want: { spec: {} } },
  { name: "a list where there was none", given: {}, patch: { spec: { ports: [http] } }, want: { spec: { ports: [http] } } },
  {
    name: "conditions by type",
    given: {
      status: {
        conditions: [
          { type: "A", status: "True" },
          { type: "B", status: "True" },
        ],
      },
    },
    patch: { status: { conditions: [{ type: "B", status: "False" }] } },
    want: {
      status: {
        conditions: [
          { type: "A", status: "True" },
          { type: "B", status: "False" },
        ],
      },
    },
  },
  {
    name: "nested: env of a container by name; new elements go first, as upstream",
    given: { spec: { containers: [{ name: "c", image: "i", env: [{ name: "X", value: "1" }] }] } },
    patch: { spec: { containers: [{ name: "c", env: [{ name: "Y", value: "2" }] }] } },
    schema: PodSchema,
    want: {
      spec: {
        containers: [
          {
            name: "c",
            image: "i",
            env: [
              { name: "Y", value: "2" },
              { name: "X", value: "1" },
            ],
          },
        ],
      },
    },
  },
  {
    name: "$retainKeys: a volume changes its source",
    given: { spec: { volumes: [{ name: "v", emptyDir: {} }] } },
    patch: { spec: { volumes: [{ $retainKeys: ["name", "hostPath"], name: "v", hostPath: { path: "/x" } }] } },
    schema: PodSchema,
    want: { spec: { volumes: [{ name: "v", hostPath: { path: "/x" } }] } },
  },
]);

rows("sets of primitives", [
  {
    name: "finalizers are united",
    given: { metadata: { finalizers: ["a/a", "b/b"] } },
    patch: { metadata: { finalizers: ["c/c", "a/a"] } },
    want: { metadata: { finalizers: ["c/c", "a/a", "b/b"] } },
  },
  {
    name: "$deleteFromPrimitiveList takes out",
    given: { metadata: { finalizers: ["a/a", "b/b"] } },
    patch: { metadata: { "$deleteFromPrimitiveList/finalizers": ["a/a", "z/z"] } },
    want: { metadata: { finalizers: ["b/b"] } },
  },
  {
    name: "as the ServiceCIDR controller sends it: delete with the order of what stays",
    given: { metadata: { finalizers: ["a/a"] } },
    patch: { metadata: { "$deleteFromPrimitiveList/finalizers": ["a/a"], "$setElementOrder/finalizers": [] } },
    want: { metadata: { finalizers: [] } },
  },
  {
    name: "deleting from a list that is not there stores nothing",
    given: { metadata: { name: "a" } },
    patch: { metadata: { "$deleteFromPrimitiveList/finalizers": ["a/a"] } },
    want: { metadata: { name: "a" } },
  },
]);

const ips = (...externalIPs: string[]): JsonObject => ({ spec: { externalIPs } });
const dnsPort = (protocol: string, targetPort: number): JsonObject => ({ name: protocol, port: 53, protocol, targetPort });

/** Both entries of a DNS Service, whole. */
function wholeDns(order: readonly number[] | undefined): JsonObject {
  const ports = [dnsPort("UDP", 5353), dnsPort("TCP", 5353)];
  return { spec: { ...(order ? { "$setElementOrder/ports": order.map((port) => ({ port })) } : {}), ports } };
}

// Each row is what upstream's library answers (k8s.io/apimachinery v0.36.2).
rows("directives of lists without a merge key", [
  {
    name: "$deleteFromPrimitiveList takes out",
    given: ips("1", "2", "3"),
    patch: { spec: { "$deleteFromPrimitiveList/externalIPs": ["2"] } },
    want: ips("1", "3"),
  },
  {
    name: "the last one taken out leaves the empty list",
    given: ips("2"),
    patch: { spec: { "$deleteFromPrimitiveList/externalIPs": ["2"] } },
    want: ips(),
  },
  {
    name: "deleting from a list that is not there stores nothing",
    given: { spec: {} },
    patch: { spec: { "$deleteFromPrimitiveList/externalIPs": ["2"] } },
    want: { spec: {} },
  },
  {
    name: "$setElementOrder alone orders what is stored",
    given: ips("1", "2", "3"),
    patch: { spec: { "$setElementOrder/externalIPs": ["3", "1"] } },
    want: ips("2", "3", "1"),
  },
  {
    name: "$setElementOrder beside the list: the list replaces, in its order",
    given: ips("1", "2", "3"),
    patch: { spec: { "$setElementOrder/externalIPs": ["3", "4", "1"], externalIPs: ["4", "1"] } },
    want: ips("4", "1"),
  },
  {
    name: "$setElementOrder of a list that is not there stores nothing",
    given: { spec: {} },
    patch: { spec: { "$setElementOrder/loadBalancerSourceRanges": ["3"] } },
    want: { spec: {} },
  },
  {
    name: "both directives",
    given: ips("1", "2", "3"),
    patch: { spec: { "$deleteFromPrimitiveList/externalIPs": ["2"], "$setElementOrder/externalIPs": ["3", "1"] } },
    want: ips("3", "1"),
  },
  {
    name: "another order than declared",
    given: ips("1"),
    patch: { spec: { "$setElementOrder/externalIPs": ["1", "4"], externalIPs: ["4", "1"] } },
    want: { reason: "malformed", message: "The order in patch list:\n[4 1]\n doesn't match $setElementOrder list:\n[1 4]\n" },
  },
]);

rows("$setElementOrder with equal merge keys", [
  {
    name: "both ports of a DNS Service changed: the first one has the changes, as upstream",
    given: { spec: { ports: [dnsPort("UDP", 53), dnsPort("TCP", 53)] } },
    patch: {
      spec: {
        "$setElementOrder/ports": [{ port: 53 }, { port: 53 }],
        ports: [
          { port: 53, targetPort: 5353 },
          { port: 53, targetPort: 5353 },
        ],
      },
    },
    want: { spec: { ports: [dnsPort("UDP", 5353), dnsPort("TCP", 53)] } },
  },
  ...[true, false].map((isOrdered) => ({
    name: `both entries whole, ${isOrdered ? "with" : "without"} an order: both go to the first of their key, as upstream`,
    given: { spec: { ports: [dnsPort("UDP", 53), dnsPort("TCP", 53)] } },
    patch: wholeDns(isOrdered ? [53, 53] : undefined),
    want: { spec: { ports: [dnsPort("TCP", 5353), dnsPort("TCP", 53)] } },
  })),
  ...[[53, 53], undefined].map((order) => ({
    name: `both entries where no list is stored, order ${String(order)}: both stay`,
    given: { spec: {} },
    patch: wholeDns(order),
    want: { spec: { ports: [dnsPort("UDP", 5353), dnsPort("TCP", 5353)] } },
  })),
  ...[[53, 53], undefined].map((order) => ({
    name: `both entries where the empty list is stored, order ${String(order)}: one`,
    given: { spec: { ports: [] } },
    patch: wholeDns(order),
    want: { spec: { ports: [dnsPort("TCP", 5353)] } },
  })),
  ...[[80, 53, 53], undefined].map((order) => ({
    name: `both entries beside another port, order ${String(order)}: one`,
    given: { spec: { ports: [http] } },
    patch: wholeDns(order),
    want: { spec: { ports: order ? [http, dnsPort("TCP", 5353)] : [dnsPort("TCP", 5353), http] } },
  })),
  {
    name: "one entry deleted by its key and set again: both stored ones go",
    given: { spec: { ports: [dnsPort("UDP", 53), dnsPort("TCP", 53)] } },
    patch: { spec: { ports: [{ port: 53, $patch: "delete" }, dnsPort("TCP", 5353)] } },
    want: { spec: { ports: [dnsPort("TCP", 5353)] } },
  },
  {
    name: "a new list: without the elements of directives, whatever its order",
    given: { spec: {} },
    patch: { spec: { ports: [dnsPort("UDP", 53), { port: 80, $patch: "delete" }, { $patch: "replace" }, dnsPort("TCP", 53)] } },
    want: { spec: { ports: [dnsPort("UDP", 53), dnsPort("TCP", 53)] } },
  },
  {
    name: "a new list of finalizers: the patch's",
    given: { metadata: {} },
    patch: { metadata: { finalizers: ["b/b", "a/a", "b/b"] } },
    want: { metadata: { finalizers: ["b/b", "a/a", "b/b"] } },
  },
  {
    name: "fewer keys than elements of the patch",
    given: { spec: { ports: [dnsPort("UDP", 53)] } },
    patch: { spec: { "$setElementOrder/ports": [{ port: 53 }], ports: [{ port: 53 }, { port: 53 }] } },
    want: {
      reason: "malformed",
      message: "The order in patch list:\n[map[port:53] map[port:53]]\n doesn't match $setElementOrder list:\n[map[port:53]]\n",
    },
  },
  {
    name: "an empty order beside a patch: judged by nobody",
    given: { spec: { ports: [dnsPort("UDP", 53)] } },
    patch: { spec: { "$setElementOrder/ports": [], ports: [{ port: 53, targetPort: 5353 }] } },
    want: { spec: { ports: [dnsPort("UDP", 5353)] } },
  },
]);

rows("refusals", [
  {
    name: "an element without its key",
    given: { spec: { ports: [http] } },
    patch: { spec: { ports: [{ name: "x", targetPort: 1 }] } },
    want: { reason: "internal", message: "map: map[name:x targetPort:1] does not contain declared merge key: port" },
  },
  {
    name: "an element that is no object",
    given: { spec: { ports: [{ port: 80 }] } },
    patch: { spec: { ports: ["x", null] } },
    want: { reason: "internal", message: "list element types are not identical: [[map[port:80]] [x <nil>]]" },
  },
  {
    name: "an unknown directive",
    given: { spec: {} },
    patch: { spec: { $patch: "explode" } },
    want: { reason: "malformed", message: "unknown patch type: explode in map: map[$patch:explode]" },
  },
  {
    name: "the word merge, of a map that is there",
    given: { spec: { selector: { a: "1" } } },
    patch: { spec: { selector: { $patch: "merge", b: "2" } } },
    want: { reason: "malformed", message: "unknown patch type: merge in map: map[$patch:merge b:2]" },
  },
  {
    name: "the word merge, of an element of a list",
    given: { spec: { ports: [http] } },
    patch: { spec: { ports: [{ $patch: "merge", port: 80 }] } },
    want: { reason: "malformed", message: "merging lists is not supported yet" },
  },
  {
    name: "$retainKeys that does not name what is set",
    given: { spec: { a: 1 } },
    patch: { spec: { $retainKeys: ["a"], b: 1 } },
    want: { reason: "malformed", message: "invalid patch format of retainKeys" },
  },
  {
    name: "an order that is no list",
    given: { spec: {} },
    patch: { spec: { "$setElementOrder/ports": 1 } },
    want: { reason: "malformed", message: "invalid patch format of $setElementOrder" },
  },
  {
    name: "lists of lists",
    given: { spec: {} },
    patch: { spec: { ports: [[]] } },
    want: { reason: "unprocessable", message: "lists of lists are not supported" },
  },
]);

it("a patch in another order than $setElementOrder declares: refused", () => {
  const patch = { spec: { "$setElementOrder/ports": [{ port: 443 }, { port: 80 }], ports: [http, https] } };
  expect(apply({ spec: {} }, patch)).toMatchObject({ reason: "malformed" });
});

it.each([
  { patch: "[]", message: "json: cannot unmarshal array into Go value of type map[string]interface {}" },
  { patch: "1", message: "json: cannot unmarshal number into Go value of type map[string]interface {}" },
  { patch: "{", message: "unexpected end of JSON input" },
])("patch $patch: malformed, in the words of Go's decoder", ({ patch, message }) => {
  expect(strategicPatched({}, patch, ServiceSchema)).toEqual({ ok: false, error: { reason: "malformed", message } });
});

it("a large patch: each stored element is read a few times", () => {
  const LENGTH = 200;
  let looks = 0;
  const watched = (element: JsonObject): JsonObject =>
    new Proxy(element, {
      getOwnPropertyDescriptor(target, key) {
        looks++;
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
    });
  const ports = (from: number): JsonObject[] => Array.from({ length: LENGTH }, (_, i) => ({ name: `p${from + i}`, port: from + i }));
  const current = { spec: { ports: ports(1).map(watched) } };
  const removed = ports(LENGTH / 2).map(({ port }) => ({ $patch: "delete", port: port ?? null }));
  const patch = JSON.stringify({ spec: { ports: [...ports(2 * LENGTH), ...removed] } });
  const result = strategicPatched(current, patch, ServiceSchema);
  expect(looks).toBeLessThan(20 * LENGTH);
  const left = ports(1).slice(0, LENGTH / 2 - 1);
  expect(result).toEqual({ ok: true, value: { spec: { ports: [...ports(2 * LENGTH), ...left] } } });
});

rows("elements that stand twice", [
  {
    name: "the first of two stored ones is merged into",
    given: { spec: { ports: [http, { name: "other", port: 80 }] } },
    patch: { spec: { ports: [{ port: 80, targetPort: 1 }] } },
    want: {
      spec: {
        ports: [
          { ...http, targetPort: 1 },
          { name: "other", port: 80 },
        ],
      },
    },
  },
  {
    name: "two of the patch become one",
    given: { spec: { ports: [https] } },
    patch: { spec: { ports: [http, { port: 80, targetPort: 1 }] } },
    want: { spec: { ports: [{ ...http, targetPort: 1 }, https] } },
  },
  {
    name: "deleted and set again",
    given: { spec: { ports: [{ ...http, targetPort: 1 }, https] } },
    patch: { spec: { ports: [http, { $patch: "delete", port: 80 }] } },
    want: { spec: { ports: [http, https] } },
  },
]);

it("equal merge keys without end: refused at the limit; some: merged", () => {
  const members = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i]));
  const patchOf = (equal: number) => ({
    spec: { ports: [{ port: 80, ...members }, ...Array.from({ length: equal }, () => ({ port: 80 }))] },
  });
  expect(apply({ spec: { ports: [http] } }, patchOf(20))).toEqual({ spec: { ports: [{ ...http, ...members }] } });
  const env = (n: number) => Array.from({ length: n }, (_, i) => ({ name: `E${i}` }));
  const containers = [{ name: "a", env: env(8_000) }, ...Array.from({ length: 2_000 }, () => ({ name: "a", env: env(1) }))];
  const refused = { reason: "tooLarge", message: "limit is 400000 members of objects and lists that are merged" };
  expect(apply({ spec: { ports: [] } }, patchOf(500))).toEqual(refused);
  expect(apply({ spec: { containers: [] } }, { spec: { containers } }, PodSchema)).toEqual(refused);
});

it("a null patch: changes nothing", () => {
  expect(strategicPatched({ a: 1 }, "null", ServiceSchema)).toEqual({ ok: true, value: { a: 1 } });
});

it("__proto__ in a patch: never becomes a prototype", () => {
  const result = strategicPatched({ metadata: { labels: {} } }, '{"metadata":{"labels":{"__proto__":{"polluted":true}}}}', ServiceSchema);
  expect(result.ok).toBe(true);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
