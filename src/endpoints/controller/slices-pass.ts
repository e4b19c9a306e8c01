/** The pass of the controller "endpointslice-controller": slices for every Service with a selector (upstream pkg/controller/endpointslice). */
import { atMost } from "../../core/base/in-parallel";
import { referenceTo } from "../../api/events/event-recorder";
import { SLICE_CONTROLLER } from "../../api/meta/endpoint-keys";
import type { Service } from "../../api/meta/kubernetes";
import { endpointSlicesDefinition } from "../../api/registry/endpoint-slices/definition";
import { servicesDefinition } from "../../api/registry/services/definition";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { Pass } from "../../controllers/frame/controller";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { WRITES_AT_ONCE } from "../../controllers/frame/planned-work";
import type { ObjectEvent } from "../sources/object-event";
import type { DueService } from "../sources/service-members";
import { hasPods } from "../sources/service-pods";
import { usedTrafficDistribution } from "../slices/hints";
import { planSlices, type SlicePlan } from "../slices/plan-slices";
import type { SliceChanges } from "../slices/slice-changes";
import { SLICE_METRICS } from "../metrics/endpoint-families";
import { KeptCounts } from "./kept-counts";
import { KeptSlices } from "./kept-slices";
import { type LookResult, type LookState, PassKit } from "./pass-kit";
import { PodSources } from "./pod-sources";
import type { EndpointControllerPorts } from "./ports";
import { type SliceWriterPorts, writeSlices, type SliceWrites } from "./slice-writer";

export interface SlicesPassPorts extends EndpointControllerPorts {
  services: ObjectFeed;
  pods: ObjectFeed;
  nodes: ObjectFeed;
  slices: WrittenStore;
  /** endpoints in a slice, 1 to 1,000 */
  maxPerSlice: number;
}

const WRITER = { manager: "endpointslice-controller", group: endpointSlicesDefinition.group };

export function slicesPass(ports: SlicesPassPorts): Pass {
  const kit = new PassKit(ports, "UpdateEndpointSlices");
  const sources = new PodSources(kit, ports);
  const { members } = sources;
  const slices = new KeptSlices(kit.rows, SLICE_CONTROLLER, (key) => void (members.hasService(key) && kit.wantAfterForeign(key)));
  const { tracker } = slices;
  const counts = new KeptCounts(kit.rows, SLICE_METRICS);
  const writing: SliceWriterPorts = {
    store: ports.slices,
    tracker,
    writer: WRITER,
    owner: "Service",
    made: (operation) => void counts.count("changes", { operation }),
    limited: atMost(WRITES_AT_ONCE),
  };

  async function look({ key, changedAt }: DueService, { isCurrent, areReferredRead }: LookState): Promise<LookResult> {
    const service = members.service(key);
    if (!service) {
      tracker.forget(key);
      kit.told.forget(key);
    }
    if (!service || !hasPods(service)) {
      counts.share(key, undefined);
      return ended("success", "done");
    }
    const stored = slices.of(key);
    if (tracker.isStale(service, stored)) return ended("stale", "later");
    const plan = planSlices({
      service,
      pods: members.podsOf(service),
      nodes: members.nodes,
      slices: stored,
      max: ports.maxPerSlice,
      triggerTime: changedAt,
    });
    const regarding = referenceTo(servicesDefinition, service);
    const isNodeMissing = plan.skipped.some(({ reason }) => reason === "nodeNotFound");
    if (isNodeMissing && isCurrent && !areReferredRead) return "unread";
    // A Node that is not there may be one that could not be read.
    const isSure = isCurrent || !isNodeMissing;
    if (isSure) kit.told.tellOnce(key, regarding, [...plan.skipped.map(({ detail }) => failure(key, detail)), ...plan.events]);
    countPlan(key, service, plan);
    const written = await writePlan(key, service, plan);
    kit.told.tell(
      regarding,
      written.flatMap(({ why }) => (why === undefined ? [] : [failure(key, why)])),
    );
    const isWhole = plan.skipped.length === 0 && written.every(({ why }) => why === undefined);
    return ended(isWhole ? "success" : "error", worst(written.map(({ result }) => result).concat(isSure ? [] : "later")));
  }

  /** `sync`: how upstream counts the look. */
  function ended(sync: "success" | "stale" | "error", result: LookResult): LookResult {
    counts.count("syncs", { result: sync });
    return result;
  }

  /** The gauges have the second family's figures for a Service with two families, as upstream's. */
  function countPlan(key: string, service: Service, { families }: SlicePlan): void {
    for (const { counts: of } of families) {
      counts.observe("endpoints_added_per_sync", of.added);
      counts.observe("endpoints_removed_per_sync", of.removed);
    }
    const last = families.at(-1)?.counts;
    const way = usedTrafficDistribution(service);
    counts.share(
      key,
      last && {
        endpoints: last.endpoints,
        slices: last.slices,
        slicesDesired: last.slicesDesired,
        ...(way !== "" && { trafficDistribution: way }),
      },
    );
  }

  /**
   * A refused write of one family does not keep the other from being written. Slices of a family that the Service has no more are deleted after a
   * refusal, too: under a full quota that makes room (upstream endpointslice/reconciler.go Reconcile). A store that does not answer is asked no more.
   */
  async function writePlan(key: string, service: Service, plan: SlicePlan): Promise<SliceWrites[]> {
    const written: SliceWrites[] = [];
    for (const family of plan.families) {
      const result = await writeSlices(writing, key, family);
      written.push(result);
      if (result.why === undefined) countChanged(service, family);
    }
    if (!written.some(({ result }) => result === "silent"))
      written.push(await writeSlices(writing, key, { create: [], update: [], remove: [...plan.remove] }));
    return written;
  }

  /** Topology aware hints are never on. */
  function countChanged(service: Service, { create, update, remove }: SliceChanges): void {
    const labels = { topology: "Disabled", traffic_distribution: usedTrafficDistribution(service) };
    counts.observe("endpointslices_changed_per_sync", create.length + update.length + remove.length, labels);
  }

  return kit.pass({
    stores: {
      services: [ports.services, sources.services],
      pods: [ports.pods, sources.pods],
      endpointslices: [ports.slices, slices],
    },
    referredTo: { nodes: [ports.nodes, sources.nodes] },
    load() {
      sources.load();
      counts.load();
    },
    serviceKeys: () => members.serviceKeys,
    look,
  });
}

/** The event of upstream's failed sync. */
function failure(key: string, why: string): ObjectEvent {
  return { type: "Warning", reason: "FailedToUpdateEndpointSlices", note: `Error updating Endpoint Slices for Service ${key}: ${why}` };
}

function worst(results: readonly LookResult[]): LookResult {
  return (["silent", "refused", "later", "closed"] as const).find((one) => results.includes(one)) ?? "done";
}
