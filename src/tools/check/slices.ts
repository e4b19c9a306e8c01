/**
 * The slices of upstream's controller, or of ours, against the Pods. A Service with too few endpoints wastes Pods; one with too many sends clients to
 * addresses where nothing answers. Which endpoint stands in which slice is not judged.
 */
import type { EndpointSlice, Pod } from "../../api/meta/kubernetes";
import { SLICE_CONTROLLER } from "../../api/meta/endpoint-keys";
import { keyOf } from "../../api/meta/object-key";
import { labelled, suspect, unreadableObjects } from "./objects";
import type { Listed, ObservedNode, ObservedService } from "./observed";
import type { Suspicion } from "./suspicion";
import { type ServiceEndpoint, type SelectingService, WantedEndpoints } from "./wanted-endpoints";

/** Slices follow Pods within a second; a refused write is tried again after some, and a dead object is read anew. */
const SLICES_LASTING_MS = 20_000;
/** A check does not wait for changes that wait longer. */
const BATCH_MAX_MS = 30_000;

/** Servicenet's own controller of slices in this cluster; the body of `GET /check/slices`. */
export interface SliceControllerView {
  /** it is switched on here */
  running: boolean;
  /** how long a change of a Pod waits for others, in milliseconds */
  batchMs: number;
}

export interface SliceSource {
  /** undefined: the server is not Servicenet */
  sliceController(): Promise<SliceControllerView | undefined>;
  /** What `kept` makes of each Pod: nothing else is held. "tooMany": more than the source may hold. undefined: not served, or hidden */
  pods(kept: (pod: Pod) => ServiceEndpoint[]): Promise<ListedEndpoints>;
  /** the same for EndpointSlices */
  endpointSlices(kept: (slice: EndpointSlice) => ServiceEndpoint[]): Promise<ListedEndpoints>;
}

export type ListedEndpoints = Listed<ServiceEndpoint> | "tooMany" | undefined;

export interface SlicesLook {
  suspicions: Suspicion[];
  unchecked: string[];
}

/** Reads Pods and slices if some Service has a selector. `nodes` undefined: nobody may list them. */
export async function lookAtSlices(
  source: SliceSource,
  services: readonly ObservedService[],
  nodes: readonly ObservedNode[] | undefined,
): Promise<SlicesLook> {
  const selecting = services.filter((service): service is ObservedService & SelectingService => service.selection !== undefined);
  if (selecting.length === 0) return { suspicions: [], unchecked: [] };
  const controller = await source.sliceController();
  const why = controller && unjudged(controller);
  if (why) {
    const message = `EndpointSlices were not compared with Pods: ${why}`;
    return { suspicions: [{ ...suspect("notice", [], message), lastingMs: 0 }], unchecked: [] };
  }
  const zones = nodes && new Map(nodes.map(({ metadata, zone = "" }) => [metadata?.name ?? "", zone]));
  const model = new WantedEndpoints(selecting, zones, controller !== undefined);
  const wanted = await source.pods((pod) => model.of(pod));
  const shown = wanted === "tooMany" ? wanted : await source.endpointSlices((slice) => model.shownBy(slice));
  if (wanted === "tooMany" || shown === "tooMany") {
    const unchecked = "too many Pods or endpoints for one request: whether EndpointSlices agree with Pods was not checked";
    return { suspicions: [], unchecked: [`${unchecked}; npm run check compares them`] };
  }
  // Nothing is known of another server but what it shows.
  if (!wanted || !shown)
    return { suspicions: [], unchecked: controller ? ["Pods or EndpointSlices may not be listed: they were not compared"] : [] };
  const unreadable = [...wanted.unreadable, ...shown.unreadable];
  if (unreadable.length > 0) {
    const unchecked = ["a Pod or an EndpointSlice cannot be read: whether EndpointSlices agree with Pods was not checked"];
    return { suspicions: unreadableObjects(unreadable), unchecked };
  }
  const lastingMs = SLICES_LASTING_MS + (controller?.batchMs ?? 0);
  const suspicions = wrongSlices(selecting, wanted.objects, shown.objects, controller !== undefined);
  return { suspicions: suspicions.map((suspicion) => ({ ...suspicion, lastingMs })), unchecked: [] };
}

/** Why slices are not judged; "" = they are. Those that nobody keeps may say anything. */
function unjudged({ running, batchMs }: SliceControllerView): string {
  if (!running) return "endpointslice-controller is switched off in this cluster";
  return batchMs > BATCH_MAX_MS ? `changes of Pods wait for ${batchMs / 1_000} s` : "";
}

/** `isKept`: every Service must have a slice; otherwise one without slices is nobody's. */
function wrongSlices(
  services: readonly SelectingService[],
  wanted: readonly ServiceEndpoint[],
  shown: readonly ServiceEndpoint[],
  isKept: boolean,
): Suspicion[] {
  const must = textsByService(wanted.filter(({ isOptional }) => !isOptional));
  const [may, shownTexts] = [textsByService(wanted), textsByService(shown)];
  return services.flatMap((service) => {
    const key = keyOf(service);
    const wrong = (message: string): Suspicion => suspect("slice", [labelled("Service", service)], `${key} ${message}`);
    const found = shownTexts.get(key);
    if (!found) return isKept ? [wrong(`has no EndpointSlice of ${SLICE_CONTROLLER}`)] : [];
    const missing = [...(must.get(key) ?? [])].filter((text) => !found.has(text));
    const surplus = [...found].filter((text) => text !== "" && !may.get(key)?.has(text));
    return [
      ...missing.map((text) => wrong(`lacks the endpoint ${text}`)),
      ...surplus.map((text) => wrong(`has the endpoint ${text}: no Pod is that`)),
    ];
  });
}

function textsByService(endpoints: readonly ServiceEndpoint[]): Map<string, Set<string>> {
  const texts = new Map<string, Set<string>>();
  for (const { service, text } of endpoints) {
    const found = texts.get(service);
    if (found) found.add(text);
    else texts.set(service, new Set([text]));
  }
  return texts;
}
