/**
 * What nodes hold after their polls, against what the stores have, over random histories: views are forgotten, stores forget their history, begin anew or
 * are away or lose a call, passes run out of time, answers get lost, and notices of changes as well.
 */
import { expect, it } from "vitest";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import { keyOf as objectKey } from "../../../../src/api/meta/object-key";
import { MergedServices } from "../../../../src/endpoints/merge/merged-services";
import type { NodePlace } from "../../../../src/endpoints/merge/usable-endpoints";
import type { ViewStore } from "../../../../src/endpoints/proxy-config/followed-view";
import { pageTag, readPageTag, type ViewPlace } from "../../../../src/endpoints/proxy-config/page-tag";
import { ProxyConfigs } from "../../../../src/endpoints/proxy-config/proxy-configs";
import { ProxyView } from "../../../../src/endpoints/proxy-config/proxy-view";
import { UnseenChanges } from "../../../../src/endpoints/proxy-config/unseen-changes";
import { KeptStore } from "../../../support/proxies/kept-store";
import { keyOf, type Ref, textOf } from "../../../support/proxies/page-texts";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { RandomServices } from "../../../support/worlds/random-services";

const SEED = 20_261_130;
const HISTORIES = 10;
const STEPS = 120;
const ZONES = ["z1", "z2", "z3", undefined];
const STORES: readonly ViewStore[] = ["services", "slices"];

class History {
  readonly stores = { services: new KeptStore(), slices: new KeptStore() };
  readonly counts = { whole: 0, changes: 0, unchanged: 0, refused: 0, broken: 0, shared: 0 };
  readonly unseen = new UnseenChanges();
  readonly #world: RandomServices;
  #now = 0;
  #view: ProxyView;

  constructor(private readonly random: ReturnType<typeof seededRandom>) {
    this.#world = new RandomServices(random);
    this.#view = this.#newView();
    for (const store of STORES) {
      this.stores[store].page = pick(random, [1, 3, 500]);
      this.stores[store].called = () => this.#called();
    }
  }

  step(): void {
    const { random, stores } = this;
    const draw = random.below(40);
    const store = stores[pick(random, STORES)];
    if (draw === 0) store.forget();
    else if (draw === 1) store.beginAnew(random.below(2) === 0 ? store.revision : 1 + random.below(store.revision));
    else if (draw === 2) store.isAway = true;
    else if (draw < 8) this.#view = this.#newView();
    else this.#change();
    if (random.below(3) === 0) for (const one of STORES) stores[one].isAway = false;
  }

  ask(node: NodePlace, etag: string | undefined, reached: ViewPlace | undefined) {
    return this.#view.poll({ node, ...(etag === undefined ? {} : { etag }), ...(reached ? { reached } : {}) });
  }

  /** What a node would hold that has just read everything. */
  wanted(node: NodePlace): Map<string, string> {
    const merged = new MergedServices();
    const objectsOf = (store: ViewStore) => [...this.stores[store].objects.values()].map((text) => JSON.parse(text) as KubeObject);
    merged.replaceServices(objectsOf("services") as never);
    merged.replaceSlices(objectsOf("slices") as never);
    const configs = new ProxyConfigs();
    configs.apply(merged.sync());
    const texts = (configs.page(node)?.services ?? []).map((pieces) => textOf(...pieces));
    return new Map(texts.map((text) => [keyOf(JSON.parse(text) as Ref), text]));
  }

  #newView(): ProxyView {
    const { stores } = this;
    return new ProxyView({
      stores: { feed: (store) => stores[store], touchedSince: (store, ...asked) => stores[store].touchedSince(...asked) },
      clock: { now: () => this.#now },
      recorder: { log: () => undefined },
    });
  }

  /** Each call takes its time, and some are lost. */
  #called(): void {
    this.#now += pick(this.random, [0, 1, 20, 900]);
    if (this.random.below(30) === 0) {
      this.counts.broken++;
      throw new Error("lost");
    }
  }

  #change(): void {
    this.#world.step(new MergedServices());
    for (const [store, objects] of [
      [this.stores.services, this.#world.services],
      [this.stores.slices, this.#world.slices],
    ] as const) {
      const keys = new Set([...objects.values()].map(objectKey));
      for (const object of objects.values()) if (store.objects.get(objectKey(object)) !== JSON.stringify(object)) store.put(object);
      for (const key of [...store.objects.keys()]) if (!keys.has(key)) store.delete(key);
    }
  }
}

/** A node and its poll, which the Worker holds. */
class Client {
  readonly held = new Map<string, string>();
  #etag: string | undefined;

  constructor(
    private readonly history: History,
    private readonly random: ReturnType<typeof seededRandom>,
    readonly place: NodePlace,
  ) {}

  /** Answers whether the node has what the view has said last. */
  async poll(isLost: boolean): Promise<boolean> {
    const { stores, counts, unseen } = this.history;
    const known = readPageTag(this.#etag ?? "");
    const later = known && this.random.below(2) === 0 ? unseen.since("", known, known) : undefined;
    if (later) {
      // Another poll was told that this place is as good.
      counts.shared++;
      this.#etag = pageTag(later, this.place.zone);
    }
    // The Worker has seen the stores up to somewhere, or does not know.
    const reached = () => ({ services: stores.services.cursor, slices: stores.slices.cursor });
    const isTold = this.#etag !== undefined && this.random.below(2) === 0;
    const answer = await this.history.ask(this.place, this.#etag, isTold ? reached() : undefined);
    if (!answer.ok) counts.refused++;
    if (!answer.ok || isLost) return false;
    const { etag, page, isUnseen } = answer.value;
    const [from, to] = [readPageTag(this.#etag ?? ""), readPageTag(etag)];
    if (isUnseen && from && to) unseen.note("", from, to);
    counts[page ? (page.isFull ? "whole" : "changes") : "unchanged"]++;
    // A client of older habits keeps the ETag of its page.
    if (page || this.random.below(2) === 0) this.#etag = etag;
    if (page?.isFull) this.held.clear();
    for (const text of (page?.services ?? []).map((pieces) => textOf(...pieces))) this.held.set(keyOf(JSON.parse(text) as Ref), text);
    for (const text of (page?.removed ?? []).map((bytes) => textOf(bytes))) this.held.delete(keyOf(JSON.parse(text) as Ref));
    return true;
  }
}

it(`random histories (${HISTORIES} from seed ${SEED}): each node holds what the stores have, whatever was forgotten or lost`, async () => {
  const sums = { whole: 0, changes: 0, unchanged: 0, refused: 0, broken: 0, shared: 0, lost: 0 };
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    const random = seededRandom(seed);
    const history = new History(random);
    const clients = ["n1", "n2", "n3", "n4"].map((name, i) => new Client(history, random, { name, zone: ZONES[i] }));
    for (let step = 0; step < STEPS; step++) {
      history.step();
      const asking = clients.filter(() => random.below(2) === 0);
      const answered = await Promise.all(
        asking.map(async (client) => {
          const isLost = random.below(8) === 0;
          if (isLost) sums.lost++;
          return [client, await client.poll(isLost)] as const;
        }),
      );
      for (const [{ held, place }, isAnswered] of answered) {
        if (isAnswered) expect(held, `seed ${seed}, step ${step}, ${place.name}`).toEqual(history.wanted(place));
      }
    }
    for (const name of ["whole", "changes", "unchanged", "refused", "broken", "shared"] as const) sums[name] += history.counts[name];
  }
  for (const [name, sum] of Object.entries(sums)) expect(sum, name).toBeGreaterThan(HISTORIES * 2);
});
