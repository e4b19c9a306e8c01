/** The pass of the controller "endpointslice-controller": slices for every Service with a selector (upstream pkg/controller/endpointslice). */
import { atMost } from "../../core/base/at-most";
import { referenceTo } from "../../api/events/event-recorder";
import { SLICE_CONTROLLER } from "../../api/meta/endpoint-keys";
import { endpointSlicesDefinition } from "../../api/registry/endpoint-slices/definition";
import { servicesDefinition } from "../../api/registry/services/definition";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { Pass } from "../../controllers/controller";
import type { ObjectEvent } from "../sources/object-event";
import type { DueService } from "../sources/service-members";
import { hasPods } from "../sources/service-pods";
import { planSlices, type SlicePlan } from "../slices/plan-slices";
import { KeptSlices } from "./kept-slices";
import { type LookResult, WRITES_AT_ONCE } from "./pass";
import { PassKit } from "./pass-kit";
import { PodSources } from "./pod-sources";
import type { ControllerPorts, WrittenStore } from "./ports";
import { writeSlices, type Written } from "./slice-writer";

export interface SlicesPassPorts extends ControllerPorts {
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
  const slices = new KeptSlices(kit.rows, SLICE_CONTROLLER, (key) => void (members.service(key) && kit.wantAfterForeign(key)));
  const { tracker } = slices;
  const writing = { store: ports.slices, tracker, writer: WRITER, limited: atMost(WRITES_AT_ONCE) };

  async function look({ key, changedAt }: DueService): Promise<LookResult> {
    const service = members.service(key);
    if (!service) {
      tracker.forget(key);
      kit.told.forget(key);
      return "done";
    }
    if (!hasPods(service)) return "done";
    const stored = slices.of(key);
    if (tracker.isStale(service, stored)) return "later";
    const plan = planSlices({
      service,
      pods: members.podsOf(service),
      nodes: members.nodes,
      slices: stored,
      max: ports.maxPerSlice,
      triggerTime: changedAt,
    });
    const regarding = referenceTo(servicesDefinition, service);
    kit.told.tellOnce(key, regarding, [...plan.skipped.map(({ detail }) => failure(key, detail)), ...plan.events]);
    const written = await writePlan(key, plan);
    kit.told.tell(
      regarding,
      written.flatMap(({ why }) => (why === undefined ? [] : [failure(key, why)])),
    );
    return worst(written);
  }

  /** A refused write of one family does not keep the other from being written. */
  async function writePlan(key: string, plan: SlicePlan): Promise<Written[]> {
    const written: Written[] = [];
    for (const family of plan.families) written.push(await writeSlices(writing, key, family));
    if (written.every(({ result }) => result === "done")) {
      written.push(await writeSlices(writing, key, { create: [], update: [], remove: [...plan.remove] }));
    }
    return written;
  }

  return kit.pass({
    stores: {
      services: [ports.services, sources.services],
      nodes: [ports.nodes, sources.nodes],
      pods: [ports.pods, sources.pods],
      endpointslices: [ports.slices, slices],
    },
    load() {
      sources.load();
      slices.load();
    },
    look,
  });
}

/** The event of upstream's failed sync. */
function failure(key: string, why: string): ObjectEvent {
  return { type: "Warning", reason: "FailedToUpdateEndpointSlices", note: `Error updating Endpoint Slices for Service ${key}: ${why}` };
}

function worst(written: readonly Written[]): LookResult {
  const results = written.map(({ result }) => result);
  return results.find((result) => result === "silent") ?? results.find((result) => result === "later") ?? "done";
}
