/** The Lease API as clients meet it: through the whole Worker and the real store. Upstream's answers are in the titles. */
import { createExecutionContext, env } from "cloudflare:test";
import { expect, it } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import type { Lease } from "../../../src/api/meta/kubernetes";
import worker from "../../../src/worker/index";

const bindings = env as unknown as Env;
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const TABLE = { Accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };

interface Answer extends Lease {
  code: number;
  message?: string;
  reason?: string;
  [member: string]: unknown;
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return worker.fetch(new Request(`http://h/clusters/lease-api${path}`, init), bindings, createExecutionContext());
}

async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const init = { method, headers: { "Content-Type": "application/json", ...headers }, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await ask(path, init);
  const answer: object = await response.json();
  return { ...answer, code: response.status };
}

const aLease = (name: string, spec: object = {}, metadata: object = {}): object => ({ metadata: { name, ...metadata }, spec });

const invalid = (fault: string): object => ({
  code: 422,
  reason: "Invalid",
  message: `Lease.coordination.k8s.io "bad" is invalid: ${fault}`,
});
const unreadable = (fault: string): object => ({ code: 400, reason: "BadRequest", message: expect.stringContaining(fault) as string });
const DURATION = "spec.leaseDurationSeconds: Invalid value";
const PATTERN = "2006-01-02T15:04:05.000000Z07:00";

it.each<[string, object, object]>([
  ["duration 0", { leaseDurationSeconds: 0 }, invalid(`${DURATION}: 0: must be greater than 0`)],
  ["negative duration", { leaseDurationSeconds: -40 }, invalid(`${DURATION}: -40: must be greater than 0`)],
  [
    "bad duration and transitions",
    { leaseDurationSeconds: 0, leaseTransitions: -1 },
    invalid(`[${DURATION}: 0: must be greater than 0, spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]`),
  ],
  [
    "time without zone",
    { renewTime: "2026-01-02T03:04:05.678901" },
    unreadable(`parsing time "2026-01-02T03:04:05.678901" as "${PATTERN}"`),
  ],
  ["time with the three digits of toISOString", { renewTime: "2026-01-02T03:04:05.678Z" }, unreadable('cannot parse ".678Z" as ".000000"')],
  ["time without digits", { acquireTime: "2026-01-02T03:04:05Z" }, unreadable(`parsing time "2026-01-02T03:04:05Z" as "${PATTERN}"`)],
  [
    "duration that is no int32",
    { leaseDurationSeconds: 2 ** 31 },
    unreadable("cannot unmarshal number 2147483648 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32"),
  ],
  ["holder that is a number", { holderIdentity: 1 }, unreadable("of type string")],
])("Lease, %s: refused when it is made and when it is renewed, and nothing is stored", async (_, spec, want) => {
  expect(await send("POST", LEASES, aLease("bad", spec))).toMatchObject(want);
  expect((await send("GET", `${LEASES}/bad`)).code).toBe(404);
  const made = await send("POST", LEASES, aLease("bad", { holderIdentity: "a", leaseDurationSeconds: 40 }));
  const renewal = { metadata: made.metadata, spec: { ...made.spec, ...spec } };
  expect(await send("PUT", `${LEASES}/bad`, renewal)).toMatchObject(want);
  expect(await send("GET", `${LEASES}/bad`)).toEqual({ ...made, code: 200 });
  await send("DELETE", `${LEASES}/bad`);
});

it("Lease without a holder, and one whose time goes back: valid, as upstream", async () => {
  const made = await send("POST", LEASES, aLease("nobody", { leaseDurationSeconds: 40, renewTime: "2036-01-01T00:00:00.000000Z" }));
  expect(made.code).toBe(201);
  expect(made.spec).not.toHaveProperty("holderIdentity");
  const back = { metadata: made.metadata, spec: { ...made.spec, renewTime: "1999-01-01T00:00:00.000000Z" } };
  expect(await send("PUT", `${LEASES}/nobody`, back)).toMatchObject({ code: 200, spec: { renewTime: "1999-01-01T00:00:00.000000Z" } });
});

it("what the gate CoordinatedLeaderElection and the API of storage versions would add: dropped, and not served", async () => {
  const spec = { holderIdentity: "a", strategy: "OldestEmulationVersion", preferredHolder: "b" };
  expect(await send("POST", LEASES, aLease("coordinated", spec))).toMatchObject({ code: 201, spec: { holderIdentity: "a" } });
  expect((await send("GET", `${LEASES}/coordinated`)).spec).toEqual({ holderIdentity: "a" });
  const candidates = ["v1alpha2", "v1beta1"].map((version) => `/apis/coordination.k8s.io/${version}/leasecandidates`);
  for (const path of [...candidates, "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions"])
    expect((await ask(path)).status, path).toBe(404);
  const { groups } = await (await ask("/apis")).json<{ groups: { name: string; versions: { version: string }[] }[] }>();
  expect(groups.map(({ name }) => name)).not.toContain("internal.apiserver.k8s.io");
  expect(groups.find(({ name }) => name === "coordination.k8s.io")?.versions.map(({ version }) => version)).toEqual(["v1"]);
});

