/**
 * The pass of the controller "endpoints-controller": Endpoints for every Service with a selector (upstream pkg/controller/endpoint). Endpoints are not
 * kept: those of a Service at hand are read from their store, so no plan stands on old ones.
 */
import { pause } from "../../core/base/pause";
import { ENDPOINTS_CONTROLLER, LABEL_ENDPOINTS_MANAGED_BY } from "../../api/meta/endpoint-keys";
import { referenceTo } from "../../api/events/event-recorder";
import type { Endpoints, KubeObject } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { readObject } from "../../api/meta/read-object";
import { endpointsDefinition } from "../../api/registry/endpoints/definition";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { WriteRequest } from "../../api/rpc/store";
import { objectKey } from "../../api/store/state/keys";
import { hearing, type Pass } from "../../controllers/frame/controller";
import type { WrittenStore } from "../../controllers/followed/called-store";
import {
  createRequest,
  deleteUnchangedRequest,
  isNamespaceTerminating,
  refusalOf,
  updateRequest,
} from "../../controllers/followed/write-requests";
import type { FeedReader } from "../../controllers/followed/followed-store";
import { planEndpoints } from "../endpoints/plan-endpoints";
import type { ObjectEvent } from "../sources/object-event";
import type { DueService } from "../sources/service-members";
import { hasPods } from "../sources/service-pods";
import { type LookResult, PassKit } from "./pass-kit";
import { PodSources } from "./pod-sources";
import type { EndpointControllerPorts } from "./ports";
import type { WriteOperation } from "./slice-writer";

export interface EndpointsPassPorts extends EndpointControllerPorts {
  services: ObjectFeed;
  pods: ObjectFeed;
  endpoints: WrittenStore;
}

const FAILURES: Readonly<Record<WriteOperation, readonly [reason: string, text: string]>> = {
  create: ["FailedToCreateEndpoint", "Failed to create endpoint for service"],
  update: ["FailedToUpdateEndpoint", "Failed to update endpoint"],
  delete: ["FailedToDeleteEndpoint", "Failed to delete endpoint"],
};
/** The same changes make slices, for which consumers wait today: where controllers share a thread, they are written first. */
const SLICES_FIRST_MS = 50;
/** its name in managedFields */
export const ENDPOINTS_WRITER = "endpoints-controller";
const WRITER = { manager: ENDPOINTS_WRITER, group: endpointsDefinition.group };

export function endpointsPass(ports: EndpointsPassPorts): Pass {
  const kit = new PassKit(ports, "UpdateEndpoints");
  const sources = new PodSources(kit, ports);
  const { members } = sources;
  /** resourceVersions of own writes that the feed has not told yet */
  const written = new Map<string, number>();

  const ofEndpoints: FeedReader = {
    // Only the Endpoints of a known Service are missed where a whole list lacks them.
    keys: () => members.serviceKeys,
    passesOver({ key, revision }) {
      if (revision === undefined || written.get(key) !== revision) return false;
      written.delete(key);
      return true;
    },
    put(object) {
      const key = keyOf(object);
      const own = written.get(key) ?? 0;
      const isOwn = revisionOf(object) <= own;
      if (revisionOf(object) === own) written.delete(key);
      if (isOwn) return;
      if (isWritten(key)) kit.wantAfterForeign(key);
      // Its Service went unseen, or an own write arrived after its Service had gone.
      else if (!members.hasService(key) && object.metadata?.labels?.[LABEL_ENDPOINTS_MANAGED_BY] === ENDPOINTS_CONTROLLER)
        kit.wantAfterForeign(key);
    },
    gone(key) {
      if (isWritten(key)) kit.wantAfterForeign(key);
    },
    // Nothing is awaited any more. A store that went back to an earlier time has lost the writes, and counts its revisions anew.
    relisted() {
      for (const key of written.keys()) kit.wantAfterForeign(key);
      written.clear();
    },
  };

  function isWritten(key: string): boolean {
    const service = members.service(key);
    return service !== undefined && hasPods(service);
  }

  async function look({ key, changedAt }: DueService): Promise<LookResult> {
    const service = members.service(key);
    if (service && !hasPods(service)) return "done";
    const [text] = await ports.endpoints.objectsNamed([objectKey(key)]);
    const stored = text ? readObject<Endpoints>(text) : undefined;
    // nothing is concluded from a damaged text
    if (text && !stored) return "later";
    const pods = service ? members.podsOf(service) : [];
    const plan = planEndpoints({ service, pods, stored, triggerTime: changedAt });
    switch (plan.action) {
      case "none":
        return "done";
      case "delete":
        if (await kit.isStored(ports.services, key)) return "later";
        return write(key, stored ?? {}, "delete", deleteUnchangedRequest(stored ?? {}));
      case "create":
      case "update": {
        const { endpoints, events } = plan;
        const request = plan.action === "create" ? createRequest(endpoints, WRITER) : updateRequest(endpoints, WRITER);
        return write(key, endpoints, plan.action, request, events);
      }
    }
  }

  /** `events` are about the written object: `kubectl describe` shows those of its uid alone. */
  async function write(
    key: string,
    endpoints: Endpoints,
    verb: WriteOperation,
    request: WriteRequest,
    events: readonly ObjectEvent[] = [],
  ): Promise<LookResult> {
    const answer = await ports.endpoints.write(request);
    if (answer.ok) {
      const now = verb === "delete" ? undefined : readObject<Endpoints>(answer.object);
      if (now) written.set(key, revisionOf(now));
      else written.delete(key);
      kit.told.tell(referenceTo(endpointsDefinition, now ?? endpoints), events);
      return "done";
    }
    const { status } = answer;
    if (isNamespaceTerminating(status)) return "closed";
    if (verb === "delete" && status.code === 404) return "done";
    // Another writer was faster: the next look reads what it wrote.
    if (status.code === 409) return "later";
    kit.told.tell(referenceTo(endpointsDefinition, endpoints), [failure(verb, key, status.message)]);
    return refusalOf(status);
  }

  const pass = kit.pass({
    stores: {
      services: [ports.services, sources.services],
      pods: [ports.pods, sources.pods],
      endpoints: [ports.endpoints, ofEndpoints],
    },
    load: () => sources.load(),
    serviceKeys: () => members.serviceKeys,
    look,
  });
  return hearing(
    async (isPoked) => {
      await pause(ports.clock, SLICES_FIRST_MS);
      return pass(isPoked);
    },
    () => pass,
  );
}

/** Reason and text are upstream's; of a refused deletion upstream only writes a log line. */
function failure(verb: WriteOperation, key: string, message = ""): ObjectEvent {
  const [reason, text] = FAILURES[verb];
  return { type: "Warning", reason, note: `${text} ${key}: ${message}` };
}

function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata?.resourceVersion ?? 0);
}
