/**
 * Changes of a store that another object hears of before they are committed, so that it needs not ask for what it has not heard of (rpc/policy.ts).
 *
 * A write leaves its turn, tells, and comes back. While one has told and has not ended, the store's feed says that it is not settled. Whatever died on the
 * way, one of two holds. The change is not committed, or the other object asks this store before it says anything more. It was told, or has begun anew
 * with nothing on disk: what it had kept there went before it answered.
 */
import { Batched } from "../core/turns/batched";
import { RPC_TIMEOUT_MS } from "../core/base/limits";
import type { Clock } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { serviceUnavailable, type Status } from "../api/meta/status";
import { isMethodMissing } from "../api/rpc/older-release";
import type { PolicyRpc } from "../api/rpc/policy";
import type { Operation, StoreExtension } from "../api/store/state/extension";
import { forwarded } from "../api/store/state/forwarded-extension";

/** Writes of one moment tell together; the second call of a burst has all but the first. */
const TOLD_TOGETHER = { most: 10_000, waitMs: RPC_TIMEOUT_MS };
const RETRY_AFTER_SECONDS = 1;

export interface AnnouncedPorts {
  clock: Clock;
  /** of the store */
  resource: string;
  /** who hears; makes a stub for one call */
  listener(): Pick<PolicyRpc, "rulesChanging">;
}

export class AnnouncedWrites {
  /** have told, or are about to, and have not ended */
  readonly #underWay = new Set<object>();
  /** have told */
  readonly #told = new WeakSet<object>();
  readonly #calls: Batched<undefined, undefined>;

  constructor(private readonly ports: AnnouncedPorts) {
    this.#calls = new Batched(ports.clock, TOLD_TOGETHER, async (asked) => {
      await this.#tell();
      return asked;
    });
  }

  /** No change that was told is under way. */
  get isSettled(): boolean {
    return this.#underWay.size === 0;
  }

  /** Everything may have changed: the store is on data that came back from a backup. Rejects where that cannot be told. */
  tell(): Promise<void> {
    return this.#tell();
  }

  /** The extension of the store, inside the telling. */
  around<Supply>(inner: StoreExtension<Supply>): StoreExtension<Supply> {
    return {
      ...forwarded(inner),
      admit: (change, operation) => {
        const admission = inner.admit?.(change, operation) ?? { kind: "go" };
        if (admission.kind !== "go" || change.dryRun || this.#told.has(operation)) return admission;
        return { kind: "wait", supply: () => this.#announced(operation) };
      },
      ended: (operation) => {
        this.#underWay.delete(operation);
        inner.ended?.(operation);
      },
    };
  }

  /** Each call begins after the writes it is for have become known as under way. */
  async #announced<Supply>(operation: Operation<Supply>): Promise<Status | undefined> {
    this.#underWay.add(operation);
    try {
      await this.#calls.ask(undefined, () => undefined);
    } catch {
      return serviceUnavailable("the rules of access cannot be changed now, try again later", RETRY_AFTER_SECONDS);
    }
    this.#told.add(operation);
    return undefined;
  }

  /** Twice: an object that has gone fails its first call. */
  async #tell(): Promise<void> {
    try {
      await this.#tellOnce();
    } catch {
      await this.#tellOnce();
    }
  }

  async #tellOnce(): Promise<void> {
    const { clock, listener, resource } = this.ports;
    try {
      // Half of the time for both.
      await withTimeout(clock, RPC_TIMEOUT_MS / 2, listener().rulesChanging(resource));
    } catch (error) {
      // One of the release before asks this store each time.
      if (!isMethodMissing(error, "rulesChanging")) throw error;
    }
  }
}
