/**
 * What a controller knows of its own writes, so that it never plans on slices older than them: it would place an endpoint twice. And which changes
 * of its slices somebody else made. Source: upstream util/endpointslice_tracker.go.
 *
 * It is lost with the memory of its object. A new object reads its feed to the end before it plans anything, and so has seen every write.
 */
import { LABEL_SERVICE_NAME } from "../../api/meta/endpoint-keys";
import type { EndpointSlice, Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";

/** In place of a generation: the slice was deleted, and the feed has not said so yet. */
const DELETED = -1;

interface TrackedService {
  /** "" = no look at the Service yet */
  uid: string;
  /** generation of the last write, by uid of the slice */
  readonly generations: Map<string, number>;
}

export class SliceTracker {
  readonly #services = new Map<string, TrackedService>();

  /** Notes a write of this controller; `slice` as the answer has it. */
  written(slice: EndpointSlice): void {
    this.#of(slice).generations.set(uidOf(slice), generationOf(slice));
  }

  /** Notes a deletion by this controller. */
  deleted(slice: EndpointSlice): void {
    this.#of(slice).generations.set(uidOf(slice), DELETED);
  }

  /**
   * Whether the Service's slices are older than this controller's writes, so that it has to wait for the feed. Writes for an earlier Service of the
   * name count no more. A deleted slice that a finalizer keeps is as good as gone.
   *
   * @param slices all that the feed has told of with the Service's name, also those that are being deleted
   */
  isStale(service: Service, slices: readonly EndpointSlice[]): boolean {
    const key = keyOf(service);
    const uid = service.metadata?.uid ?? "";
    const tracked = this.#services.get(key);
    if (!tracked) return false;
    if (tracked.uid !== "" && tracked.uid !== uid) {
      this.#services.delete(key);
      return false;
    }
    tracked.uid = uid;
    const known = new Map(slices.map((slice) => [uidOf(slice), slice]));
    for (const [slice, generation] of tracked.generations) {
      const seen = known.get(slice);
      const isOlder = generation === DELETED ? seen && !seen.metadata?.deletionTimestamp : !seen || generationOf(seen) < generation;
      if (isOlder) return true;
    }
    return false;
  }

  /**
   * The feed tells of a slice. Returns whether that is somebody else's doing: its Service needs another look then. A write that the feed has told is
   * awaited no more, and forgotten. Of a slice that nobody tracks, a change that leaves the generation as it was touches no endpoint.
   *
   * @param before as the feed has told of it before; undefined = it has not
   */
  isForeignChange(slice: EndpointSlice, before?: EndpointSlice): boolean {
    const service = this.#services.get(serviceKeyOf(slice));
    const generation = service?.generations.get(uidOf(slice));
    if (generation === undefined) return before === undefined || generationOf(before) !== generationOf(slice);
    if (generation !== DELETED && generationOf(slice) >= generation) {
      service?.generations.delete(uidOf(slice));
      if (service?.generations.size === 0) this.#services.delete(serviceKeyOf(slice));
    }
    return generationOf(slice) > generation;
  }

  /**
   * The feed tells that the slice is gone, or that somebody gave it to another Service or controller. Returns whether somebody else did that; of a
   * slice that nobody tracks it is assumed.
   *
   * @param slice as it was before
   */
  gone(slice: EndpointSlice): boolean {
    const generations = this.#services.get(serviceKeyOf(slice))?.generations;
    const generation = generations?.get(uidOf(slice));
    if (generations?.delete(uidOf(slice)) && generations.size === 0) this.#services.delete(serviceKeyOf(slice));
    return generation !== DELETED;
  }

  /** The Service is gone. */
  forget(serviceKey: string): void {
    this.#services.delete(serviceKey);
  }

  /** Forgets every write; answers the keys of the Services that have one which the feed has not told. */
  forgetAll(): string[] {
    const keys = [...this.#services.keys()];
    this.#services.clear();
    return keys;
  }

  #of(slice: EndpointSlice): TrackedService {
    const key = serviceKeyOf(slice);
    const tracked = this.#services.get(key) ?? { uid: "", generations: new Map<string, number>() };
    this.#services.set(key, tracked);
    return tracked;
  }
}

/** The key of the Service that the slice stands for. */
export function serviceKeyOf({ metadata }: EndpointSlice): string {
  return keyOf({ metadata: { namespace: metadata?.namespace, name: metadata?.labels?.[LABEL_SERVICE_NAME] } });
}

function uidOf({ metadata }: EndpointSlice): string {
  return metadata?.uid ?? "";
}

function generationOf({ metadata }: EndpointSlice): number {
  return metadata?.generation ?? 0;
}
