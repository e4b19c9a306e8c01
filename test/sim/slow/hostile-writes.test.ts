/**
 * Decoding and patching under input that no client means: every write is answered with an object or a 4xx Status, nothing throws, no
 * prototype changes, and what is stored is still a clean value of its schema.
 */
import { stringify } from "yaml";
import { describe, expect, it } from "vitest";
import { ok } from "../../../src/core/base/result";
import { parseApply } from "../../../src/api/fields/parse-apply";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import type { JsonObject } from "../../../src/api/schema/json/json-value";
import { apiVersionOf } from "../../../src/api/meta/type-meta";
import { definitionOf, definitions } from "../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import type { PatchType, WriteResult } from "../../../src/api/rpc/store";
import { decodeJson } from "../../../src/api/schema/json/decode-json";
import { encodeProtobuf } from "../../../src/api/schema/protobuf/encode-protobuf";
import type { BodyType } from "../../../src/worker/http/read/content-type";
import { decodeBody } from "../../../src/worker/http/read/decode-body";
import { HostileText } from "../../support/values/hostile-text";
import { seededRandom } from "../../support/sim/platform/seeded-random";
import { StoreWorld, WRITE } from "../../support/worlds/store-world";

const SEED = Number(process.env.SEED ?? 20260) | 0;
const ROUNDS = 400;

const POOL_REF = { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "p" };
const POOL = {
  spec: { addresses: ["10.0.0.0/25", "10.0.0.200"], prefix: 24, gateway: "10.0.0.1", excludedAddresses: ["10.0.0.5-10.0.0.9"] },
};

const PREFIX_POOL = {
  spec: {
    prefixes: ["10.0.0.0/20"],
    allocationPrefixLength: 24,
    gateway: "10.0.0.1",
    excludedPrefixes: ["10.0.5.0/24", "10.0.7.1-10.0.7.9"],
  },
};

/** A small object of each kind that its strategy accepts, with lists and maps to hurt. */
const SPECS: Readonly<Record<string, JsonObject>> = {
  "clusters/servicenet.dev": { spec: { location: "weur", controllers: ["*", "-namespace-controller"] } },
  "ipaddressclaims/ipam.cluster.x-k8s.io": { spec: { clusterName: "blue", poolRef: POOL_REF } },
  "ipaddresses/ipam.cluster.x-k8s.io": {
    spec: { claimRef: { name: "x" }, poolRef: POOL_REF, address: "10.0.0.2", prefix: 24, gateway: "10.0.0.1" },
  },
  "inclusterippools/ipam.cluster.x-k8s.io": POOL,
  "globalinclusterippools/ipam.cluster.x-k8s.io": POOL,
  "inclusterprefixpools/ipam.cluster.x-k8s.io": PREFIX_POOL,
  "globalinclusterprefixpools/ipam.cluster.x-k8s.io": PREFIX_POOL,
  endpoints: { subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80, name: "http" }] }] },
  "events/": { involvedObject: { kind: "Service", namespace: "ns", name: "x" }, reason: "Why", message: "what", type: "Normal" },
  configmaps: { data: { "a.conf": "x", b: "" }, binaryData: { c: "AAEC" } },
  secrets: { type: "example.com/x", data: { a: "AAEC" }, stringData: { b: "text" } },
  serviceaccounts: { secrets: [{ name: "s" }], imagePullSecrets: [{ name: "p" }] },
  podtemplates: { template: { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "c", image: "i" }] } } },
  resourcequotas: { spec: { hard: { pods: "10", "count/leases.coordination.k8s.io": "5" } } },
  namespaces: { spec: { finalizers: ["kubernetes"] } },
  nodes: { spec: { taints: [{ key: "k", value: "v", effect: "NoSchedule" }] } },
  pods: { spec: { containers: [{ name: "c", image: "i", ports: [{ containerPort: 80 }] }] } },
  services: { spec: { type: "ClusterIP", clusterIP: "None", ports: [{ name: "http", port: 80 }], selector: { app: "x" } } },
  "events/events.k8s.io": {
    eventTime: "2026-01-01T00:00:00.000000Z",
    regarding: { kind: "Service", namespace: "ns", name: "x" },
    reportingController: "test.io/controller",
    reportingInstance: "one",
    action: "Try",
    reason: "Why",
    type: "Normal",
  },
  ipaddresses: { spec: { parentRef: { group: "", resource: "services", namespace: "ns", name: "x" } } },
  servicecidrs: { spec: { cidrs: ["10.0.0.0/16"] } },
  clusterrolebindings: {
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "ann" }],
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
  },
  clusterroles: {
    rules: [{ verbs: ["get"], nonResourceURLs: ["/metrics"] }],
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" }, matchExpressions: [{ key: "c", operator: "Exists" }] }] },
  },
  rolebindings: {
    subjects: [{ kind: "ServiceAccount", name: "robot", namespace: "ns" }],
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
  },
  roles: { rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] }] },
  leases: { spec: { holderIdentity: "me", leaseDurationSeconds: 40 } },
  endpointslices: { addressType: "IPv4", endpoints: [{ addresses: ["192.0.2.1"] }], ports: [{ name: "http", port: 80 }] },
};

