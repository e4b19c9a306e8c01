/** What the store of Services has for those that pools serve: rows beside its tables, in its transactions, and the book of addresses. */
import { EventRecorder } from "../src/api/events/event-recorder";
import type { Namespace } from "../src/api/meta/kubernetes";
import { BALANCER_REPORTER } from "../src/pools/load-balancers/balancer-events";
import { ServiceAddresses } from "../src/pools/load-balancers/service-addresses";
import type { HeldByService, ServiceRows, WaitingService } from "../src/pools/load-balancers/service-rows";
import { eventsStore, namespacesStore, poolBook } from "./peers/peers";
import type { Env } from "./platform/env";
import type { StoreSetting } from "./store-ports";

const HELD = "balancers/held/";
const WAITING = "balancers/waiting/";
const NUMBER = "balancers/";

export function serviceAddresses(env: Env, setting: StoreSetting, { kv }: DurableObjectStorage): ServiceAddresses {
  const { cluster, clock, random, recorder, config } = setting;
  const reporter = { controller: BALANCER_REPORTER, instance: BALANCER_REPORTER };
  const events = new EventRecorder(reporter, { clock, recorder, events: () => eventsStore(env, cluster) });
  return new ServiceAddresses({
    ...{ clock, random, recorder, rows: keptRows(kv), isDefault: config.defaultLoadBalancerClass !== "" },
    book: () => poolBook(env, cluster),
    report: (report) => events.report(report),
    async labelsOf(namespace) {
      const answer = await namespacesStore(env, cluster).get({ namespace: "", name: namespace }, "");
      return answer.ok ? ((JSON.parse(answer.object) as Namespace).metadata?.labels ?? {}) : {};
    },
  });
}

function keptRows(kv: SyncKvStorage): ServiceRows {
  const save = (key: string, value: unknown): void => void (value === undefined ? kv.delete(key) : kv.put(key, value));
  const all = function* <T>(prefix: string): Iterable<[string, T]> {
    for (const [key, value] of [...kv.list<T>({ prefix })]) yield [key.slice(prefix.length), value];
  };
  return {
    held: (key) => kv.get<HeldByService>(HELD + key),
    allHeld: () => all<HeldByService>(HELD),
    saveHeld: (key, held) => save(HELD + key, held),
    waiting: () => all<WaitingService>(WAITING),
    saveWaiting: (key, waiting) => save(WAITING + key, waiting),
    number: (name) => kv.get<number>(NUMBER + name) ?? 0,
    saveNumber: (name, value) => kv.put(NUMBER + name, value),
  };
}
