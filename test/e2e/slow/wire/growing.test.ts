/**
 * Growing and shrinking as KEP-1880 describes it, on the real server. Clients create and delete Services all the while. Their requests fail only when
 * every range is full. No address is lost, given twice or left without its IPAddress.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { checkState } from "../../../support/checks/checkers";
import type { ObservedService } from "../../../../src/tools/check/observed";
import { Api } from "../../../support/clients/api";
import { observe } from "../../../support/server/observe";
import { serverForTests } from "../../../support/server/server-for-tests";

const SERVICES = "/api/v1/namespaces/default/services";
const CLIENTS = 32;
/** All that a /24 gives out. */
const OF_A_24 = 254;
/** All that 10.0.0.0/29, the default range, gives out, less default/kubernetes. */
const OF_DEFAULT = 5;
/** Upstream's own wait for an address that was deleted. */
const RELEASED_MS = 2_000;
const SMALL = "10.100.0.0/24";
const LARGE = "10.100.0.0/23";

const server = serverForTests(["--var", "SERVICE_CLUSTER_IP_RANGE=10.0.0.0/29"]);

/** A cluster of its own with the clients that work on it. */
class Load {
  readonly url: string;
  readonly api: Api;
  /** name -> the Service of the answer; nobody has deleted it since */
  readonly held = new Map<string, ObservedService>();
  readonly refusals: string[] = [];
  done = 0;
  #serial = 0;
  #stopped = false;

  constructor(name: string) {
    this.url = `${server.url}/clusters/${name}`;
    this.api = new Api(() => this.url);
  }

  /** The address, or undefined when all is full. */
  async create(): Promise<string | undefined> {
    const name = `s-${String(this.#serial++)}`;
    const { code, text } = await this.api.send("POST", SERVICES, { body: { metadata: { name }, spec: { ports: [{ port: 80 }] } } });
    if (code === 201) {
      const service = JSON.parse(text) as ObservedService;
      this.held.set(name, service);
      return service.spec?.clusterIP;
    }
    this.refusals.push(`${String(code)} ${text}`);
    return undefined;
  }

  async remove(name: string): Promise<void> {
    this.held.delete(name);
    await this.api.must("DELETE", `${SERVICES}/${name}`);
  }

  async fill(count: number): Promise<void> {
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, client) => {
        for (let i = client; i < count; i += CLIENTS) await this.create();
      }),
    );
    expect(this.refusals).toEqual([]);
  }

  async full(): Promise<void> {
    await this.create();
    expect(this.refusals.splice(0)).toEqual([expect.stringContaining("range is full")]);
  }

  /** Deletes this many Services, besides those that the clients delete. */
  async thin(count: number): Promise<void> {
    await this.#removeAll([...this.held.keys()].slice(0, count));
  }

  /** Deletes Services with matching addresses until there are none; an answer meanwhile may bring another one. */
  async empty(outside: RegExp): Promise<void> {
    const matching = () => [...this.held].filter(([, { spec }]) => outside.test(spec?.clusterIP ?? "")).map(([name]) => name);
    for (let names = matching(); names.length > 0; names = matching()) await this.#removeAll(names);
  }

  async #removeAll(names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.remove(name)));
  }

  /** Each client deletes a Service and creates another one, again and again: the deletion makes the room. */
  churn(): Promise<void> {
    const work = async () => {
      while (!this.#stopped) {
        const [name] = this.held.keys();
        if (name !== undefined) await this.remove(name);
        await this.create();
        this.done++;
      }
    };
    const all = Promise.all(Array.from({ length: CLIENTS }, work)).then(() => undefined);
    all.catch(() => (this.#stopped = true));
    return all;
  }

  async goesOn(rounds: number): Promise<void> {
    const from = this.done;
    while (this.done < from + rounds && !this.#stopped) await sleep(10);
  }

  stop(): void {
    this.#stopped = true;
  }

  async range(name: string, cidr: string): Promise<void> {
    await this.api.must("POST", "/apis/networking.k8s.io/v1/servicecidrs", { body: { metadata: { name }, spec: { cidrs: [cidr] } } });
    await this.api.until(async () => JSON.stringify((await this.#range(name)).body).includes('"status":"True"'), `${name} is Ready`);
  }

  async removeRange(name: string): Promise<void> {
    await this.api.must("DELETE", `/apis/networking.k8s.io/v1/servicecidrs/${name}`);
  }

  async goes(name: string): Promise<void> {
    await this.api.until(async () => (await this.#range(name)).code === 404, `${name} is gone`);
  }

  #range(name: string) {
    return this.api.get(`/apis/networking.k8s.io/v1/servicecidrs/${name}`);
  }

  /** Waits until the Services are those of the answers, each with its IPAddress. */
  async whole(): Promise<void> {
    const acknowledged = [...this.held.values()];
    await expect.poll(async () => checkState(await observe(this.url), acknowledged), { timeout: 20_000, interval: 200 }).toEqual([]);
    const { services } = await observe(this.url);
    expect(services).toHaveLength(acknowledged.length + 1);
  }

  /** Addresses of Services, less the default range. */
  addresses(): string[] {
    return [...this.held.values()].map(({ spec }) => spec?.clusterIP ?? "").filter((address) => !address.startsWith("10.0.0."));
  }
}

describe("ranges change while clients work", () => {
  it("a second /24 beside a full one, deleted later: creates succeed, and Services keep their addresses", async () => {
    const load = new Load("second");
    await load.range("first", SMALL);
    await load.fill(OF_DEFAULT + OF_A_24);
    await load.full();
    const work = load.churn();
    await load.goesOn(50);
    await load.range("second", "10.200.0.0/24");
    await load.goesOn(50);
    await load.fill(100);
    await load.goesOn(100);
    expect(load.addresses().filter((address) => address.startsWith("10.200.")).length).toBeGreaterThanOrEqual(100 - CLIENTS);
    await load.thin(100);
    await load.removeRange("second");
    await load.empty(/^10\.200\./);
    await load.goes("second");
    await load.goesOn(50);
    load.stop();
    await work;
    expect(load.refusals).toEqual([]);
    await load.whole();
  }, 120_000);

  it("a full /24 made a /23 and a /24 again: creates succeed, and Services keep their addresses", async () => {
    const load = new Load("grown");
    await load.range("small", SMALL);
    await load.fill(OF_DEFAULT + OF_A_24);
    await load.full();
    const work = load.churn();
    await load.goesOn(50);

    await load.range("large", LARGE);
    await load.removeRange("small");
    await load.goes("small");
    await load.goesOn(50);
    await load.fill(200);
    await load.goesOn(100);
    expect(load.addresses().some((address) => address.startsWith("10.100.1."))).toBe(true);

    await load.thin(200);
    await load.range("small", SMALL);
    await load.removeRange("large");
    // The other half gives out no address any more, so that deletions empty it.
    const outside = /^10\.100\.(1\.|0\.255$)/;
    await load.empty(outside);
    await load.goes("large");
    await load.goesOn(50);
    load.stop();
    await work;
    expect(load.refusals).toEqual([]);
    expect(load.addresses().filter((address) => outside.test(address))).toEqual([]);
    await load.whole();
    // A release in a frozen segment is tried again: the address can be given out within this time.
    await sleep(RELEASED_MS);
    await load.fill(OF_DEFAULT + OF_A_24 - load.held.size);
    await load.full();
    await load.whole();
  }, 120_000);
});
