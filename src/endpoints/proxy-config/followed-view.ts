/**
 * The Services and slices of a cluster as a view reads them: by the changes since its place, as controllers do. It keeps nothing on disk. So one that
 * begins reads everything as it is now. For a place that it does not know it asks the stores whose changes came since. These Services it tells anew.
 */
import { LABEL_SERVICE_NAME } from "../../api/meta/endpoint-keys";
import type { EndpointSlice, KubeObject, Service } from "../../api/meta/kubernetes";
import type { StoreCursor } from "../../api/rpc/object-links";
import type { TouchedObjects } from "../../api/rpc/touched-objects";
import type { Recorder } from "../../core/base/ports";
import { FollowedStore, type FeedReader, type NamedFeed } from "../../controllers/followed/followed-store";
import { MergedServices } from "../merge/merged-services";
import { placeText, type ViewPlace } from "./page-tag";
import { ProxyConfigs, type TouchedServices } from "./proxy-configs";

export type ViewStore = keyof ViewPlace;

/** The stores of a cluster; every call has a timeout. */
export interface ViewStores {
  feed(store: ViewStore): NamedFeed;
  /** See TouchedStore. */
  touchedSince(store: ViewStore, cursor: StoreCursor, label?: string): Promise<TouchedObjects>;
}

/** What came since a place: everything behind a revision of `configs`, and what was before. */
export interface Since {
  readonly revision: number;
  readonly before?: TouchedServices;
}

const STORES: readonly ViewStore[] = ["services", "slices"];

/** Places that are remembered, with nothing but a number. Of others the stores are asked. */
const PLACES_MAX = 1_000;
/** Places that the stores were asked about, and whose answers are remembered. */
const ASKED_MAX = 16;
/** Places that the stores are asked about at once: clients may make up any number. */
const ASKING_MAX = 32;
/** Services of one such answer. Whoever has missed more gets a whole page. */
const TOUCHED_MAX = 5_000;

export class FollowedView {
  readonly configs = new ProxyConfigs();
  readonly #merged = new MergedServices();
  readonly #cursors = new Map<string, StoreCursor>();
  readonly #followed: Readonly<Record<ViewStore, FollowedStore>>;
  /** by the text of a place: the revision of `configs` there; oldest first */
  readonly #places = new Map<string, number>();
  /** the same of places that the stores were asked about */
  readonly #asked = new Map<string, Since>();
  /** questions under way, by the text of the place */
  readonly #asking = new Map<string, Promise<Since | undefined>>();
  /** of `configs` */
  #place: ViewPlace | undefined;
  /** the last pull has read them to their end; else what is known of them may be a mixture of times */
  readonly #whole = new Set<ViewStore>();

  constructor(
    private readonly stores: ViewStores,
    recorder: Recorder,
  ) {
    const merged = this.#merged;
    const cursors = {
      cursor: (store: string) => this.#cursors.get(store),
      moveCursor: (store: string, cursor: StoreCursor) => void this.#cursors.set(store, cursor),
    };
    const readers: Record<ViewStore, FeedReader> = {
      services: {
        put: (service) => merged.putService(service as Service),
        gone: (key) => merged.deleteService(objectOf(key)),
        keys: () => merged.serviceKeys,
      },
      slices: {
        put: (slice) => merged.putSlice(slice as EndpointSlice),
        gone: (key) => merged.deleteSlice(objectOf(key)),
        keys: () => merged.sliceKeys,
      },
    };
    const follow = (store: ViewStore): FollowedStore => new FollowedStore(store, stores.feed(store), readers[store], cursors, recorder);
    this.#followed = { services: follow("services"), slices: follow("slices") };
  }

  /** How far the stores were read, in `configs`; undefined = not yet. */
  get place(): ViewPlace | undefined {
    return this.#place;
  }

