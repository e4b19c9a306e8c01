import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RepairCounts } from "../../../../src/addresses/rpc/repair";
import { directoryKey } from "../../../../src/tenancy/directory-keys";
import { diskState } from "../../../../src/worker/routing/disk-state";
import { parsePrometheus } from "../../../support/values/prometheus";
import { get, send } from "../client";
import { type Answers, type FakeEnv, fakeEnv } from "../fake-env";

const IDENTITY = "poststarthook/start-kube-apiserver-identity-lease-controller";
const COLLECTION = "poststarthook/start-kube-apiserver-identity-lease-garbage-collector";
const REPAIR = "poststarthook/start-service-ip-repair-controllers";
const SERVICE_CIDR = "poststarthook/start-kubernetes-service-cidr-controller";
const HOOKS = [IDENTITY, COLLECTION, REPAIR, SERVICE_CIDR];
const NOT_REPAIRED = { sweeps: 0, isRepaired: false } as RepairCounts;

const passed = (names: readonly string[]): string => names.map((name) => `[+]${name} ok\n`).join("");
const answered = async (response: Response | Promise<Response>): Promise<[number, string]> => {
  const { status, text } = await Promise.resolve(response).then(async (it) => ({ status: it.status, text: await it.text() }));
  return [status, text];
};
const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
beforeEach(() => void [warn, error].forEach((spy) => spy.mockClear()));
afterEach(() => vi.useRealTimers());

/** Probes of one isolate. */
function isolate(answers: Answers = {}, vars = {}): { fake: FakeEnv; probe(path: string): Promise<[number, string]> } {
  const fake = fakeEnv(answers, vars);
  for (const name of ["default", "blue", "green"]) fake.directory.set(directoryKey(name), "{}");
  return { fake, probe: (path) => answered(send(`http://h${path}`, {}, fake.env)) };
}

/** A probe that waits for hooks, with all of its patience. */
async function patient<T>(answer: Promise<T>, ms = 5_000): Promise<T> {
  await vi.advanceTimersByTimeAsync(ms);
  return answer;
}

describe("health", () => {
  it.each(["/healthz", "/livez", "/readyz", "/livez/ping", ...HOOKS.map((name) => `/readyz/${name}`)])("%s: ok", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toMatch(/^text\/plain/);
    expect(await response.text()).toBe("ok");
  });

  it.each([
    ["healthz", ["ping", "config", ...HOOKS]],
    ["livez", ["ping", "config", ...HOOKS]],
    ["readyz", ["ping", "config", "coordinator", "scheduled-jobs", ...HOOKS]],
  ])("/%s?verbose: names the checks", async (probe, names) => {
    expect(await answered(get(`/${probe}?verbose`))).toEqual([200, `${passed(names)}${probe} check passed\n`]);
  });

  it("exclude: leaves a check out where it stands; a name of no check is told, and harms nothing", async () => {
    const [code, text] = await answered(get(`/readyz?verbose&exclude=coordinator&exclude=x&exclude=etcd&exclude=${REPAIR}`));
    expect(code).toBe(200);
    expect(text).toBe(
      `${passed(["ping", "config"])}[+]coordinator excluded: ok\n${passed(["scheduled-jobs", IDENTITY, COLLECTION])}[+]${REPAIR} excluded: ok\n${passed([SERVICE_CIDR])}` +
        'warn: some health checks cannot be excluded: no matches for "etcd","x"\nreadyz check passed\n',
    );
    expect(await answered(get("/readyz?exclude=etcd"))).toEqual([200, "ok"]);
  });

  it.each(["/livez/coordinator", "/livez/", "/livez/etcd", "/livez/poststarthook", `/livez/${IDENTITY}/`])("%s: 404", async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it("GET /: names the path of each check", async () => {
    const { paths } = await (await get("/")).json<{ paths: string[] }>();
    expect(paths).toEqual(expect.arrayContaining(["/metrics/slis", "/livez", `/livez/${REPAIR}`, "/readyz/coordinator", "/healthz/ping"]));
    expect(paths).not.toContain("/livez/coordinator");
  });

  it("gate APIServerIdentity off: its two hooks are no checks", async () => {
    const { probe } = isolate({}, { FEATURE_GATES: "APIServerIdentity=false" });
    expect(await probe("/livez?verbose")).toEqual([200, `${passed(["ping", "config", REPAIR, SERVICE_CIDR])}livez check passed\n`]);
    expect((await probe(`/livez/${IDENTITY}`))[0]).toBe(404);
  });
});

