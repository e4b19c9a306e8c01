/**
 * The slices that a controller wrote, by the Service that they stand for: as its feed tells them, those included that are being deleted. They are rows,
 * so that a controller that wakes up plans one Service without reading a slice.
 */
import { LABEL_MANAGED_BY, LABEL_SERVICE_NAME } from "../../api/meta/endpoint-keys";
import type { EndpointSlice, KubeObject } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { serviceKeyOf, SliceTracker } from "../slices/slice-tracker";
import type { FedText, FeedReader } from "../../controllers/followed/followed-store";
import type { KeptRows } from "../../controllers/followed/kept-rows";

const KIND = "slices";

export class KeptSlices implements FeedReader {
  readonly tracker = new SliceTracker();
  readonly #slices = new Map<string, EndpointSlice>();
  readonly #byService = new Map<string, Map<string, EndpointSlice>>();

  /**
   * @param manager value of the label managed-by of the controller's slices
   * @param foreign somebody else changed slices of the Service
   */
  constructor(
    private readonly rows: KeptRows,
    private readonly manager: string,
    private readonly foreign: (serviceKey: string) => void,
  ) {}

  load(): void {
    for (const [key, slice] of this.rows.saved<EndpointSlice>(KIND)) this.#keep(key, slice);
  }

  keys(): Iterable<string> {
    return this.#slices.keys();
  }

  /** of the Services that have slices */
  get serviceKeys(): Iterable<string> {
    return this.#byService.keys();
  }

  of(serviceKey: string): EndpointSlice[] {
    return [...(this.#byService.get(serviceKey)?.values() ?? [])];
  }

  /** The label of the controller's own slices stands in their text as it is. */
  passesOver({ key, text }: FedText): boolean {
    return !this.#slices.has(key) && !text.includes(this.manager);
  }

  put(object: KubeObject): void {
    const slice = object as EndpointSlice;
    const key = keyOf(slice);
    const before = this.#slices.get(key);
    const isKept = this.#isOwn(slice);
    if (before && isKept && isSameSlice(before, slice)) {
      if (before.metadata?.resourceVersion === slice.metadata?.resourceVersion) return;
      this.#drop(key, before);
    } else this.gone(key);
    if (!isKept) return;
    const { managedFields: _, ...metadata } = slice.metadata ?? {};
    const compact = { ...slice, metadata };
    this.#keep(key, compact);
    this.rows.put(KIND, key, compact);
    if (this.tracker.isForeignChange(slice)) this.foreign(serviceKeyOf(slice));
  }

  /** List and history have every write of the controller, so none is awaited any more. A slice that they lack may have gone without a word. */
  relisted(): void {
    for (const key of this.tracker.forgetAll()) this.foreign(key);
  }

  /** The slice is gone, or it is another Service's or controller's now. */
  gone(key: string): void {
    const before = this.#slices.get(key);
    if (!before) return;
    this.#drop(key, before);
    this.rows.delete(KIND, key);
    if (this.tracker.gone(before)) this.foreign(serviceKeyOf(before));
  }

  #isOwn({ metadata }: EndpointSlice): boolean {
    return metadata?.labels?.[LABEL_MANAGED_BY] === this.manager && Boolean(metadata.labels[LABEL_SERVICE_NAME]);
  }

  #keep(key: string, slice: EndpointSlice): void {
    this.#slices.set(key, slice);
    const service = serviceKeyOf(slice);
    const slices = this.#byService.get(service);
    if (slices) slices.set(key, slice);
    else this.#byService.set(service, new Map([[key, slice]]));
  }

  #drop(key: string, slice: EndpointSlice): void {
    this.#slices.delete(key);
    const service = serviceKeyOf(slice);
    const slices = this.#byService.get(service);
    if (slices?.delete(key) && slices.size === 0) this.#byService.delete(service);
  }
}

/** Whether the slices are two versions of one, of one Service. */
function isSameSlice(a: EndpointSlice, b: EndpointSlice): boolean {
  return a.metadata?.uid === b.metadata?.uid && serviceKeyOf(a) === serviceKeyOf(b);
}