  /**
   * What came since a place, for a view that has been read; undefined = nobody knows, or asking takes too much. Polls at one place share the question.
   * Rejects when a store is not reached.
   */
  since(place: ViewPlace, mayGoOn: () => boolean): Promise<Since | undefined> {
    const text = placeText(place);
    const revision = this.#places.get(text);
    const known = revision === undefined ? this.#asked.get(text) : { revision };
    if (known) return Promise.resolve(known);
    let asking = this.#asking.get(text);
    if (!asking && this.#asking.size >= ASKING_MAX) return Promise.resolve(undefined);
    if (!asking) {
      asking = this.#ask(place, mayGoOn).finally(() => this.#asking.delete(text));
      this.#asking.set(text, asking);
    }
    return asking;
  }

  /** Whether nothing that came since is seen by any node; false = it may be. */
  isUnseen({ revision, before }: Since): boolean {
    return !before?.defined.size && !before?.served.size && this.configs.isSameSince(revision);
  }

  /**
   * Reads what has changed in the stores that are not so far; absent = in both. Whether everything was read that they had when this began; never rejects.
   */
  async pull(mayGoOn: () => boolean, reached?: ViewPlace): Promise<boolean> {
    await Promise.all(
      STORES.filter((store) => !this.#isAt(store, reached)).map(async (store) => {
        this.#whole.delete(store);
        if (await this.#followed[store].pull(mayGoOn)) this.#whole.add(store);
      }),
    );
    if (this.#whole.size < STORES.length) return false;
    this.#note();
    return true;
  }

  /** Whether everything up to this place was read. */
  isAt(reached: ViewPlace): boolean {
    return STORES.every((store) => this.#isAt(store, reached));
  }

  #isAt(store: ViewStore, reached: ViewPlace | undefined): boolean {
    const cursor = this.#place?.[store];
    const wanted = reached?.[store];
    if (!cursor || !wanted || !this.#whole.has(store)) return false;
    return cursor.incarnation === wanted.incarnation && cursor.revision >= wanted.revision;
  }

  /** Both stores have been read to their end. */
  #note(): void {
    const services = this.#cursors.get("services");
    const slices = this.#cursors.get("slices");
    this.configs.apply(this.#merged.sync());
    // A store that was never written to has no place.
    if (!services || !slices) return;
    this.#place = { services, slices };
    remember(this.#places, placeText(this.#place), this.configs.revision, PLACES_MAX);
  }

  /** What comes after the place of now is in `configs`: so the stores are asked for what was before. */
  async #ask(place: ViewPlace, mayGoOn: () => boolean): Promise<Since | undefined> {
    const now = this.#place;
    if (!now) return undefined;
    const { revision } = this.configs;
    const [defined, served] = await Promise.all([
      this.#touched("services", place, now, mayGoOn),
      this.#touched("slices", place, now, mayGoOn, LABEL_SERVICE_NAME),
    ]);
    if (!defined || !served) return undefined;
    const since = { revision, before: { defined, served } };
    remember(this.#asked, placeText(place), since, ASKED_MAX);
    return since;
  }

  async #touched(
    store: ViewStore,
    from: ViewPlace,
    { [store]: end }: ViewPlace,
    mayGoOn: () => boolean,
    label?: string,
  ): Promise<Set<string> | undefined> {
    const touched = new Set<string>();
    let cursor = from[store];
    // A place that lies ahead was never this store's.
    if (cursor.incarnation !== end.incarnation || cursor.revision > end.revision) return undefined;
    while (cursor.revision < end.revision) {
      if (!mayGoOn()) return undefined;
      const page = await this.stores.touchedSince(store, cursor, label);
      if (page.kind === "expired" || page.cursor.incarnation !== end.incarnation) return undefined;
      for (const key of page.keys) touched.add(key);
      if (touched.size > TOUCHED_MAX) return undefined;
      // Its head is not so far as what it has told before: it is another one.
      if (!page.more && page.cursor.revision < end.revision) return undefined;
      cursor = page.cursor;
    }
    return touched;
  }
}

function remember<Known>(places: Map<string, Known>, text: string, known: Known, max: number): void {
  places.delete(text);
  places.set(text, known);
  for (const oldest of places.keys()) {
    if (places.size <= max) return;
    places.delete(oldest);
  }
}

function objectOf(key: string): KubeObject {
  const [namespace, name] = key.split("/");
  return { metadata: { namespace, name } };
}
