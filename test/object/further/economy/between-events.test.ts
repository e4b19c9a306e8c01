/** What keeps objects awake between two events of a cluster with nodes: nothing (test/support/economy/timers.ts has what may for a while). */
import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import { systemClock } from "../../../../durable-objects/platform/ports";
import { TELL_DELAY_MS } from "../../../../src/proxy-health/counted-node-proxy";
import type { Lease } from "../../../../src/api/meta/kubernetes";
import { rfc3339Micros } from "../../../../src/api/meta/time";
import { countedCalls } from "../../../support/objects/counted-calls";
import { heartbeat, PATHS, service } from "../../../support/economy/requests";
import { EconomyWorld, SLOW_MACHINE_MS } from "../../../support/economy/world";
import { PATIENCE } from "../../../support/objects/patience";

const bindings = env as unknown as Env;
const NODES = 50;
const ROUNDS = 2;

let world: EconomyWorld;
beforeEach(async () => (world = await new EconomyWorld().begin()));
afterEach(async () => {
  vi.restoreAllMocks();
  await world.end();
});

interface Timers {
  /** where each was set that has not rung; two of one place are two */
  readonly pending: ReadonlyMap<symbol, string>;
  /** milliseconds of all that were set */
  readonly set: number[];
}

function watchTimers(): Timers {
  const pending = new Map<symbol, string>();
  const set: number[] = [];
  const { after, sleep } = systemClock;
  const begin = (ms: number): symbol => {
    const timer = Symbol("timer");
    set.push(ms);
    pending.set(timer, `${String(ms)} ms ${new Error().stack?.split("\n").slice(3, 6).join(" < ") ?? ""}`);
    return timer;
  };
  vi.spyOn(systemClock, "after").mockImplementation((delayMs, work) => {
    const timer = begin(delayMs);
    const cancel = after(delayMs, () => {
      pending.delete(timer);
      work();
    });
    return () => {
      pending.delete(timer);
      cancel();
    };
  });
  vi.spyOn(systemClock, "sleep").mockImplementation((durationMs) => {
    const timer = begin(durationMs);
    return sleep(durationMs).finally(() => pending.delete(timer));
  });
  return { pending, set };
}

it(
  `${String(NODES)} nodes that renew their Leases, report and are checked: no call, background work or timer is left a second after each round`,
  async () => {
    const timers = watchTimers();
    const names = Array.from({ length: NODES }, (_, i) => `n${String(i)}`);
    const leases = await Promise.all(
      names.map(async (name) => {
        const node = await world.send("POST", PATHS.nodes, { metadata: { name } });
        const { metadata, spec } = heartbeat(name, node.metadata?.uid, rfc3339Micros(Date.now()));
        const ownerReferences = metadata.ownerReferences.map((owner) => ({ ...owner, name }));
        return world.send<Lease>("POST", PATHS.leases, {
          metadata: { ...metadata, ownerReferences },
          spec: { ...spec, holderIdentity: name },
        });
      }),
    );
    const renewal = async (name: string, at: number, second: number): Promise<void> => {
      const { metadata, spec } = leases[at] as Lease;
      const renewTime = rfc3339Micros(Date.UTC(2030, 0, 1, 0, 0, second));
      leases[at] = await world.send<Lease>("PUT", `${PATHS.leases}/${name}`, { metadata, spec: { ...spec, renewTime } });
    };
    for (let round = 0; round < ROUNDS; round++) {
      timers.set.splice(0);
      // Ends when no call and no background work is under way.
      const calls = await countedCalls(() =>
        Promise.all(
          names.flatMap((name, at) => [
            renewal(name, at, round),
            world.send("PUT", `${PATHS.nodes}/${name}/proxy-health`, {}),
            world.send("GET", `/nodes/${name}/livez`),
          ]),
        ),
      );
      expect(calls.length, "calls of a round").toBeGreaterThanOrEqual(3 * NODES);
      // Those that are known: so the others would be seen, too.
      expect(timers.set, "timers of a round").toContain(TELL_DELAY_MS);
      await vi.waitFor(() => expect([...timers.pending.values()]).toEqual([]), PATIENCE);
    }
  },
  SLOW_MACHINE_MS,
);

it(
  "creates that are refused: no timer is left behind their answers, and an alarm writes what is not counted on the disk yet",
  async () => {
    const timers = watchTimers();
    const object = bindings.SERVICES_STORE.getByName(`${world.cluster}/services`);
    const taken = "10.96.0.1";
    const refuse = (name: string) => {
      const { metadata, spec } = service(name);
      return expect(world.send("POST", PATHS.services, { metadata, spec: { ...spec, clusterIP: taken } })).rejects.toThrow("422");
    };
    const counted = () =>
      runInDurableObject(object, (_, { storage }) =>
        storage.sql.exec<{ n: number }>("SELECT sum(static_errors) AS n FROM allocation_counts").one(),
      );
    const quiet = () => vi.waitFor(() => expect([...timers.pending.values()]).toEqual([]), PATIENCE);
    // The first ones are counted in the turn behind them. The last one waits for its alarm, which does not ring by itself here.
    await countedCalls(() => Promise.all(["a", "b", "c"].map(refuse)));
    await quiet();
    await vi.waitFor(async () => expect((await counted()).n).toBeGreaterThan(0), PATIENCE);
    await countedCalls(() => refuse("d"));
    await quiet();
    await runDurableObjectAlarm(object);
    expect(await counted()).toEqual({ n: 4 });
  },
  SLOW_MACHINE_MS,
);
