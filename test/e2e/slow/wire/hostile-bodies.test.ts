/**
 * How long the thread works on one body in one turn, while every other client waits. The bodies are the most hostile that each decoder takes, over each
 * list and map of each kind, and those whose form is hostile, for each kind. A plain run tries one of sixteen, by the seed of the commit; a run before a
 * release tries all. What is measured is the work of decoder and preparation in Node, not a request on its way. The measure is the machine's own: parsing 3 MB of JSON, which takes 100 ms and more on a laptop.
 */
import { expect, it } from "vitest";
import { seedOfCommit } from "../../../../scripts/dev/testing/seed-of-commit";
import { parseApply } from "../../../../src/api/fields/parse-apply";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import { definitions } from "../../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import type { WriteOptions, WriteRequest } from "../../../../src/api/rpc/store";
import { prepareWrite } from "../../../../src/api/store/write/prepare";
import type { PrepareFacts } from "../../../../src/api/store/write/prepared";
import { decodeBody } from "../../../../src/worker/http/read/decode-body";
import { isRelease } from "../../../support/server/is-release";
import { BODY_KINDS, hostileBodies, type HostileBody, hostileForms } from "../../../support/values/hostile-bodies";
import { type HostilePatch, hostilePatches } from "../../../support/values/hostile-patches";

/** The longest turn, in such parses: those of 67,000 members, each with an owner, take four to five, with the collector's threads. */
const TURN_MAX = 8;
/** One body of so many in a plain run, by the seed of the commit; before a release, all of them. */
const SAMPLE = isRelease ? 1 : 16;
const PATIENCE_MS = 1_800_000;
const SHOWN = 40;
/** A turn that seems too long is measured again: other work of the machine lengthens it, and nothing shortens it. */
const ATTEMPTS = 3;
const NOW_MS = 1_800_000_000_000;

interface Turn {
  what: string;
  ms: number;
}

/** CPU time of the process: the machine may have other work. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function leastOf(attempts: number, enoughMs: number, work: () => unknown): number {
  let least = Infinity;
  for (let i = 0; i < attempts && least > enoughMs; i++) {
    const begun = cpuMs();
    work();
    least = Math.min(least, cpuMs() - begun);
  }
  return least;
}

function parseOfThreeMegabytes(): number {
  const text = `[${"{},".repeat(1_000_000)}{}]`;
  return leastOf(5, 0, () => JSON.parse(text) as unknown);
}

function* turnsOf(body: HostileBody, enoughMs: number): Generator<Turn> {
  const { expected, type, bytes, name } = body;
  const timed = (what: string, work: () => unknown): Turn => ({ what: `${what}: ${name}`, ms: leastOf(ATTEMPTS, enoughMs, work) });
  yield timed("decode", () => decodeBody(bytes, type, expected, "Strict"));
  const definition = definitions.find(({ kind, group }) => kind === expected.kind && group === expected.group);
  // What comes after the decoder is the same for all encodings.
  if (!definition || type === "yaml") return;
  if (type === "json") {
    const text = new TextDecoder().decode(bytes);
    yield timed("read apply", () => parseApply(text, "Strict"));
    for (const patchType of ["merge", "strategic"] as const) {
      yield timed(`${patchType} patch`, () => written(definition, { ...ofObject(definition), verb: "patch", patchType, patch: text }));
    }
  }
  const decoded = decodeBody(bytes, type, expected, "Ignore");
  if (!decoded.ok) return;
  const object = JSON.stringify(definition.representationOf?.toStored(decoded.value.object) ?? decoded.value.object);
  yield timed("create", () => written(definition, { verb: "create", namespace: "default", object, options: optionsOf(definition) }));
  for (const subresource of ["", ...definition.subresources] as const) {
    yield timed(`update ${subresource}`, () => written(definition, { ...ofObject(definition), verb: "update", subresource, object }));
  }
  const apiVersion = [definition.group, definition.versions[0]].filter((part) => part !== "").join("/");
  const config = parseApply(JSON.stringify({ apiVersion, kind: definition.kind, ...decoded.value.object }), "Ignore");
  if (!config.ok) return;
  const patch = JSON.stringify(config.value.config);
  yield timed("apply", () => written(definition, { ...ofObject(definition), verb: "patch", patchType: "apply", patch }));
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

function turnOfPatch({ name, kind, patchType, text, stored }: HostilePatch, enoughMs: number): Turn {
  const definition = definitions.find((one) => one.kind === kind);
  if (!definition) throw new Error(`nobody serves ${kind}`);
  const target = { ...ofObject(definition), options: { ...optionsOf(definition), fieldValidation: "Ignore" } } as const;
  const request: WriteRequest = patchType
    ? { ...target, verb: "patch", patchType, patch: text }
    : { ...target, verb: "update", object: text };
  return { what: `${patchType ?? "update"}: ${name}`, ms: leastOf(ATTEMPTS, enoughMs, () => written(definition, request, stored)) };
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

function* allBodies(): Generator<HostileBody> {
  for (const kind of BODY_KINDS) yield* hostileForms(kind);
  yield* hostileBodies();
}

it("the most hostile bodies of each kind: no turn is longer than some parses of 3 MB of JSON", { timeout: PATIENCE_MS }, () => {
  const unitMs = parseOfThreeMegabytes();
  const turns: Turn[] = [];
  let number = seedOfCommit() % SAMPLE;
  for (const body of allBodies()) {
    if (number++ % SAMPLE === 0) for (const turn of turnsOf(body, TURN_MAX * unitMs)) turns.push(turn);
  }
  for (const patch of hostilePatches()) turns.push(turnOfPatch(patch, TURN_MAX * unitMs));
  turns.sort((a, b) => b.ms - a.ms);
  const lines = turns
    .slice(0, SHOWN)
    .map(({ what, ms }) => `${(ms / unitMs).toFixed(1).padStart(5)}  ${ms.toFixed(0).padStart(5)} ms  ${what}`);
  console.log(`${turns.length} turns, in parses of 3 MB of JSON (${unitMs.toFixed(0)} ms):\n${lines.join("\n")}`);
  expect(turns.filter(({ ms }) => ms > TURN_MAX * unitMs)).toEqual([]);
});
