/** What nodes hold after changes, against what each would be told of all Services by itself, over random histories. */
import { expect, it } from "vitest";
import { type MergedService, MergedServices } from "../../../../src/endpoints/merge/merged-services";
import type { NodePlace } from "../../../../src/endpoints/merge/usable-endpoints";
import { ProxyConfigs } from "../../../../src/endpoints/proxy-config/proxy-configs";
import { LOCAL_PIECE, SHARED_PIECE } from "../../../../src/endpoints/proxy-config/service-bytes";
import { keyOf, type Ref, textOf } from "../../../support/proxies/page-texts";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { RandomServices } from "../../../support/worlds/random-services";

const SEED = 20_261_123;
const HISTORIES = 25;
const STEPS = 120;
const ZONES = ["z1", "z2", "z3", undefined];

/** A data plane: it keeps what pages say. */
class Client {
  #place: NodePlace;
  readonly held = new Map<string, string>();
  #revision: number | undefined;

  constructor(name: string, zone: string | undefined) {
    this.#place = { name, zone };
  }

  get place(): NodePlace {
    return this.#place;
  }

  /** What it has is of its former zone. */
  move(zone: string | undefined): void {
    if (zone !== this.#place.zone) this.#revision = undefined;
    this.#place = { ...this.#place, zone };
  }

  /** Answers whether something was new. */
  poll(configs: ProxyConfigs): boolean {
    const page = configs.page(this.place, this.#revision);
    if (!page) return false;
    if (page.isFull) this.held.clear();
    for (const text of page.services.map((pieces) => textOf(...pieces))) this.held.set(keyOf(JSON.parse(text) as Ref), text);
    for (const text of page.removed.map((bytes) => textOf(bytes))) this.held.delete(keyOf(JSON.parse(text) as Ref));
    this.#revision = page.revision;
    return true;
  }
}

it(`random histories (${HISTORIES} from seed ${SEED}): each node holds what it would be told alone, and hears nothing twice`, () => {
  let news = 0;
  let silences = 0;
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    const random = seededRandom(seed);
    const view = new MergedServices();
    const world = new RandomServices(random);
    const configs = new ProxyConfigs(pick(random, [1, 2, 100]));
    const merged = new Map<string, MergedService>();
    const clients = ["n1", "n2", "n3", "n4"].map((name, i) => new Client(name, ZONES[i]));
    for (let step = 0; step < STEPS; step++) {
      world.step(view);
      const changes = view.sync();
      configs.apply(changes);
      for (const ref of changes.removed) merged.delete(keyOf(ref));
      for (const one of changes.updated) merged.set(keyOf(one.service), one);
      const client = pick(random, clients);
      if (random.below(25) === 0) client.move(ZONES[random.below(ZONES.length)]);
      const isNew = client.poll(configs);
      if (isNew) news++;
      else silences++;
      const alone = [...merged].map(([key, one]): [string, string] => [
        key,
        textOf(...[SHARED_PIECE, LOCAL_PIECE].map((piece) => piece.bytesOf(one, client.place))),
      ]);
      expect(client.held, `seed ${seed}, step ${step}, ${client.place.name}`).toEqual(new Map(alone));
      expect(client.poll(configs), `seed ${seed}, step ${step}: asked again at once`).toBe(false);
    }
  }
  expect(news).toBeGreaterThan(HISTORIES * 10);
  expect(silences).toBeGreaterThan(HISTORIES * 10);
});
