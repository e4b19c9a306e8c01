/**
 * The most hostile bodies as whole requests to a server: decoded, judged, stored or refused, and answered. What each costs the server's process is
 * measured in its CPU time, since the machine may have other work, and judged in parses of 3 MB of JSON. A request has several turns, so no other client
 * waits as long; how long one waited is printed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { cpuMs } from "../../../../scripts/dev/bench/cpu";
import { seedOfCommit } from "../../../../scripts/dev/testing/seed-of-commit";
import { definitions } from "../../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import type { BodyType } from "../../../../src/worker/http/read/content-type";
import { Api, APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from "../../../support/clients/api";
import { isRelease } from "../../../support/server/is-release";
import { serverForTests } from "../../../support/server/server-for-tests";
import { BODY_KINDS, hostileBodies, type HostileBody } from "../../../support/values/hostile-bodies";
import { hostilePatches } from "../../../support/values/hostile-patches";

/** CPU of the longest request, in parses of 3 MB of JSON. The longest measured takes three. */
const REQUEST_MAX = 6;
/** Bodies of each kind and encoding, by the seed of the commit. */
const OF_EACH = isRelease ? 4 : 1;
const PATIENCE_MS = 1_800_000;
const SHOWN = 40;
const ATTEMPTS = 3;
/** Between two requests of the other client. */
const REST_MS = 10;

const TYPES: Readonly<Record<BodyType, string>> = {
  json: "application/json",
  yaml: "application/yaml",
  protobuf: "application/vnd.kubernetes.protobuf",
};
const PATCHES = { json: JSON_PATCH, merge: MERGE_PATCH, strategic: STRATEGIC_PATCH, apply: APPLY_PATCH };

interface Row {
  what: string;
  method: string;
  path: string;
  type: string;
  body(): string | Uint8Array;
}

interface Measured {
  what: string;
  code: number;
  parses: number;
  /** the longest that the other client waited */
  waitMs: number;
}

const server = serverForTests();
const api = new Api(() => server.url);

function collectionOf({ group, versions, namespaced, resource }: ResourceDefinition): string {
  const root = group === "" ? "/api" : `/apis/${group}`;
  return `${root}/${versions[0] ?? ""}/${namespaced ? "namespaces/default/" : ""}${resource}`;
}

function* rows(): Generator<Row> {
  const bodies = [...hostileBodies()];
  const seed = seedOfCommit();
  for (const expected of BODY_KINDS) {
    const definition = definitions.find(({ kind, group }) => kind === expected.kind && group === expected.group);
    if (!definition) continue;
    for (const type of ["json", "yaml", "protobuf"] as const) {
      const own = bodies.filter((body) => body.expected === expected && body.type === type);
      for (const body of picked(own, seed)) yield created(definition, body);
    }
  }
  const labels = bodies.find(({ name }) => name === 'ConfigMap metadata.labels{} = "" as json');
  if (!labels) throw new Error("no body of labels");
  for (const patchType of ["merge", "strategic", "apply"] as const) {
    const path = "/api/v1/namespaces/default/configmaps/there?fieldManager=m";
    yield { what: `${patchType} patch: ${labels.name}`, method: "PATCH", path, type: PATCHES[patchType], body: () => labels.bytes() };
  }
  for (const { name, kind, patchType, text, stored } of hostilePatches()) {
    // Those of a stored object need one that no request has made.
    if (stored !== undefined || kind === "PodTemplate") continue;
    const path = `/api/v1/namespaces/default/${kind === "Service" ? "services" : "configmaps"}/there`;
    const type = patchType ? PATCHES[patchType] : TYPES.json;
    yield { what: `${patchType ?? "update"}: ${name}`, method: patchType ? "PATCH" : "PUT", path, type, body: () => text };
  }
}

function picked(bodies: readonly HostileBody[], seed: number): HostileBody[] {
  const count = Math.min(OF_EACH, bodies.length);
  return Array.from({ length: count }, (_, i) => bodies[(seed + Math.floor((i * bodies.length) / count)) % bodies.length]).filter(
    (body) => body !== undefined,
  );
}

function created(definition: ResourceDefinition, body: HostileBody): Row {
  const path = `${collectionOf(definition)}?dryRun=All&fieldValidation=Strict`;
  return { what: `create: ${body.name}`, method: "POST", path, type: TYPES[body.type], body: () => body.bytes() };
}

function serverMs(): number {
  return cpuMs(server.runtimePid) ?? 0;
}

function parseMs(): number {
  const text = `[${"{},".repeat(1_000_000)}{}]`;
  const times = Array.from({ length: ATTEMPTS }, () => {
    const { user, system } = process.cpuUsage();
    JSON.parse(text);
    const after = process.cpuUsage();
    return (after.user + after.system - user - system) / 1_000;
  });
  return Math.min(...times);
}

/** Another client, which reads one object again and again until `isOver`. The longest that it waited. */
async function otherClient(isOver: () => boolean): Promise<number> {
  let longest = 0;
  while (!isOver()) {
    const begun = performance.now();
    const { code } = await api.get("/api/v1/namespaces/default/configmaps/there");
    expect(code).toBe(200);
    longest = Math.max(longest, performance.now() - begun);
    await sleep(REST_MS);
  }
  return longest;
}

async function once({ what, method, path, type, body }: Row, unitMs: number): Promise<Measured> {
  const bytes = body();
  let isOver = false;
  const other = otherClient(() => isOver);
  const begun = serverMs();
  const { code } = await api.send(method, path, { body: bytes, headers: { "Content-Type": type } }).finally(() => (isOver = true));
  const waitMs = await other;
  return { what, code, parses: (serverMs() - begun) / unitMs, waitMs };
}

async function measured(row: Row, unitMs: number): Promise<Measured> {
  let best = await once(row, unitMs);
  for (let i = 1; i < ATTEMPTS && best.parses > REQUEST_MAX / 2; i++) {
    const again = await once(row, Math.max(unitMs, parseMs()));
    if (again.parses < best.parses) best = again;
  }
  return best;
}

beforeAll(async () => {
  await api.must("POST", "/api/v1/namespaces/default/configmaps", { body: { metadata: { name: "there" } } });
  await api.must("POST", "/api/v1/namespaces/default/services", { body: { metadata: { name: "there" }, spec: { ports: [{ port: 80 }] } } });
});

it(
  "hostile bodies as requests: each is answered with a 2xx or 4xx, and costs the server some parses of 3 MB of JSON",
  async () => {
    const unitMs = parseMs();
    const done: Measured[] = [];
    for (const row of rows()) done.push(await measured(row, unitMs));
    done.sort((a, b) => b.parses - a.parses);
    const lines = done.slice(0, SHOWN).map(({ what, code, parses, waitMs }) => {
      return `${parses.toFixed(1).padStart(5)}  ${waitMs.toFixed(0).padStart(5)} ms  ${code}  ${what}`;
    });
    console.log(
      `${done.length} requests, in parses of 3 MB of JSON (${unitMs.toFixed(0)} ms), and how long a GET waited:\n${lines.join("\n")}`,
    );
    expect(done.filter(({ code }) => code < 200 || code >= 500)).toEqual([]);
    expect(done.filter(({ parses }) => parses > REQUEST_MAX)).toEqual([]);
  },
  PATIENCE_MS,
);