describe("a start that is not through", () => {
  beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) }));

  it.each(["healthz", "livez", "readyz"])(
    "/%s: fails until the first repairs have ended, then stays passed and asks nobody",
    async (type) => {
      let counts: RepairCounts | undefined = NOT_REPAIRED;
      const { fake, probe } = isolate({ other: (method) => (method === "repairCounts" ? counts : undefined) });
      const [code, text] = await patient(probe(`/${type}`));
      expect(code).toBe(500);
      expect(text).toContain(`[-]${REPAIR} failed: reason withheld\n[+]${SERVICE_CIDR} ok\n${type} check failed\n`);
      expect(await patient(probe(`/${type}/${REPAIR}`))).toEqual([500, "internal server error: not finished\n"]);
      expect(fake.calls.filter(({ method }) => method === "pokeFrom")).toHaveLength(2);
      counts = undefined;
      expect(await probe(`/${type}`)).toEqual([200, "ok"]);
      counts = NOT_REPAIRED;
      fake.calls.length = 0;
      expect(await probe(`/${type}`)).toEqual([200, "ok"]);
      expect(fake.calls).toEqual([]);
    },
  );

  it("first repairs within the patience of a probe: that probe waits for them", async () => {
    let looks = 0;
    const { probe } = isolate({ other: (method) => (method === "repairCounts" && ++looks < 5 ? NOT_REPAIRED : undefined) });
    expect(await patient(probe("/readyz"))).toEqual([200, "ok"]);
    expect(looks).toBe(5);
  });

  it("first repairs that take more than a minute: the check says so, and passes at their end", async () => {
    let counts: RepairCounts | undefined = NOT_REPAIRED;
    const { probe } = isolate({ other: (method) => (method === "repairCounts" ? counts : undefined) });
    await patient(probe("/livez"), 60_000);
    const text = "the first repair of ClusterIPs and node ports has not ended within 1m0s";
    expect(await patient(probe(`/livez/${REPAIR}`))).toEqual([500, `internal server error: ${text}\n`]);
    counts = undefined;
    expect(await probe(`/livez/${REPAIR}`)).toEqual([200, "ok"]);
  });

  it("a repair controller of the release before: has passed once everything was swept", async () => {
    const { probe } = isolate({ other: (method) => (method === "repairCounts" ? { sweeps: 1 } : undefined) });
    expect(await probe("/livez")).toEqual([200, "ok"]);
  });

  it.each([
    ["a deployment", {}, []],
    ["a deployment with a name", { HOST_NAME: "node-1" }, []],
    ["a server of one machine", { SERVER_STARTED_AT: "1" }, ["repairCounts", "topology"]],
  ])("a cluster that nobody has used, %s: hooks pass, with these calls to its objects", async (_, place, want) => {
    const { fake, probe } = isolate({}, place);
    for (const hook of [REPAIR, SERVICE_CIDR]) expect(await probe(`/clusters/never-used/readyz/${hook}`)).toEqual([200, "ok"]);
    expect(fake.calls.map(({ method }) => method)).toEqual(want);
  });

  it.each([
    ["a deployment", {}, 10, 200],
    ["a deployment with a name", { HOST_NAME: "node-1" }, 10, 200],
    ["a deployment", {}, 60, 500],
    ["a server of one machine without a name", { SERVER_STARTED_AT: "1" }, 10, 500],
  ])(
    "a repair object that has just started and was through before, %s, %o, %i minutes ago: answered by %i",
    async (_, place, minutes, want) => {
      const lastRuns = { cronMs: 0, repairMs: Date.now() - minutes * 60_000 };
      const counts = { ...NOT_REPAIRED, sweeps: 1, lastRuns };
      const { fake, probe } = isolate({ other: (method) => (method === "repairCounts" ? counts : undefined) }, place);
      expect((await patient(probe(`/livez/${REPAIR}`)))[0]).toBe(want);
      expect(fake.calls.some(({ method }) => method === "pokeFrom")).toBe(want === 500);
    },
  );

  it("store of Leases that does not answer: the identity hook passes after ten seconds", async () => {
    const { probe } = isolate({ get: () => new Promise(() => undefined) }, { HOST_NAME: "node-1" });
    expect(await patient(probe(`/livez/${IDENTITY}`))).toEqual([500, "internal server error: not finished\n"]);
    expect(await patient(probe(`/livez/${IDENTITY}`), 6_000)).toEqual([200, "ok"]);
  });

  it("a place with a name: its Lease is renewed before the identity hook passes, once", async () => {
    const { fake, probe } = isolate({}, { HOST_NAME: "node-1" });
    for (let i = 0; i < 2; i++) expect(await probe("/livez")).toEqual([200, "ok"]);
    const leases = fake.calls.filter(({ object }) => object.endsWith("/leases.coordination.k8s.io"));
    expect(leases.map(({ method }) => method)).toContain("write");
    expect(leases.filter(({ method }) => method === "write")).toHaveLength(1);
  });

  it("one cluster: does not speak for another's readiness, and none but default for liveness", async () => {
    const other: Answers["other"] = (method, object) => (method === "repairCounts" && object.includes("blue/") ? NOT_REPAIRED : undefined);
    const { probe } = isolate({ other });
    expect((await patient(probe("/clusters/blue/readyz")))[0]).toBe(500);
    expect((await probe("/clusters/green/readyz"))[0]).toBe(200);
    expect((await probe("/clusters/blue/livez"))[0]).toBe(200);
  });

  it("an unreachable Coordinator after the start: live, not ready, no reason in the answer", async () => {
    let isThere = true;
    const { probe } = isolate({ other: () => (isThere ? undefined : Promise.reject(new Error("secret"))) });
    expect(await probe("/livez")).toEqual([200, "ok"]);
    isThere = false;
    expect(await probe("/livez")).toEqual([200, "ok"]);
    expect(await probe("/readyz")).toEqual([
      500,
      `${passed(["ping", "config"])}[-]coordinator failed: reason withheld\n${passed(["scheduled-jobs", ...HOOKS])}readyz check failed\n`,
    ]);
    expect((await probe("/readyz/coordinator"))[1]).not.toContain("secret");
  });

  it("a disk that took no data: live, not ready until a write succeeds; the check names the disk", async () => {
    vi.useFakeTimers({ now: 0 });
    const { fake, probe } = isolate();
    expect((await probe("/readyz"))[0]).toBe(200);
    diskState.note("the disk is full", 0, "a write", "SQLITE_FULL");
    const put = vi.spyOn(fake.env.DIRECTORY, "put").mockRejectedValue(new Error("KV PUT failed: 500 Internal Server Error"));
    vi.setSystemTime(10_000);
    expect(await probe("/livez")).toEqual([200, "ok"]);
    for (let i = 0; i < 3; i++) expect((await probe("/readyz"))[1]).toContain("[-]coordinator failed: reason withheld\n");
    expect(await probe("/readyz/coordinator")).toEqual([500, "internal server error: the disk is full\n"]);
    expect(put, "asked once a second").toHaveBeenCalledTimes(1);
    put.mockRestore();
    vi.setSystemTime(11_000);
    expect(await probe("/readyz")).toEqual([200, "ok"]);
    expect(diskState.fault).toBeUndefined();
  });

  it("an unreachable Coordinator at the start: neither live nor ready until it has answered", async () => {
    let isThere = false;
    const { probe } = isolate({ other: (method) => (method !== "topology" || isThere ? undefined : Promise.reject(new Error("secret"))) });
    const [code, text] = await patient(probe("/livez"));
    expect([code, text.includes(`[-]${SERVICE_CIDR} failed`)]).toEqual([500, true]);
    isThere = true;
    expect(await probe("/livez")).toEqual([200, "ok"]);
  });
});

