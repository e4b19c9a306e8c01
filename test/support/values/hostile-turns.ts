/** The work of one turn for each body and patch. */
import { parseApply } from "../../../src/api/fields/parse-apply";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { definitions } from "../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import type { WriteOptions, WriteRequest } from "../../../src/api/rpc/store";
import { prepareWrite } from "../../../src/api/store/write/prepare";
import type { PrepareFacts } from "../../../src/api/store/write/prepared";
import { decodeBody } from "../../../src/worker/http/read/decode-body";
import type { HostileBody } from "./hostile-bodies";
import type { HostilePatch } from "./hostile-patches";

const NOW_MS = 1_800_000_000_000;

/** One turn of the thread. */
export interface Turn {
  what: string;
  /** `decode`, `create`, `update status`, … */
  step: string;
  work: () => unknown;
}

/** The turns of a body, or of a `share` of it. */
export function* turnsOf(body: HostileBody, share = 1): Generator<Turn> {
  const { expected, type, name } = body;
  const bytes = body.bytes(share);
  const turn = (step: string, work: () => unknown): Turn => ({ what: `${step}: ${name}`, step, work });
  yield turn("decode", () => decodeBody(bytes, type, expected, "Strict"));
  const definition = definitions.find(({ kind, group }) => kind === expected.kind && group === expected.group);
  // What comes after the decoder is the same for all encodings.
  if (!definition?.verbs.includes("create") || type === "yaml") return;
  if (type === "json") {
    const text = new TextDecoder().decode(bytes);
    // Alike for all kinds: what a configuration is of is not read yet.
    if (expected.kind === "ConfigMap" || body.place !== undefined) yield turn("read apply", () => parseApply(text, "Strict"));
    for (const patchType of ["merge", "strategic"] as const) {
      yield turn(`${patchType} patch`, () => written(definition, { ...ofObject(definition), verb: "patch", patchType, patch: text }));
    }
  }
  const decoded = decodeBody(bytes, type, expected, "Ignore");
  if (!decoded.ok) return;
  const object = JSON.stringify(definition.representationOf?.toStored(decoded.value.object) ?? decoded.value.object);
  yield turn("create", () => written(definition, { verb: "create", namespace: "default", object, options: optionsOf(definition) }));
  for (const subresource of ["", ...definition.subresources] as const) {
    yield turn(`update ${subresource}`.trimEnd(), () =>
      written(definition, { ...ofObject(definition), verb: "update", subresource, object }),
    );
  }
  const apiVersion = [definition.group, definition.versions[0]].filter((part) => part !== "").join("/");
  const config = parseApply(JSON.stringify({ apiVersion, kind: definition.kind, ...decoded.value.object }), "Ignore");
  if (!config.ok) return;
  const patch = JSON.stringify(config.value.config);
  yield turn("apply", () => written(definition, { ...ofObject(definition), verb: "patch", patchType: "apply", patch }));
}

function optionsOf({ group, versions }: ResourceDefinition): WriteOptions {
  return { dryRun: false, fieldManager: "m", fieldValidation: "Strict", force: false, group, version: versions[0] ?? "" };
}

function ofObject(definition: ResourceDefinition) {
  return {
    key: { namespace: definition.namespaced ? "default" : "", name: "a" },
    subresource: "" as const,
    options: optionsOf(definition),
  };
}

export function turnOfPatch({ name, kind, patchType, text, stored }: HostilePatch): Turn {
  const definition = definitions.find((one) => one.kind === kind);
  if (!definition) throw new Error(`nobody serves ${kind}`);
  const target = { ...ofObject(definition), options: { ...optionsOf(definition), fieldValidation: "Ignore" } } as const;
  const request: WriteRequest = patchType
    ? { ...target, verb: "patch", patchType, patch: text }
    : { ...target, verb: "update", object: text };
  const step = patchType ?? "update";
  return { what: `${step}: ${name}`, step, work: () => written(definition, request, stored) };
}

function written(definition: ResourceDefinition, request: WriteRequest, more: { metadata?: object } = {}): unknown {
  const metadata = {
    ...more.metadata,
    name: "a",
    ...(definition.namespaced ? { namespace: "default" } : {}),
    uid: "u",
    resourceVersion: "1",
  };
  const stored: KubeObject = { metadata: { ...metadata, creationTimestamp: "2026-01-01T00:00:00Z" } };
  const facts: PrepareFacts = {
    definition,
    representations: [],
    clock: { now: () => NOW_MS } as PrepareFacts["clock"],
    random: { uuid: () => "u", u32: () => 1 } as unknown as PrepareFacts["random"],
    context: () => ({ now: NOW_MS, serviceFamilies: ["IPv4"] }),
    exists: () => undefined,
    reserved: () => false,
  };
  const current =
    request.verb === "create"
      ? undefined
      : {
          key: "a",
          revision: 1,
          data: JSON.stringify({ spec: { containers: [] }, status: {}, ...roleRefOf(definition), ...more, ...stored }),
        };
  return prepareWrite(request, current as Parameters<typeof prepareWrite>[1], facts);
}

/** What no stored binding lacks. */
function roleRefOf({ kind }: ResourceDefinition): object {
  return kind.endsWith("RoleBinding") ? { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "a" } } : {};
}