/** Whose schema the stored text follows: events of both groups are stored as core events. */
function storedDefinitionOf(definition: ResourceDefinition): ResourceDefinition {
  const of = definition.representationOf;
  return (of && definitionOf(of.group, of.resource)) ?? definition;
}

function exampleOf(definition: ResourceDefinition): JsonObject {
  const own = SPECS[`${definition.resource}/${definition.group}`] ?? SPECS[definition.resource];
  if (!own) throw new Error(`no example of ${definition.resource}`);
  const name = definition.resource === "ipaddresses" ? "192.0.2.9" : "victim";
  const metadata = { name, labels: { a: "1" }, annotations: { b: "2" }, finalizers: ["example.com/keep"] };
  return { ...own, metadata: definition.namespaced ? { ...metadata, namespace: "ns" } : metadata };
}

function worldOf(definition: ResourceDefinition): StoreWorld {
  const stored = storedDefinitionOf(definition);
  return new StoreWorld({ definition: stored, representations: stored === definition ? [] : [definition] });
}

const prototypesBefore = [Object.prototype, Array.prototype, Function.prototype].map((prototype) =>
  Object.getOwnPropertyNames(prototype).join(),
);

function expectUnpolluted(): void {
  const now = [Object.prototype, Array.prototype, Function.prototype].map((prototype) => Object.getOwnPropertyNames(prototype).join());
  expect(now).toEqual(prototypesBefore);
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
}

