/**
 * Upstream's post-start hooks that have their work here, too. A hook that has passed in a cluster stays passed in this isolate, and costs nothing.
 *
 *   hook                                                   passes
 *   start-kube-apiserver-identity-lease-controller         after the first renewal of this place's Lease, at the latest after 10 s
 *   start-kube-apiserver-identity-lease-garbage-collector  at once: cron collects
 *   start-kubernetes-service-cidr-controller               when the Coordinator answers, which has made the default ServiceCIDR
 *   start-service-ip-repair-controllers                    after the first pass of repair in the life of its object
 *
 * In a deployment the last two pass at once in an unused cluster, which has no objects. Repair also passes at once where it ran recently. An isolate
 * begins with a request and works for requests alone, and no request may wait for work that another one began. So each probe does the work of a hook
 * itself, and waits for it a while. Upstream ends its process when repair takes longer than a minute; here the check goes on failing and says so.
 * Sources: upstream pkg/controlplane, pkg/registry/core/rest/storage_core.go.
 */
import type { Clock } from "../../core/base/ports";
import { pause } from "../../core/base/pause";
import { withTimeout } from "../../core/base/timeout";

/** The work of the hooks, in one cluster. Each may run again and side by side; what rejects is tried again. */
export interface StartWork {
  /** renews the identity Lease of this place */
  renewIdentity(): Promise<void>;
  /** whether the default ServiceCIDR has been looked at, and made where it was missing */
  syncServiceCIDR(): Promise<boolean>;
  /** asks for a pass of repair */
  askRepair(): Promise<void>;
  /** whether a pass of repair has come to its end */
  isRepaired(): Promise<boolean>;
}

export const HOOKS = {
  identity: "start-kube-apiserver-identity-lease-controller",
  collection: "start-kube-apiserver-identity-lease-garbage-collector",
  serviceCIDR: "start-kubernetes-service-cidr-controller",
  repair: "start-service-ip-repair-controllers",
} as const;
export type Hook = keyof typeof HOOKS;

/** Upstream: the deletion of the Lease of the process before may take so long. */
const IDENTITY_MS_MAX = 10_000;
/** Upstream's patience with the first repairs. */
const REPAIR_MS_MAX = 60_000;
/** Between two looks: the first wait, and the longest. */
const LOOK_MS = { first: 20, max: 1_000 } as const;
const NOT_FINISHED = "not finished";

interface State {
  hasPassed: boolean;
  /** its work has begun, in whatever request */
  hasBegun: boolean;
  /** when it was first asked for */
  readonly sinceMs: number;
}

/** The hooks of an isolate. */
export class StartHooks {
  /** by cluster and hook */
  readonly #states = new Map<string, State>();

  constructor(
    private readonly clock: Pick<Clock, "now" | "after">,
    /** clusters remembered; beyond it the memory starts over, and the next probe of a cluster costs as much as its first */
    private readonly clustersMax: number,
  ) {}

  /** Undefined when the hook has passed in the cluster, else why not. Does its work meanwhile, and waits for it at most `patienceMs`. Never rejects. */
  async problem(cluster: string, hook: Hook, work: StartWork, patienceMs: number): Promise<string | undefined> {
    const state = this.#stateOf(cluster, hook);
    const endMs = this.clock.now() + patienceMs;
    const leftMs = (): number => endMs - this.clock.now();
    for (let waitMs: number = LOOK_MS.first; !state.hasPassed; waitMs = Math.min(2 * waitMs, LOOK_MS.max)) {
      // Its call may outlive the patience of this probe; the next one looks again.
      const attempt = this.#attempt(hook, state, work, waitMs === LOOK_MS.first);
      if (await withTimeout(this.clock, Math.max(0, leftMs()), attempt).catch(() => false)) state.hasPassed = true;
      else if (leftMs() <= 0) return this.#why(hook, state);
      else await pause(this.clock, Math.min(waitMs, leftMs()));
    }
    return undefined;
  }

  /** Whether the hook passes. `isFirst`: of this probe. */
  async #attempt(hook: Hook, state: State, work: StartWork, isFirst: boolean): Promise<boolean> {
    const begins = !state.hasBegun;
    state.hasBegun = true;
    switch (hook) {
      case "identity":
        if (begins) await work.renewIdentity();
        return begins || this.#ageMs(state) >= IDENTITY_MS_MAX;
      case "collection":
        return true;
      case "serviceCIDR":
        return work.syncServiceCIDR();
      case "repair":
        if (await work.isRepaired()) return true;
        // A poke may be lost, so each probe asks.
        if (isFirst) await work.askRepair();
        return false;
    }
  }

  #why(hook: Hook, state: State): string {
    return hook === "repair" && this.#ageMs(state) >= REPAIR_MS_MAX
      ? "the first repair of ClusterIPs and node ports has not ended within 1m0s"
      : NOT_FINISHED;
  }

  #ageMs({ sinceMs }: State): number {
    return this.clock.now() - sinceMs;
  }

  #stateOf(cluster: string, hook: Hook): State {
    const key = `${cluster} ${hook}`;
    let state = this.#states.get(key);
    if (!state) {
      if (this.#states.size >= this.clustersMax * Object.keys(HOOKS).length) this.#states.clear();
      this.#states.set(key, (state = { hasPassed: false, hasBegun: false, sinceMs: this.clock.now() }));
    }
    return state;
  }
}
