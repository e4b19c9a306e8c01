/** What goes on beside the Services: Nodes that renew their Leases, Pods that come, go and change, and ranges. */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { rfc3339Micros, rfc3339Seconds } from "../../../src/api/meta/time";
import type { WordRandom } from "../../../src/core/base/word-random";
import { Api, MERGE_PATCH, STRATEGIC_PATCH } from "../../../test/support/clients/api";
import { CarefulClient, rangeClient, type Tally } from "../../../test/support/clients/careful-clients";
import { seededRandom } from "../../../test/support/sim/platform/seeded-random";
import { APPS } from "./services";

const NODES = 20;
const PODS_PER_NODE = 2;
const RENEW_MS = 5_000;
/** Between two changes of Pods, in milliseconds; up to twice as long. */
const POD_CHANGE_MS = 1_000;
/** Between two steps of one range, in milliseconds; up to twice as long. */
const RANGE_STEP_MS = 2_000;

/** Of the servers of a run; Services are in the first of the ranges that stay. */
export const STAYING_RANGE = "10.96.0.0/16";
/** They come and go: two beside each other, one around them, and one within the range that stays. */
const RANGES = ["10.97.0.0/20", "10.97.16.0/20", "10.97.0.0/19", "10.96.0.0/20"];

/**
 * Of a run's requests that come seconds apart: the server closes a connection that rested for five, and a busy machine tells too late. A deletion without
 * an answer would leave out its Pod.
 */
export const OWN_CONNECTION = { Connection: "close" };

const NODES_PATH = "/api/v1/nodes";
const LEASES_PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const PODS_PATH = "/api/v1/namespaces/default/pods";

export interface SurroundingsSetting {
  url(): string;
  random: WordRandom;
  /** of what the clients of ranges were answered */
  tally: Tally;
  /** The server is away now and then: what fails is tried again. */
  kills: boolean;
}

export class Surroundings {
  readonly problems: string[] = [];
  readonly #setting: SurroundingsSetting;
  readonly #api: Api;
  readonly #ranges: CarefulClient[] = [];
  readonly #stopped = new AbortController();

  constructor(setting: SurroundingsSetting) {
    this.#setting = setting;
    this.#api = new Api(setting.url, OWN_CONNECTION);
    setMaxListeners(0, this.#stopped.signal);
  }

  /** Makes the Nodes and Pods. */
  async make(): Promise<void> {
    for (let node = 0; node < NODES; node++) {
      const name = nodeName(node);
      const renewTime = rfc3339Micros(Date.now());
      const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime };
      await this.#api.must("POST", LEASES_PATH, { body: { metadata: { name }, spec } });
      await this.#api.must("POST", NODES_PATH, { body: { metadata: { name } } });
      const now = rfc3339Seconds(Date.now());
      const conditions = [{ type: "Ready", status: "True", lastHeartbeatTime: now, lastTransitionTime: now }];
      await this.#api.must("PATCH", `${NODES_PATH}/${name}/status`, {
        body: { status: { conditions } },
        headers: { "Content-Type": STRATEGIC_PATCH },
      });
    }
    for (let pod = 0; pod < NODES * PODS_PER_NODE; pod++) await this.#makePod(pod);
  }

  /** Until it is stopped and every request is answered. */
  async run(): Promise<void> {
    const { random, url, tally } = this.#setting;
    const steps = RANGES.map((cidr, at) => {
      const client = new CarefulClient(`range-${String(at)}`, url, tally);
      this.#ranges.push(client);
      return rangeClient(client, seededRandom(random.next() * 2 ** 31), cidr);
    });
    await Promise.all([
      ...Array.from({ length: NODES }, (_, node) => this.#again(RENEW_MS, () => this.#renew(node))),
      this.#again(POD_CHANGE_MS, () => this.#changePod(random.below(NODES * PODS_PER_NODE))),
      ...steps.map((step) => this.#again(RANGE_STEP_MS, async () => void (await step()))),
    ]);
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** The ranges whose last request had no answer are read; false = some could not be. */
  async settle(): Promise<boolean> {
    const settled = await Promise.all(this.#ranges.flatMap((client) => client.held.map((held) => client.settle(held))));
    return settled.every((is) => is);
  }

  async #again(everyMs: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await sleep(everyMs * (1 + this.#setting.random.next()), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await work();
      } catch (error) {
        if (!this.#setting.kills) this.problems.push(textOf(error));
      }
    }
  }

  async #renew(node: number): Promise<void> {
    const spec = { renewTime: rfc3339Micros(Date.now()) };
    await this.#api.must("PATCH", `${LEASES_PATH}/${nodeName(node)}`, { body: { spec }, headers: { "Content-Type": MERGE_PATCH } });
  }

  async #makePod(pod: number): Promise<void> {
    const name = podName(pod);
    const spec = { nodeName: nodeName(pod % NODES), containers: [{ name: "c", image: "i" }] };
    const { code, text } = await this.#api.send("POST", PODS_PATH, {
      body: { metadata: { name, labels: { app: `web-${String(pod % APPS)}` } }, spec },
    });
    if (code !== 201 && code !== 409) throw new Error(`create of the Pod ${name}: ${String(code)} ${text}`);
    await this.#setReady(pod, "True");
  }

  async #changePod(pod: number): Promise<void> {
    const drawn = this.#setting.random.below(3);
    if (drawn > 0) return this.#setReady(pod, drawn === 1 ? "True" : "False");
    await this.#api.send("DELETE", `${PODS_PATH}/${podName(pod)}`, { query: { gracePeriodSeconds: "0" } });
    await this.#makePod(pod);
  }

  async #setReady(pod: number, ready: string): Promise<void> {
    const ip = `10.1.0.${String(pod + 1)}`;
    const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: ready }] };
    const { code, text } = await this.#api.patch(`${PODS_PATH}/${podName(pod)}/status`, STRATEGIC_PATCH, { status });
    if (code === 404 && this.#setting.kills) return this.#makePod(pod);
    if (code !== 200) throw new Error(`status of the Pod ${podName(pod)}: ${String(code)} ${text}`);
  }
}

/** Node's `fetch` says why alone in the cause. */
function textOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause === undefined ? String(error) : `${String(error)}: ${String(cause)}`;
}

function nodeName(node: number): string {
  return `node-${String(node)}`;
}

function podName(pod: number): string {
  return `pod-${String(pod)}`;
}
