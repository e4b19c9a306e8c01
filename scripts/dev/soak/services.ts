/** Services that come and go at a given rate. The names come again, and each deletion is of the oldest one. */
import { setTimeout as sleep } from "node:timers/promises";
import type { WordRandom } from "../../../src/core/base/word-random";
import type { CarefulClient, Held } from "../../../test/support/clients/careful-clients";
import { getJson } from "../../../test/support/server/server";
import type { Ledger } from "./ledger";

export const PART_LABEL = "part";
/** Services are in so many parts, by their label. */
export const PARTS = 10;
/** Pods have one of so many labels, which some Services select. */
export const APPS = 8;

const COLLECTION = "/api/v1/namespaces/default/services";
/** Requests under way. What is due beyond them is left out: the rate is the machine's then. */
const UNDER_WAY_MAX = 100;
const TICK_MS = 10;
/** After an answer that the server is not there or has too much to do. */
const PAUSE_MS = 500;

/** The part of a Service by its name; -1 = it is in none. */
export function partOf(name: string): number {
  const [, slot] = /^soak-(\d+)$/.exec(name) ?? [];
  return slot === undefined ? -1 : Number(slot) % PARTS;
}

export interface ServicesSetting {
  client: CarefulClient;
  ledger: Ledger;
  random: WordRandom;
  /** of creates, and of deletes as soon as enough Services are there */
  ratePerSecond: number;
  aliveMax: number;
}

export class Services {
  readonly counts = { created: 0, deleted: 0, leftOut: 0 };
  readonly #setting: ServicesSetting;
  readonly #free: Held[];
  readonly #alive: Held[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #isStopped = false;

  constructor(setting: ServicesSetting) {
    this.#setting = setting;
    const { client, aliveMax } = setting;
    this.#free = Array.from({ length: aliveMax + 2 * UNDER_WAY_MAX }, (_, slot) => client.holds(COLLECTION, `soak-${String(slot)}`));
  }

  get alive(): number {
    return this.#alive.length;
  }

  get isFull(): boolean {
    return this.#alive.length >= this.#setting.aliveMax;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Until it is stopped and every request is answered. While there are few, it creates twice as many instead of deleting. */
  async run(): Promise<void> {
    const { ratePerSecond } = this.#setting;
    let last = performance.now();
    for (let due = 0; !this.#isStopped;) {
      await sleep(TICK_MS);
      const now = performance.now();
      due += ((now - last) / 1_000) * ratePerSecond;
      last = now;
      for (; due >= 1; due--) {
        this.#begin(() => this.#create());
        this.#begin(() => (this.isFull ? this.#delete() : this.#create()));
      }
    }
    await Promise.all(this.#underWay);
  }

  /** All objects whose last request had no answer are read; false = some could not be. */
  async settle(): Promise<boolean> {
    const { client } = this.#setting;
    const settled = await Promise.all(
      [...this.#free, ...this.#alive].filter(({ doubt }) => doubt !== undefined).map((held) => client.settle(held)),
    );
    return settled.every((is) => is);
  }

  /** Compares the objects of all requests with a list. To be called when all is settled. */
  async lost(): Promise<string[]> {
    const { client } = this.#setting;
    const { items } = await getJson<{ items: { metadata: { name: string; uid: string } }[] }>(client.url() + COLLECTION);
    const uids = new Map(items.map(({ metadata: { name, uid } }) => [name, uid]));
    return client.held.flatMap(({ name, known }) => {
      const [is, was] = [uids.get(name), known?.metadata?.uid];
      return is === was ? [] : [`I4: ${name} is ${is ?? "not there"}, and was acknowledged as ${was ?? "deleted"}`];
    });
  }

  #begin(work: () => Promise<void>): void {
    if (this.#underWay.size >= UNDER_WAY_MAX) return void this.counts.leftOut++;
    const running = work().finally(() => this.#underWay.delete(running));
    this.#underWay.add(running);
  }

  async #create(): Promise<void> {
    const { client } = this.#setting;
    const held = this.#free.shift();
    if (!held) return;
    if (!(await this.#isSettled(held))) return void this.#free.push(held);
    const outcome = held.known ? "done" : await client.create(held, this.#content(held.name));
    if (outcome === "done") {
      this.counts.created++;
      const { uid = "", resourceVersion = "" } = held.known?.metadata ?? {};
      this.#setting.ledger.created(Number(resourceVersion), { name: held.name, uid });
      this.#alive.push(held);
      return;
    }
    await sleep(PAUSE_MS);
    this.#free.push(held);
  }

  async #delete(): Promise<void> {
    const { client, ledger } = this.#setting;
    const held = this.#alive.shift();
    if (!held) return;
    const uid = held.known?.metadata?.uid ?? "";
    if (!(await this.#isSettled(held))) return void this.#alive.push(held);
    const outcome = held.known ? await client.remove(held) : "done";
    if (outcome === "done") {
      this.counts.deleted++;
      ledger.deleted(uid);
      this.#free.push(held);
      return;
    }
    await sleep(PAUSE_MS);
    this.#alive.push(held);
  }

  /** Its state is known; otherwise the server is away. */
  async #isSettled(held: Held): Promise<boolean> {
    if (held.doubt === undefined) return true;
    if (await this.#setting.client.settle(held)) return true;
    await sleep(PAUSE_MS);
    return false;
  }

  #content(name: string) {
    const { random } = this.#setting;
    const ports = [{ name: "http", protocol: "TCP", port: 80 }];
    const drawn = random.below(40);
    const spec = {
      ports,
      ...(drawn === 0 ? { selector: { app: `web-${String(random.below(APPS))}` } } : {}),
      ...(drawn === 1 ? { type: "NodePort" } : {}),
      ...(drawn === 2 ? { clusterIP: "None" } : {}),
    };
    return { metadata: { labels: { [PART_LABEL]: String(partOf(name)) } }, spec };
  }
}
