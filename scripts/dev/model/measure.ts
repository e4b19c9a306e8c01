/** What operations cost in a local runtime: the whole Worker with access control, real objects, and all controllers. */
import { rfc3339Micros } from "../../../src/api/meta/time";
import { event, heartbeat, PATHS, pod, ready, service } from "../../../test/support/economy/requests";
import { type Cost, CountedRuntime } from "../bench/counted-runtime";
import { cpuMs } from "../bench/cpu";
import { residentMiB } from "../bench/memory";

export interface MeasuredOperation extends Cost {
  what: string;
  /** calls of objects that wait for one another before the answer; undefined: not measured */
  hops: number | undefined;
  /** that were called, those behind the answer included; where many are done at once, for all of them together */
  objects: number;
  /** mean, from the request to the answer; where many are done at once, to the last answer */
  answerMs: number;
  /** of the runtime, with everything that follows the answer, back to back; undefined where the system does not show it */
  cpuMs: number | undefined;
}

export interface Measurement {
  operations: MeasuredOperation[];
  /** resident memory of the runtime after all of them; undefined where the system does not show it */
  memoryMiB: number | undefined;
}

interface Step {
  what: string;
  /** `i` differs in each call. */
  work: (i: number) => Promise<unknown>;
  /** has to be there before `work(i)`, and is not measured; done for all of them first */
  before?: (i: number) => Promise<unknown>;
  /** is done right before each `work(i)`, and has ended when that begins; not measured, so the CPU of `work` is not known */
  beforeEach?: (i: number) => Promise<unknown>;
  /** `work` does so many at once */
  many?: number;
}

/** Each of these has the time to end before the next one begins. */
const COUNTED = 3;
const TIMED = 40;
const MANY = 40;
/** Ticks until a cluster is like any other that has had writes in this minute. */
const TICKS_BEFORE = 4;
const EVERY_MINUTE = "* * * * *";

/** Measures all operations in a new cluster, which takes a minute. `told` hears of each. */
export function measure(told: (what: string) => void): Promise<Measurement> {
  const body = async (runtime: CountedRuntime): Promise<Measurement> => {
    const operations: MeasuredOperation[] = [];
    for (const step of await begun(runtime)) {
      told(step.what);
      operations.push(await measuredOf(runtime, step));
    }
    return { operations, memoryMiB: runtime.pid === undefined ? undefined : residentMiB(runtime.pid) };
  };
  return CountedRuntime.with(body, { hasAccess: true });
}

async function measuredOf(runtime: CountedRuntime, { what, work, before, beforeEach, many }: Step): Promise<MeasuredOperation> {
  const timed = many === undefined ? TIMED : 1;
  const [hopsAt, countedFrom, timedFrom, end] = [0, 1, 1 + COUNTED, 1 + COUNTED + timed];
  for (let i = 0; i < end; i++) await before?.(i);
  await beforeEach?.(hopsAt);
  const hops = many === undefined ? await runtime.hopsOf(() => work(hopsAt)) : undefined;
  await runtime.quiet();
  const costs: (Cost & { objects: number })[] = [];
  for (let i = countedFrom; i < timedFrom; i++) {
    await beforeEach?.(i);
    costs.push(await runtime.costOf(1, () => work(i)));
  }
  const cpu = (): number => (runtime.pid === undefined ? NaN : (cpuMs(runtime.pid) ?? NaN));
  const cpuBefore = cpu();
  let answeredMs = 0;
  for (let i = timedFrom; i < end; i++) {
    if (beforeEach) await beforeEach(i).then(() => runtime.quiet());
    const startedAt = performance.now();
    await work(i);
    answeredMs += performance.now() - startedAt;
  }
  await runtime.quiet();
  const tookMs = (cpu() - cpuBefore) / timed / (many ?? 1);
  const mean = (of: keyof Cost | "objects"): number => costs.reduce((sum, cost) => sum + cost[of], 0) / COUNTED;
  const each = (of: keyof Cost): number => mean(of) / (many ?? 1);
  return {
    what,
    rows: each("rows"),
    bytes: each("bytes"),
    values: each("values"),
    alarms: each("alarms"),
    calls: each("calls"),
    keysRead: each("keysRead"),
    keysWritten: each("keysWritten"),
    hops,
    objects: mean("objects"),
    answerMs: answeredMs / timed,
    cpuMs: beforeEach || Number.isNaN(tookMs) ? undefined : tookMs,
  };
}

