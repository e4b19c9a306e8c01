/** The pass of the controller "repair": brings Services, IPAddresses and the rows of their owners together again. */
import { OPERATION_DEADLINE_MS } from "../src/core/base/limits";
import { withTimeout } from "../src/core/base/timeout";
import { type Settings, settingsOf } from "../src/core/config/settings";
import { type RepairPorts, SWEEP_MARK } from "../src/addresses/repair/repair-ports";
import { Repairer } from "../src/addresses/repair/repairer";
import { readService } from "../src/addresses/repair/round";
import { SettingsWatch } from "../src/addresses/repair/settings-watch";
import { StoredRanges } from "../src/addresses/repair/stored-ranges";
import { EventRecorder, type EventSubject, referenceTo } from "../src/api/events/event-recorder";
import { DEFAULT_NAME, DEFAULT_NAMESPACE } from "../src/api/registry/default-objects";
import { prefixesIn } from "../src/core/net/prefix";
import { servicesDefinition } from "../src/api/registry/services/definition";
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import { clusterName } from "../src/tenancy/cluster-id";
import { configOf, type Env } from "./env";
import type { ControllerPass, ControllerSetting } from "./controller";
import { coordinator, eventsStore, ipAddressesStore, owner, servicesStore } from "./peers";
import { systemClock } from "./ports";
import { sqlRepairStorage, sqlSettingsStorage } from "./sql/repair-sql";

/** Upstream's name, under which operators know the events. */
const CONTROLLER = "ipallocator-repair-controller";
/** Retaking addresses may take an operation's whole time. */
const CALL_TIMEOUT_MS = 2 * OPERATION_DEADLINE_MS;

export function repairPass(setting: ControllerSetting): ControllerPass {
  let parts: { repairer: Repairer; settings: SettingsWatch } | undefined;
  return async (isPoked) => {
    parts ??= partsOf(setting);
    await parts.settings.run();
    // A store of a cluster at rest that has just started is no reason to read more of it than what has changed.
    const { left, againAt } = await parts.repairer.run({ sweeps: !isPoked });
    // What is left goes on soon: it waits for time, not for anybody who might need longer from one attempt to the next.
    return { left: false, againAt: left ? systemClock.now() : againAt };
  };
}

/** What the objects of this Worker run under. */
export function ownSettings(env: Env): Settings {
  return settingsOf(configOf(env));
}

function partsOf(setting: ControllerSetting): { repairer: Repairer; settings: SettingsWatch } {
  const { env, storage, recorder } = setting;
  const ports = portsOf(setting);
  const settings = new SettingsWatch(ownSettings(env), {
    recorder,
    storage: sqlSettingsStorage(storage),
    events: ports.events,
    subject: () => defaultService(ports.services),
    sweep: () => ports.storage.markSet(SWEEP_MARK, 1),
  });
  return { repairer: new Repairer(ports), settings };
}

/** The Service `default/kubernetes`, which every cluster has; undefined as long as it is not there or cannot be read. */
async function defaultService(services: ObjectFeed): Promise<EventSubject | undefined> {
  const [text] = await services.objectsNamed([{ namespace: DEFAULT_NAMESPACE, name: DEFAULT_NAME }]).catch(() => []);
  const service = text ? readService(text) : undefined;
  return service && referenceTo(servicesDefinition, service);
}

function portsOf({ env, cluster, storage, recorder }: ControllerSetting): RepairPorts {
  const services = () => servicesStore(env, cluster);
  const addresses = () => ipAddressesStore(env, cluster);
  const { onlyRanges, serviceRanges } = configOf(env);
  const configured = onlyRanges && prefixesIn(onlyRanges);
  const stored = new StoredRanges(
    feedOf(() => coordinator(env, cluster)),
    recorder,
  );
  return {
    clock: systemClock,
    recorder,
    storage: sqlRepairStorage(storage),
    events: new EventRecorder(
      { controller: CONTROLLER, instance: `${CONTROLLER}-${clusterName(cluster)}` },
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
      makeHeld: (items) => answered(addresses().makeHeld(items)),
      write: (request) => answered(addresses().write(request)),
    },
    legacyRanges: onlyRanges && prefixesIn(serviceRanges),
    ranges: () => (configured ? Promise.resolve(configured) : stored.current()),
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

function answered<T>(call: Promise<T>): Promise<T> {
  return withTimeout(systemClock, CALL_TIMEOUT_MS, call);
}