function expectAnswered(result: WriteResult, definition: ResourceDefinition, what: () => string): void {
  if (!result.ok) {
    const { code = 0, message = "" } = result.status;
    // A few refusals of patches are 500 as upstream's, with a text that says what is wrong; a crash says that it could not be carried out.
    const crashed = /could not be carried out|TypeError|RangeError|undefined is not|at \w+ \(/.test(message);
    expect(code >= 400 && !crashed, `${what()} -> ${JSON.stringify(result.status)}`).toBe(true);
    return;
  }
  const stored = decodeJson(result.object, storedDefinitionOf(definition).schema);
  expect(stored.ok ? stored.value.problems : stored.error, what()).toEqual([]);
}

const written = definitions.filter(({ verbs }) => verbs.includes("create"));

describe.each(written.map((definition) => ({ name: `${definition.resource}.${definition.group || "core"}`, definition })))(
  "$name under hostile writes",
  ({ definition }) => {
    const apiVersion = apiVersionOf(definition.group, definition.versions[0] ?? "v1");
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const options = { ...WRITE, group: definition.group, version };
    const expected = { kind: definition.kind, group: definition.group, version, schema: definition.schema };
    const example = exampleOf(definition);
    const whole: JsonObject = { apiVersion, kind: definition.kind, ...example };

    const storedForm = (object: KubeObject): KubeObject => definition.representationOf?.toStored(object) ?? object;

    it(`random bodies (seed ${String(SEED)}): refused or stored whole, no fault`, async () => {
      const hostile = new HostileText(seededRandom(SEED));
      const world = worldOf(definition);
      let understood = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const type = hostile.pick<BodyType>(["json", "yaml", "protobuf"]);
        const value = round % 2 === 0 ? hostile.mutatedObject(whole) : whole;
        const clean = bodyOf(type, value, definition, apiVersion);
        const bytes = round % 4 === 0 ? clean : hostile.mutated(clean);
        const what = (): string => `round ${String(round)}, ${type}: ${new TextDecoder().decode(bytes)}`;
        const decoded = decodeBody(bytes, type, expected, hostile.pick(["Strict", "Warn", "Ignore"]));
        expectUnpolluted();
        if (!decoded.ok) {
          expect(decoded.error.code, what()).toBe(400);
          continue;
        }
        understood++;
        const object = storedForm(decoded.value.object);
        const result = await world.create({ ...object, metadata: { ...object.metadata, name: undefined, generateName: "h-" } }, options);
        expectAnswered(result, definition, what);
      }
      expect(understood).toBeGreaterThan(ROUNDS / 20);
    });

    it(`random patches (seed ${String(SEED)}): refused or stored whole, no fault`, async () => {
      const hostile = new HostileText(seededRandom(SEED));
      const world = worldOf(definition);
      const created = await world.create(storedForm(example as KubeObject), options);
      if (!created.ok) throw new Error(created.status.message);
      const { name = "", namespace = "", uid } = (JSON.parse(created.object) as KubeObject).metadata ?? {};
      let applied = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const type = hostile.pick<PatchType>(["json", "merge", "strategic", "apply"]);
        const value = patchOf(type, hostile, whole);
        const text = round % 5 === 0 ? new TextDecoder().decode(hostile.mutated(new TextEncoder().encode(value))) : value;
        const fieldValidation = hostile.pick<"Strict" | "Warn" | "Ignore">(["Strict", "Warn", "Ignore"]);
        const body = type === "apply" ? parseApply(text, fieldValidation) : ok({ config: {}, warnings: [] });
        expectUnpolluted();
        if (!body.ok) {
          expect(body.error.code, text).toBe(400);
          continue;
        }
        const patch = type === "apply" ? JSON.stringify(body.value.config) : text;
        const result = await world.patch(
          name,
          type,
          patch,
          { ...options, fieldValidation, force: type === "apply" && round % 2 === 0 },
          namespace,
        );
        expectUnpolluted();
        expectAnswered(result, definition, () => `round ${String(round)}, ${type}: ${text}`);
        if (!result.ok) continue;
        applied++;
        expect((JSON.parse(result.object) as KubeObject).metadata).toMatchObject({ name, uid });
      }
      expect(applied).toBeGreaterThan(ROUNDS / 80);
    });
  },
);

function bodyOf(type: BodyType, value: JsonObject, definition: ResourceDefinition, apiVersion: string): Uint8Array {
  if (type === "json") return new TextEncoder().encode(JSON.stringify(value));
  if (type === "yaml") return new TextEncoder().encode(stringify(value));
  // Only a clean value can be encoded; its bytes are what is mutated.
  return encodeProtobuf(exampleOf(definition), definition.schema, { apiVersion, kind: definition.kind });
}

function patchOf(type: PatchType, hostile: HostileText, whole: JsonObject): string {
  switch (type) {
    case "json":
      return JSON.stringify(hostile.jsonPatch(whole));
    case "merge":
      return JSON.stringify(hostile.mutatedObject(whole));
    case "strategic":
      return JSON.stringify(hostile.strategicPatch(whole));
    case "apply":
      return stringify(hostile.mutatedObject(whole));
  }
}