it("Lease: holds a year-1 time, any offset in UTC, an empty holder and zero transitions; has no generation", async () => {
  const spec = {
    holderIdentity: "",
    leaseDurationSeconds: 1,
    leaseTransitions: 0,
    acquireTime: "0001-01-01T00:00:02.000005Z",
    renewTime: "2026-01-02T03:04:05.678901+05:30",
  };
  const created = await send("POST", LEASES, aLease("times", spec));
  expect(created.code).toBe(201);
  const { spec: stored, metadata } = await send("GET", `${LEASES}/times`);
  expect(stored).toEqual({ ...spec, renewTime: "2026-01-01T21:34:05.678901Z" });
  expect(metadata).not.toHaveProperty("generation");
  expect(metadata?.resourceVersion).toMatch(/^[1-9]\d*$/);
  const table = await send("GET", `${LEASES}/times`, undefined, TABLE);
  expect(table.columnDefinitions).toMatchObject([{ name: "Name" }, { name: "Holder" }, { name: "Age" }]);
  expect(table.rows).toMatchObject([{ cells: ["times", "", expect.any(String)] }]);
});

it("Lease without a spec: valid; its zero time stands as null", async () => {
  expect(await send("POST", LEASES, { metadata: { name: "bare" } })).toMatchObject({ code: 201, spec: {} });
  const zero = await send("POST", LEASES, aLease("zero", { renewTime: "0001-01-01T00:00:00.000000Z" }));
  expect([zero.code, zero.spec]).toEqual([201, { renewTime: null }]);
  expect((await send("GET", `${LEASES}/zero`)).spec).toEqual({ renewTime: null });
});

it("PUT: creates without a uid; with the uid of a deleted Lease it is a conflict", async () => {
  const made = await send("PUT", `${LEASES}/put`, aLease("put", { holderIdentity: "a" }));
  expect(made.code).toBe(201);
  expect((await send("DELETE", `${LEASES}/put`)).code).toBe(200);
  const stale = await send("PUT", `${LEASES}/put`, { metadata: made.metadata, spec: made.spec });
  expect([stale.code, stale.reason]).toEqual([409, "Conflict"]);
  expect(stale.message).toContain("StorageError: invalid object");
  expect(stale.message).toContain(`Precondition failed: UID in precondition: ${made.metadata?.uid ?? ""}, UID in object meta: `);
  expect((await send("GET", `${LEASES}/put`)).code).toBe(404);
});

it("PUT of a Lease that exists: needs its resourceVersion; an old one is a conflict; without a change nothing is stored", async () => {
  const made = await send("POST", LEASES, aLease("held", { holderIdentity: "a" }));
  const blind = await send("PUT", `${LEASES}/held`, aLease("held", { holderIdentity: "b" }));
  expect(blind.code).toBe(422);
  expect(blind.message).toBe(
    'leases.coordination.k8s.io "held" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  );
  const same = await send("PUT", `${LEASES}/held`, { metadata: made.metadata, spec: made.spec });
  expect([same.code, same.metadata?.resourceVersion]).toEqual([200, made.metadata?.resourceVersion]);
  const renewed = await send("PUT", `${LEASES}/held`, { metadata: made.metadata, spec: { holderIdentity: "b" } });
  expect(renewed.code).toBe(200);
  const late = await send("PUT", `${LEASES}/held`, { metadata: made.metadata, spec: { holderIdentity: "c" } });
  expect(late).toMatchObject({
    code: 409,
    message:
      'Operation cannot be fulfilled on leases.coordination.k8s.io "held": the object has been modified; please apply your changes to the latest version and try again',
  });
  const patched = await send(
    "PATCH",
    `${LEASES}/held`,
    { spec: { leaseTransitions: 7 } },
    { "Content-Type": "application/merge-patch+json" },
  );
  expect(patched).toMatchObject({ code: 200, spec: { holderIdentity: "b", leaseTransitions: 7 } });
  expect(Number(patched.metadata?.resourceVersion)).toBeGreaterThan(Number(renewed.metadata?.resourceVersion));
});

it("update with bad duration, bad transitions and no resourceVersion: refused as upstream, for the version first", async () => {
  await send("POST", LEASES, aLease("three"));
  const answer = await send("PUT", `${LEASES}/three`, aLease("three", { leaseDurationSeconds: -1, leaseTransitions: -1 }));
  expect([answer.code, answer.message]).toEqual([
    422,
    'leases.coordination.k8s.io "three" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  ]);
});

it("compare-and-swap, 24 writers that all count up: every success is one step, no step is lost", async () => {
  await send("POST", LEASES, aLease("swapped", { leaseTransitions: 0 }));
  const WRITERS = 24;
  const holders: string[] = [];
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let done = false; !done;) {
        const { metadata, spec } = await send("GET", `${LEASES}/swapped`);
        const transitions = spec?.leaseTransitions ?? 0;
        const next = { metadata, spec: { holderIdentity: `w${String(writer)}`, leaseTransitions: transitions + 1 } };
        const { code } = await send("PUT", `${LEASES}/swapped`, next);
        expect([200, 409]).toContain(code);
        done = code === 200;
        if (done) holders[transitions] = `w${String(writer)}`;
      }
    }),
  );
  expect((await send("GET", `${LEASES}/swapped`)).spec).toMatchObject({ leaseTransitions: WRITERS, holderIdentity: holders[WRITERS - 1] });
  expect(new Set(holders).size).toBe(WRITERS);
});