describe("late jobs", () => {
  const MINUTE_MS = 60_000;
  const START = Date.UTC(2026, 0, 1);
  beforeEach(() => void vi.useFakeTimers({ now: START }));

  /** An isolate whose cluster has had a write each four minutes for some time. */
  async function written(
    minutes: number,
    answers: Answers,
    vars = {},
  ): Promise<{ fake: FakeEnv; probe(path: string): Promise<[number, string]> }> {
    const cluster = `late-${String(++clusters)}`;
    const { fake, probe } = isolate(answers, vars);
    fake.shards.whereabouts = BUSY;
    const write = () =>
      send(`http://h/clusters/${cluster}/api/v1/namespaces/x/services`, { method: "POST", body: SERVICE, headers: JSON_BODY }, fake.env);
    for (let minute = 0; minute < minutes; minute += 4) {
      expect((await write()).status).toBe(201);
      await vi.advanceTimersByTimeAsync(4 * MINUTE_MS);
    }
    return { fake, probe: (path) => probe(`/clusters/${cluster}${path}`) };
  }
  let clusters = 0;
  const JSON_BODY = { "Content-Type": "application/json" };
  const SERVICE = JSON.stringify({ metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
  const ran = (cronMs: number, repairMs: number): Answers => ({
    other: (method) => (method === "repairCounts" ? { sweeps: 1, isRepaired: true, lastRuns: { cronMs, repairMs } } : undefined),
  });
  const LATE = "/readyz/scheduled-jobs";
  const BUSY = { minute: true, hour: true, waitMs: { maintain: 0, leases: 0, compact: 0 } };

  it("cron and repair that were not there for half an hour of writes: not ready, and live", async () => {
    const { probe } = await written(32, ran(0, START));
    const [code, text] = await probe("/readyz");
    expect([code, text.includes("[-]scheduled-jobs failed: reason withheld\n")]).toEqual([500, true]);
    expect(await probe(LATE)).toEqual([
      500,
      "internal server error: late: cron, last at no time; repair, last at 2026-01-01T00:00:00.000Z\n",
    ]);
    for (const path of ["/livez", "/healthz", "/readyz?exclude=scheduled-jobs"]) expect(await probe(path)).toEqual([200, "ok"]);
    expect((await probe("/livez/scheduled-jobs"))[0]).toBe(404);
  });

  it.each<[string, number, Answers]>([
    ["jobs that ran of late", 32, ran(START + 10 * MINUTE_MS, START + 10 * MINUTE_MS)],
    ["writes for less than half an hour", 28, ran(0, 0)],
    ["an object of the release before, which does not tell", 32, {}],
  ])("%s: ready", async (_, minutes, answers) => {
    const { probe } = await written(minutes, answers);
    expect(await probe(LATE)).toEqual([200, "ok"]);
  });

  it("writes that ended, or a machine that slept: ready, whatever ran", async () => {
    const { probe } = await written(32, ran(0, 0));
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
    expect(await probe(LATE)).toEqual([200, "ok"]);
  });

  it("writes that changed nothing, so that cron has no note of the cluster: ready", async () => {
    const { fake, probe } = await written(32, ran(0, 0));
    fake.shards.whereabouts = { ...BUSY, minute: false };
    expect(await probe(LATE)).toEqual([200, "ok"]);
  });

  it("a shard that does not answer: ready, since nobody knows", async () => {
    const { fake, probe } = await written(32, ran(0, 0));
    fake.shards.of = () => ({ whereabouts: () => Promise.reject(new Error("no")) }) as never;
    expect(await probe(LATE)).toEqual([200, "ok"]);
  });

  it.each([
    ["an hour", 60, 200],
    ["half a minute", 0.5, 500],
  ])("more clusters than its shard visits in a minute, a round of %s (%d minutes): is answered by %i", async (_, minutes, want) => {
    const { fake, probe } = await written(32, ran(0, 0));
    fake.shards.whereabouts = { ...BUSY, waitMs: { ...BUSY.waitMs, maintain: minutes * MINUTE_MS } };
    expect((await probe(LATE))[0]).toBe(want);
  });

  it("a late job that runs: ready again a minute later; then objects are asked each ten minutes", async () => {
    const lastRuns = { cronMs: 0, repairMs: 0 };
    const { fake, probe } = await written(32, {
      other: (method) => (method === "repairCounts" ? { sweeps: 1, isRepaired: true, lastRuns } : undefined),
    });
    expect((await probe(LATE))[0]).toBe(500);
    lastRuns.cronMs = lastRuns.repairMs = Date.now();
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(await probe(LATE)).toEqual([200, "ok"]);
    fake.calls.length = 0;
    expect(await probe(LATE)).toEqual([200, "ok"]);
    expect(fake.calls).toEqual([]);
  });

  const goneSince = (renewTime: string): Answers => ({
    fetch: () => {
      const metadata = { name: "a", namespace: "kube-system", labels: { "apiserver.kubernetes.io/identity": "kube-apiserver" } };
      return new Response(JSON.stringify({ items: [{ metadata, spec: { renewTime, leaseDurationSeconds: 10 } }] }));
    },
  });
  const each = (seconds: number) => ({ APISERVER_LEASE_COLLECT_SECONDS: String(seconds) });

  it("an identity Lease that ran out and was not collected in two periods and half an hour of writes: not ready", async () => {
    const answers = goneSince("2025-12-31T23:58:50.000000Z");
    expect(await (await written(36, answers, each(60))).probe(LATE)).toEqual([
      500,
      "internal server error: late: collection of identity Leases, due at 2026-01-01T00:02:00.000Z\n",
    ]);
    expect(await (await written(36, answers, each(3_600))).probe(LATE)).toEqual([200, "ok"]);
  });

  it("an identity Lease that ran out while the server was off, or the gate: the two periods begin with the writes", async () => {
    const { probe } = await written(36, goneSince("2025-06-01T00:00:00.000000Z"), each(600));
    expect(await probe(LATE)).toEqual([200, "ok"]);
  });
});

describe("living instances", () => {
  const lease = (name: string, spec: object) => ({
    metadata: {
      name,
      namespace: "kube-system",
      labels: { "apiserver.kubernetes.io/identity": "kube-apiserver", "kubernetes.io/hostname": `host-${name}` },
    },
    spec,
  });
  const renewTime = "2026-01-01T00:00:00.000000Z";
  const [living, gone] = [
    { holderIdentity: "me\n[-]x", renewTime, leaseDurationSeconds: 1e9 },
    { renewTime, leaseDurationSeconds: 1 },
  ];
  const items = [lease("b", living), lease("a", living), lease("c", gone)];
  const fetch: Answers["fetch"] = () => new Response(JSON.stringify({ items }), { headers: { "Content-Type": "application/json" } });
  const line = (name: string): string =>
    `info: serving instance ${name} host="host-${name}" holder="me\\n[-]x" renewed="2026-01-01T00:00:00.000000Z"\n`;

  it("/readyz?verbose: one line each behind the checks, in the order of their names; no other answer has them", async () => {
    const { probe } = isolate({ fetch });
    const checks = passed(["ping", "config", "coordinator", "scheduled-jobs", ...HOOKS]);
    expect(await probe("/readyz?verbose")).toEqual([200, `${checks}${line("a")}${line("b")}readyz check passed\n`]);
    expect((await probe("/livez?verbose"))[1]).not.toContain("instance");
    expect(await probe("/readyz")).toEqual([200, "ok"]);
  });

  it("/readyz?verbose again and again: asks the Coordinator and the store of Leases once a second", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { fake, probe } = isolate({ fetch });
    await probe("/readyz?verbose");
    const asked = (): number => fake.calls.filter(({ method }) => method === "topology" || method === "fetch").length;
    const before = asked();
    for (let i = 0; i < 9; i++) {
      vi.setSystemTime(Date.now() + 100);
      expect((await probe("/readyz?verbose"))[0]).toBe(200);
    }
    expect(asked()).toBe(before);
    vi.setSystemTime(Date.now() + 100);
    await probe("/readyz?verbose");
    expect(asked()).toBe(before + 2);
  });

  it("a store of Leases that does not answer: a line says so, and readiness is as it is", async () => {
    const { probe } = isolate({ fetch: () => Promise.reject(new Error("secret")) });
    const [code, text] = await probe("/readyz?verbose");
    expect([code, text.includes("info: serving instances are not known\nreadyz check passed\n")]).toEqual([200, true]);
  });

  it("gate off: no lines", async () => {
    const { probe } = isolate({ fetch }, { FEATURE_GATES: "APIServerIdentity=false" });
    expect((await probe("/readyz?verbose"))[1]).not.toContain("info:");
  });
});

describe("/metrics/slis", () => {
  const series = async (path: string): Promise<string[]> =>
    [...parsePrometheus((await answered(get(path)))[1]).values()].flatMap(({ samples }) =>
      samples.map(({ name, labels, value }) => `${name} ${JSON.stringify(labels)} ${String(value)}`),
    );

  it("a check: has its series from its first run, which is of all checks of a path", async () => {
    const path = "/clusters/slis";
    expect(await series(`${path}/metrics/slis`)).toEqual([]);
    const answers: Answers = { other: (method) => (method === "topology" ? Promise.reject(new Error("no")) : undefined) };
    const { env } = fakeEnv();
    await send(`http://h${path}/readyz/coordinator`, {}, env);
    await send(`http://h${path}/readyz?exclude=config`, {}, env);
    vi.useFakeTimers();
    await patient(get(`${path}/readyz?exclude=config&exclude=${SERVICE_CIDR}`, {}, answers));
    const all = await series(`${path}/metrics/slis`);
    expect(all.filter((line) => line.includes("coordinator"))).toEqual([
      'kubernetes_healthcheck {"name":"coordinator","type":"readyz","cluster":"slis"} 0',
      'kubernetes_healthchecks_total {"name":"coordinator","status":"success","type":"readyz","cluster":"slis"} 1',
      'kubernetes_healthchecks_total {"name":"coordinator","status":"error","type":"readyz","cluster":"slis"} 1',
    ]);
    expect(all).toContain(`kubernetes_healthcheck {"name":"${IDENTITY}","type":"readyz","cluster":"slis"} 1`);
    expect(all.filter((line) => line.includes('"config"'))).toEqual([]);
  });

  it("/metrics: has none of them", async () => {
    await get("/livez");
    expect((await answered(get("/metrics")))[1]).not.toContain("kubernetes_healthcheck");
    expect((await answered(get("/metrics/slis")))[1]).toContain('kubernetes_healthcheck{name="ping",type="livez"} 1');
  });
});
