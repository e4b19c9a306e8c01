/**
 * The slices that a controller wrote, by the Service that they stand for: as its feed tells them, those included that are being deleted. They are rows,
 * so that a controller that wakes up plans one Service without reading a slice.
 */
import { LABEL_MANAGED_BY, LABEL_SERVICE_NAME } from "../../api/meta/endpoint-keys";
import type { EndpointSlice, KubeObject } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { serviceKeyOf, SliceTracker } from "../slices/slice-tracker";
import type { FedText, FeedReader } from "../../controllers/followed/followed-store";
import { FactsInRows, type FactRowsByKey } from "../../controllers/followed/facts-in-rows";
import { NumberGroups } from "../../core/tables/number-groups";
import { textHash } from "../../core/tables/text-hash";

const KIND = "slices";

export class KeptSlices implements FeedReader {
  readonly tracker = new SliceTracker();
  readonly #slices: FactsInRows<EndpointSlice>;
  /** numbers of slices by the key of their Service */
  readonly #byService = new NumberGroups();

  /**
   * @param manager value of the label managed-by of the controller's slices
   * @param foreign somebody else changed slices of the Service
   */
  constructor(
    rows: FactRowsByKey,
    private readonly manager: string,
    private readonly foreign: (serviceKey: string) => void,
  ) {
    this.#slices = new FactsInRows(rows, KIND, {
      clear: () => this.#byService.clear(),
      entered: (number, _, slice) => this.#byService.add(textHash(serviceKeyOf(slice)), number),
      left: (number) => this.#byService.delete(number),
    });
  }

  keys(): Iterable<string> {
    return this.#slices.keys;
  }

  /**
   * The keys of Services that have slices and are not known, each once. They may come and go while they are read. A slice that has its name from a Service
   * which is known is not read.
   */
  *orphanedKeys(isKnown: (serviceKey: string) => boolean): Iterable<string> {
    for (const key of this.#slices.keys) {
      const number = this.#slices.numberOf(key);
      const group = number === undefined ? undefined : this.#byService.groupOf(number);
      if (group === undefined) continue;
      const numbers = this.#byService.of(group);
      if (numbers[0] !== number) continue;
      const orphaned = new Set<string>();
      for (const sliceKey of numbers.map((at) => this.#slices.keyOf(at))) {
        const named = namesakeOf(sliceKey);
        if (textHash(named) === group && isKnown(named)) continue;
        const slice = this.#slices.get(sliceKey);
        if (slice && !isKnown(serviceKeyOf(slice))) orphaned.add(serviceKeyOf(slice));
      }
      yield* orphaned;
    }
  }

  /** In the order in which they came. */
  of(serviceKey: string): EndpointSlice[] {
    const slices = this.#byService.of(textHash(serviceKey)).flatMap((number) => this.#slices.get(this.#slices.keyOf(number)) ?? []);
    return slices.filter((slice) => serviceKeyOf(slice) === serviceKey);
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
    } else this.gone(key);
    if (!isKept) return;
    const { managedFields: _, ...metadata } = slice.metadata ?? {};
    const compact = { ...slice, metadata };
    this.#slices.put(key, compact);
    if (this.tracker.isForeignChange(slice, before)) this.foreign(serviceKeyOf(slice));
  }

  /** List and history have every write of the controller, so none is awaited any more. A slice that they lack may have gone without a word. */
  relisted(): void {
    for (const key of this.tracker.forgetAll()) this.foreign(key);
  }

  /** The slice is gone, or it is another Service's or controller's now. */
  gone(key: string): void {
    const before = this.#slices.delete(key);
    if (before && this.tracker.gone(before)) this.foreign(serviceKeyOf(before));
  }

  #isOwn({ metadata }: EndpointSlice): boolean {
    return metadata?.labels?.[LABEL_MANAGED_BY] === this.manager && Boolean(metadata.labels[LABEL_SERVICE_NAME]);
  }
}

/** The key of the Service that a slice of this key has its name from: the name is cut where it is long (generate-name.ts), or given by somebody else. */
function namesakeOf(sliceKey: string): string {
  return sliceKey.slice(0, Math.max(0, sliceKey.lastIndexOf("-")));
}

/** Whether the slices are two versions of one, of one Service. */
function isSameSlice(a: EndpointSlice, b: EndpointSlice): boolean {
  return a.metadata?.uid === b.metadata?.uid && serviceKeyOf(a) === serviceKeyOf(b);
}
