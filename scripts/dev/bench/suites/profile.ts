/**
 * By function, where the CPU of the local server goes. V8 samples the one thread while it runs JavaScript, or code that JavaScript has called; what the
 * runtime does between is in the whole alone. The inspector makes log lines dearer: each goes to it, too.
 */
import { join } from "node:path";
import { freePort } from "../../../../test/support/server/free-port";
import type { Server } from "../../../../test/support/server/server";
import { bearer } from "../../../cluster/target";
import { root } from "../../../running/root.mjs";
import { textWithMap } from "../../../serve/bundle";
import { readRuntimeConfig } from "../../../serve/runtime";
import { cpuMs } from "../cpu";
import { round } from "../figures";
import { Inspector } from "../profile/inspector";
import { type ProfiledFunction, profiledFunctions } from "../profile/profiled-functions";
import type { BenchRow } from "../row";
import { createServices, type LoadedServer, targetOf, withServer, writeLeases } from "../started";
import { WatchedService } from "../watched-service";
import { Watchers } from "./watchers";

const PRELOADED = join(root, "scripts", "dev", "bench", "profile", "inspected-workerd.mjs");
const SHOWN = 25;
const connections = 100;
const creates = 2_000;
const leases = 200;
const updatesOfEach = 10;
const watchers = 1_000;
const changes = 50;

interface Load {
  secure?: boolean;
  /** operations of one run */
  count: number;
  /** Makes a run; the first one is that of cold machine code. The second argument ends what the load leaves open. */
  start(server: LoadedServer): Promise<{ run(round: number): Promise<unknown>; end?(): void }>;
}

const create: Load["start"] = (server) => {
  const load = { cluster: "default", connections, count: creates, addressPrefixes: [] };
  return Promise.resolve({ run: (round) => createServices(server, { ...load, prefix: `round-${String(round)}` }) });
};

const update: Load["start"] = (server) => {
  const collection = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  return Promise.resolve({ run: () => writeLeases(server, { connections, count: leases, collection, updatesOfEach }) });
};

const deliver: Load["start"] = async (server) => {
  const service = new WatchedService(targetOf(server), "/api/v1/namespaces/default/services");
  await service.create();
  const watching = await Watchers.open(service, watchers);
  const run = async (): Promise<void> => {
    for (let change = 0; change < changes; change++) await watching.change(100);
  };
  return { run, end: () => watching.close() };
};

const LOADS = {
  creates: { count: creates, start: create },
  "creates-https": { secure: true, count: creates, start: create },
  /** of twelve requests ten */
  leases: { count: leases * (updatesOfEach + 2), start: update },
  watchers: { count: changes, start: deliver },
} satisfies Record<string, Load>;

export function benchProfile(name: keyof typeof LOADS): Promise<BenchRow[]> {
  const load: Load = LOADS[name];
  const text = textWithMap(readRuntimeConfig("wrangler.toml", {}));
  return inspected(load, async (profiled) => {
    const [each, ...functions] = await measured(load, { ...profiled, text });
    return [{ name: `profile.${name}`, ...each }, ...functions];
  });
}

/** Runs `body` with a server of its own whose workerd has an inspector. */
async function inspected<T>({ secure }: Load, body: (profiled: Omit<Profiled, "text">) => Promise<T>): Promise<T> {
  const port = await freePort();
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = `${before ?? ""} --import=${PRELOADED}`;
  process.env.INSPECTOR_PORT = String(port);
  const restore = (): void => {
    delete process.env.INSPECTOR_PORT;
    if (before === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = before;
  };
  const withInspector = async (server: Server): Promise<T> => {
    restore();
    const inspector = await Inspector.connect(port);
    try {
      return await body({ server, inspector });
    } finally {
      inspector.close();
    }
  };
  return withServer("10.0.0.0/12", withInspector, [], { secure }).finally(restore);
}

async function measured(
  { secure, count, start }: Load,
  { server, inspector, text }: Profiled,
): Promise<[Omit<BenchRow, "name">, ...BenchRow[]]> {
  const { url, ca, token, runtimePid } = server;
  const load = await start(secure ? { url, options: { ca, headers: { ...bearer(token) } } } : { url });
  await load.run(0);
  const before = cpuMs(runtimePid) ?? NaN;
  let cpu = NaN;
  const profile = await inspector.profile(async () => {
    await load.run(1);
    cpu = (cpuMs(runtimePid) ?? NaN) - before;
  });
  load.end?.();
  const functions = profiledFunctions(profile, text);
  const whole = { value: round((cpu * 1000) / count, 1), unit: "µs", note: "CPU of the runtime for each" };
  const shown = new Set([...functions.slice(0, SHOWN), ...functions.toSorted((a, b) => b.total - a.total).slice(0, SHOWN)]);
  return [whole, ...[...shown].map(rowOf)];
}

interface Profiled {
  server: Server;
  inspector: Inspector;
  /** of the bundle, with its source map */
  text: string;
}

function rowOf({ name, self, total }: ProfiledFunction): BenchRow {
  return { name, value: round(self * 100, 1), unit: "%", note: `${(total * 100).toFixed(1)} % with what it calls` };
}
