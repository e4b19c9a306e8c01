/**
 * The pass of the controller "endpointslice-mirroring-controller": slices for the Endpoints that somebody writes for a Service without selector (upstream
 * pkg/controller/endpointslicemirroring). Endpoints are not kept: those of a Service at hand are read from their store.
 */
import { atMost } from "../../core/base/in-parallel";
import { referenceTo } from "../../api/events/event-recorder";
import { MIRRORING_CONTROLLER } from "../../api/meta/endpoint-keys";
import type { Endpoints, Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { readObject } from "../../api/meta/read-object";
import { endpointsDefinition } from "../../api/registry/endpoints/definition";
import { endpointSlicesDefinition } from "../../api/registry/endpoint-slices/definition";
import { hasSelector, specOf } from "../../api/registry/services/predicates";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import { objectKey } from "../../api/store/state/keys";
import type { Pass } from "../../controllers/frame/controller";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { FactsInRows } from "../../controllers/followed/facts-in-rows";
import type { FeedReader } from "../../controllers/followed/followed-store";
import { WRITES_AT_ONCE } from "../../controllers/frame/planned-work";
import { type MirrorPlan, planMirror } from "../mirroring/plan-mirror";
import { MIRROR_METRICS } from "../metrics/endpoint-families";
import type { DueService } from "../sources/service-members";
import { KeptCounts } from "./kept-counts";
import { KeptSlices } from "./kept-slices";
import { type LookResult, PassKit } from "./pass-kit";
import type { EndpointControllerPorts } from "./ports";
import { type SliceWriterPorts, writeSlices } from "./slice-writer";

export interface MirrorPassPorts extends EndpointControllerPorts {
  services: ObjectFeed;
  endpoints: ObjectFeed;
  slices: WrittenStore;
}

const WRITER = { manager: "endpointslice-mirroring-controller", group: endpointSlicesDefinition.group };
/** Addresses of one subset that are mirrored: upstream's default of `--mirroring-max-endpoints-per-subset`. */
const MAX_PER_SUBSET = 1_000;
const SERVICES = "services";
/** In the text of a Service with a selector that is not empty, and in no other: inside a string the quotes have backslashes. */
const SELECTOR = '"selector":{"';

export function mirrorPass(ports: MirrorPassPorts): Pass {
  const kit = new PassKit(ports, "MirrorEndpoints");
  const slices = new KeptSlices(kit.rows, MIRRORING_CONTROLLER, (key) => kit.wantAfterForeign(key));
  const { tracker } = slices;
  const counts = new KeptCounts(kit.rows, MIRROR_METRICS);
  const writing: SliceWriterPorts = {
    store: ports.slices,
    tracker,
    writer: WRITER,
    owner: "Endpoints",
    made: (operation) => void counts.count("changes", { operation }),
    limited: atMost(WRITES_AT_ONCE),
  };
  /** Those without selector, with what mirroring asks for alone; another one only until its slices are gone. */
  const services = new FactsInRows<Service>(kit.rows, SERVICES);

  const ofServices: FeedReader = {
    keys: () => services.keys,
    passesOver: ({ key, text }) => isForeign(key) && text.includes(SELECTOR),
    put(object) {
      const service = compact(object as Service);
      const key = keyOf(service);
      const before = services.get(key);
      if (before && hasNoSelector(before) === hasNoSelector(service)) return;
      services.put(key, service);
      kit.want(key);
    },
    gone(key) {
      services.delete(key);
      kit.want(key);
    },
  };

  /** Endpoints of other Services are not looked at. */
  const ofEndpoints: FeedReader = {
    keys: () => services.keys,
    passesOver: ({ key }) => !isTouched(key),
    put: (object) => touch(keyOf(object)),
    gone: (key) => touch(key),
  };

  function touch(key: string): void {
    if (isTouched(key)) kit.want(key);
  }

  function isTouched(key: string): boolean {
    const service = services.get(key);
    return (service !== undefined && hasNoSelector(service)) || slices.of(key).length > 0;
  }

  /** Whether mirroring has nothing to do with the Service so far. */
  function isForeign(key: string): boolean {
    return !services.has(key) && slices.of(key).length === 0;
  }

  /** Whether the Service is there and may be mirrored; the feed passes others over. */
  async function mayBeMirrored(key: string): Promise<boolean> {
    const [text] = await ports.services.objectsNamed([objectKey(key)]);
    return Boolean(text) && !text?.includes(SELECTOR);
  }

  async function look({ key }: DueService): Promise<LookResult> {
    const begunAt = ports.clock.now();
    try {
      const name = objectKey(key);
      const service = services.get(key);
      const stored = slices.of(key);
      if (!service) kit.told.forget(key);
      if (stored.length === 0 && !(service && hasNoSelector(service))) {
        tracker.forget(key);
        counts.share(key, undefined);
        services.delete(key);
        return "done";
      }
      if (tracker.isStale({ metadata: name }, stored)) return "later";
      const [text] = await ports.endpoints.objectsNamed([name]);
      const endpoints = text ? readObject<Endpoints>(text) : undefined;
      // nothing is concluded from a damaged text
      if (text && !endpoints) return "later";
      const plan = planMirror({ key: name, endpoints, service, slices: stored, maxPerSubset: MAX_PER_SUBSET });
      if (!service && plan.remove.length > 0 && (await mayBeMirrored(key))) return "later";
      const regarding = referenceTo(endpointsDefinition, endpoints ?? { metadata: name });
      kit.told.tellOnce(key, regarding, plan.events);
      countPlan(key, plan.counts);
      const { result, why } = await writeSlices(writing, key, plan);
      if (why !== undefined) kit.told.tell(regarding, [{ type: "Warning", reason: "FailedToUpdateEndpointSlices", note: why }]);
      if (result === "done" && service && !hasNoSelector(service)) services.delete(key);
      return result;
    } finally {
      counts.observe("endpoints_sync_duration", (ports.clock.now() - begunAt) / 1_000);
    }
  }

  function countPlan(key: string, of: MirrorPlan["counts"]): void {
    counts.share(key, of && { endpoints: of.endpoints, slices: of.slices, slicesDesired: of.slicesDesired });
    if (!of) return;
    counts.observe("addresses_skipped_per_sync", of.skipped);
    counts.observe("endpoints_added_per_sync", of.added);
    counts.observe("endpoints_updated_per_sync", of.updated);
    counts.observe("endpoints_removed_per_sync", of.removed);
  }

  return kit.pass({
    stores: {
      services: [ports.services, ofServices],
      endpoints: [ports.endpoints, ofEndpoints],
      endpointslices: [ports.slices, slices],
    },
    load() {
      counts.load();
    },
    *serviceKeys() {
      yield* services.keys;
      yield* slices.orphanedKeys((key) => services.has(key));
    },
    look,
  });
}

function compact({ metadata, spec }: Service): Service {
  return { metadata: { namespace: metadata?.namespace, name: metadata?.name }, spec: { selector: spec?.selector } };
}

/** Whether somebody else than the Endpoints controller writes the Service's Endpoints. */
function hasNoSelector(service: Service): boolean {
  return !hasSelector(specOf(service));
}