/** The operations, in a cluster that has had one of each. */
async function begun(runtime: CountedRuntime): Promise<Step[]> {
  const { send } = runtime;
  const { services, pods, nodes, leases, events } = PATHS;
  const create = (name: string) => send("POST", services, service(name));
  const names = (prefix: string, i: number): string[] => Array.from({ length: MANY }, (_, n) => `${prefix}-${String(i)}-${String(n)}`);
  const node = await send<{ metadata: { uid: string } }>("POST", nodes, { metadata: { name: "n1" } });
  const lease = (name: string, at: number) => heartbeat(name, node.metadata.uid, rfc3339Micros(at));
  let held = await send<object>("POST", leases, lease("n1", Date.now()));
  const renew = async (): Promise<void> => {
    held = await send("PUT", `${leases}/n1`, { ...held, spec: lease("n1", Date.now()).spec });
  };
  const made = (name: string) => send("POST", pods, pod(name));
  const turnsReady = (name: string, i: number) => send("PATCH", `${pods}/${name}/status`, ready(`10.1.1.${String(i + 1)}`));
  const change = (metadata: object) => send("PATCH", `${services}/web`, { metadata });
  const relabel = (i: number) => change({ labels: { minute: String(i) } });
  await create("web");
  await renew();
  await made("web-0");
  await turnsReady("web-0", 0);
  return [
    { what: "Service: created alone", work: (i) => create(`new-${String(i)}`) },
    { what: "Service: one of 40 created at once", many: MANY, work: (i) => Promise.all(names("many", i).map(create)) },
    { what: "Service: update that no controller copies", work: (i) => change({ annotations: { note: String(i) } }) },
    { what: "Service: update of a label", work: (i) => change({ labels: { team: String(i) } }) },
    {
      what: "Service: deleted alone",
      before: (i) => create(`spare-${String(i)}`),
      work: (i) => send("DELETE", `${services}/spare-${String(i)}`),
    },
    {
      what: "Service: one of 40 deleted at once",
      many: MANY,
      before: (i) => Promise.all(names("gone", i).map(create)),
      work: (i) => Promise.all(names("gone", i).map((name) => send("DELETE", `${services}/${name}`))),
    },
    { what: "Service: get", work: () => send("GET", `${services}/web`) },
    { what: "Lease of a Node: created", work: (i) => send("POST", leases, lease(`n-${String(i)}`, Date.now())) },
    { what: "Lease: renewed", work: renew },
    { what: "Pod: created", work: (i) => made(`made-${String(i)}`) },
    { what: "Pod: becomes ready", before: (i) => made(`turns-${String(i)}`), work: (i) => turnsReady(`turns-${String(i)}`, i) },
    {
      what: "Pod: deleted with grace 0",
      before: (i) => made(`ends-${String(i)}`).then(() => turnsReady(`ends-${String(i)}`, 100 + i)),
      work: (i) => send("DELETE", `${pods}/ends-${String(i)}?gracePeriodSeconds=0`),
    },
    { what: "Event: created", work: (i) => send("POST", events, event(`web-0.${String(i)}`)) },
    { what: "health check of a node", work: () => send("GET", "/nodes/n1/healthz") },
    {
      what: "minute's tick of a cluster with writes",
      // The first tick of a cluster visits everybody, and the next ones meet what the other operations have left.
      before: async (i) => {
        if (i >= TICKS_BEFORE) return;
        await relabel(i);
        await runtime.quiet();
        await runtime.tick(EVERY_MINUTE);
        await runtime.quiet();
      },
      beforeEach: (i) => relabel(TICKS_BEFORE + i),
      work: () => runtime.tick(EVERY_MINUTE),
    },
  ];
}
