/** The namespaces of a simulated cluster: a store of the least that there can be, and the real controller that empties and ends them. */
import { deleteNamespaces } from "../../../src/controllers/namespaces/namespace-deletion";
import { notFound } from "../../../src/api/meta/status";
import type { Namespace } from "../../../src/api/meta/kubernetes";
import type { GetResult } from "../../../src/api/rpc/store";
import { withTimeout } from "../../../src/core/base/timeout";
import type { SimCluster } from "./cluster";
import { type Caller, SimNode } from "./network";

const RESOURCE = { group: "", resource: "namespaces", kind: "Namespace" };
const CALL_TIMEOUT_MS = 20_000;

interface Row {
  uid: string;
  isTerminating: boolean;
}

export class SimNamespaces {
  readonly #rows = new Map<string, Row>([["default", { uid: "uid-of-default", isTerminating: false }]]);
  readonly #node: SimNode<ReadonlyMap<string, Row>>;
  #uids = 0;
  #running = false;
  /** of the controller */
  #life = 0;

  constructor(private readonly cluster: SimCluster) {
    this.#node = new SimNode<ReadonlyMap<string, Row>>(
      "namespaces",
      cluster.network,
      () => this.#rows,
      () => Promise.resolve(),
    );
  }

  has(name: string): boolean {
    return this.#rows.has(name);
  }

  /** What a store asks before it creates something there. */
  lookUp(caller: Caller, name: string): Promise<GetResult> {
    const answer = (rows: ReadonlyMap<string, Row>): Promise<GetResult> => {
      const row = rows.get(name);
      if (!row) return Promise.resolve({ ok: false, status: notFound(RESOURCE, name) });
      const metadata = { name, uid: row.uid, ...(row.isTerminating ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}) };
      return Promise.resolve({ ok: true, object: JSON.stringify({ metadata } satisfies Namespace) });
    };
    return this.cluster.network.call(caller, this.#node, answer, () => "learnNamespace");
  }

  /** Creates it, or begins its deletion. */
  toggle(name: string): void {
    const row = this.#rows.get(name);
    if (!row) this.#rows.set(name, { uid: `uid-of-${name}-${++this.#uids}`, isTerminating: false });
    else row.isTerminating = true;
  }

  /** A pass of the controller, unless one is under way. One whose controller dies never ends. */
  async pass(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    const { network, scheduler, services } = this.cluster;
    const life = this.#life;
    const isAlive = (): boolean => life === this.#life;
    const caller: Caller = { isAlive, die: () => void (isAlive() && this.#crash()) };
    const answered = <T>(call: Promise<T>): Promise<T> => withTimeout(scheduler.clock(isAlive), CALL_TIMEOUT_MS, call);
    const terminating = [...this.#rows].flatMap(([name, { uid, isTerminating }]) => (isTerminating ? [{ name, uid }] : []));
    try {
      await deleteNamespaces({
        recorder: { log: () => undefined },
        terminating: () => Promise.resolve(terminating),
        content: [
          {
            group: "",
            resource: "services",
            close: (name, uid) =>
              answered(
                network.call(
                  caller,
                  services,
                  (brain) => brain.closeNamespace(name, uid),
                  () => "closeNamespace",
                ),
              ),
            empty: (name, uid) =>
              answered(
                network.call(
                  caller,
                  services,
                  (brain) => brain.emptyNamespace(name, uid),
                  () => "emptyNamespace",
                ),
              ),
          },
        ],
        report: () => Promise.resolve(),
        finalize: ({ name, uid }) => {
          if (this.#rows.get(name)?.uid === uid) this.#rows.delete(name);
          return Promise.resolve();
        },
      });
    } finally {
      if (isAlive()) this.#running = false;
    }
  }

  /** The controller's object is gone; the next pass is one of a new one. */
  #crash(): void {
    this.#life++;
    this.#running = false;
  }
}
