/** The pass of the controller "repair": brings Services, IPAddresses and the rows of their owners together again. */
import { OPERATION_DEADLINE_MS } from "../src/base/limits";
import { withTimeout } from "../src/base/timeout";
import type { RepairPorts } from "../src/controllers/repair/ports";
import { Repairer } from "../src/controllers/repair/repairer";
import { EventRecorder } from "../src/events/event-recorder";
import type { ServiceCIDR } from "../src/meta/kubernetes";
import { parsePrefix, type Prefix } from "../src/net/prefix";
import type { ObjectFeed } from "../src/rpc/object-feed";
import type { ControllerPass, ControllerSetting } from "./controller";
import { coordinator, eventsStore, ipAddressesStore, owner, servicesStore } from "./peers";
import { systemClock } from "./ports";
import { sqlRepairStorage } from "./sql/repair-sql";
import { configOf } from "./store-object";

/** Upstream's name, under which operators know the events. */
const CONTROLLER = "ipallocator-repair-controller";
/** Retaking addresses may take an operation's whole time. */
const CALL_TIMEOUT_MS = 2 * OPERATION_DEADLINE_MS;
const RANGES_PAGE = 500;

export function repairPass(setting: ControllerSetting): ControllerPass {
  let repairer: Repairer | undefined;
  return () => {
    repairer ??= new Repairer(portsOf(setting));
    return repairer.run();
  };
}

function portsOf({ env, cluster, storage, recorder }: ControllerSetting): RepairPorts {
  const services = () => servicesStore(env, cluster);
  const addresses = () => ipAddressesStore(env, cluster);
  const { onlyRanges } = configOf(env);
  return {
    clock: systemClock,
    recorder,
    storage: sqlRepairStorage(storage),
    events: new EventRecorder(
      { controller: CONTROLLER, instance: `${CONTROLLER}-${cluster}` },
      { clock: systemClock, recorder, events: () => eventsStore(env, cluster) },
    ),
    services: {
      ...feedOf(services),
      makeWhole: (items) => answered(services().makeWhole(items)),
      giveUp: (items) => answered(services().giveUp(items)),
    },
    ipAddresses: {
      ...feedOf(addresses),
      restoreMany: (writes) => answered(addresses().restoreMany(writes)),
      writersOf: (names) => answered(addresses().writersOf(names)),
      write: (request) => answered(addresses().write(request)),
    },
    ranges: () => (onlyRanges ? Promise.resolve(onlyRanges.flatMap(prefixOf)) : storedRanges(feedOf(() => coordinator(env, cluster)))),
    owners: async () => {
      const { claims } = await answered(coordinator(env, cluster).topology());
      return [...new Set(claims.map(({ ownerUid }) => ownerUid))];
    },
    owner: (uid) => ({ checkBitmap: (after, limit) => answered(owner(env, cluster, uid).checkBitmap(after, limit)) }),
  };
}

/** A stub is dead after a throw, so each call makes a new one. */
function feedOf(store: () => ObjectFeed): ObjectFeed {
  return {
    objectsSince: (cursor, limit) => answered(store().objectsSince(cursor, limit)),
    objectsAfter: (after, limit) => answered(store().objectsAfter(after, limit)),
    objectsNamed: (keys) => answered(store().objectsNamed(keys)),
  };
}

/** Of all ServiceCIDRs, whether they are Ready or not. */
async function storedRanges(serviceCIDRs: ObjectFeed): Promise<Prefix[]> {
  const ranges: Prefix[] = [];
  let after = "";
  do {
    const page = await serviceCIDRs.objectsAfter(after, RANGES_PAGE);
    for (const text of page.objects) ranges.push(...((JSON.parse(text) as ServiceCIDR).spec?.cidrs ?? []).flatMap(prefixOf));
    after = page.next;
  } while (after !== "");
  return ranges;
}

function prefixOf(text: string): Prefix[] {
  const parsed = parsePrefix(text);
  return parsed.ok ? [parsed.value] : [];
}

function answered<T>(call: Promise<T>): Promise<T> {
  return withTimeout(systemClock, CALL_TIMEOUT_MS, call);
}
