import { DurableObject } from "cloudflare:workers";
import { Owner } from "../src/addresses/alloc/owner";
import type { BatchCounters } from "../src/core/base/batch";
import type {
  AllocateAnswer,
  AllocateItem,
  ConfigureResult,
  CopyChunk,
  CopyOutResult,
  CountedOwner,
  InspectedOwner,
  OwnerConfig,
  ReceiveResult,
  Receiving,
  ReleaseItem,
  ReleaseResult,
  ServiceCIDRRpc,
} from "../src/addresses/rpc/service-cidr";
import type { Wipeable } from "../src/tenancy/rpc";
import type { BitmapCheck, RepairedOwner } from "../src/addresses/rpc/repair";
import { systemClock, systemRandom, systemRecorder } from "./ports";
import { migrate } from "./sql/migrate";
import { OWNER_MIGRATIONS, ownerStorage } from "./sql/owner-sql";
import { wipe } from "./wipe";

/**
 * The object that alone writes the addresses of one ServiceCIDR; named "<cluster>/<uid of the ServiceCIDR>" by its callers, which it does
 * not need to know. A shell: every rule is in alloc/owner. It needs no alarm, since released tokens are forgotten by later releases.
 */
export class ServiceCIDR extends DurableObject<object> implements ServiceCIDRRpc, CountedOwner, InspectedOwner, RepairedOwner, Wipeable {
  readonly #owner: Owner;

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    migrate(ctx.storage, OWNER_MIGRATIONS, systemClock.now());
    this.#owner = new Owner({
      storage: ownerStorage(ctx.storage),
      clock: systemClock,
      random: systemRandom(),
      recorder: systemRecorder({ object: "ServiceCIDR", id: ctx.id.name ?? ctx.id.toString() }),
    });
  }

  configure(config: OwnerConfig): Promise<ConfigureResult> {
    return this.#owner.configure(config);
  }

  allocate(items: AllocateItem[]): Promise<AllocateAnswer> {
    return this.#owner.allocate(items);
  }

  release(items: ReleaseItem[]): Promise<ReleaseResult[]> {
    return this.#owner.release(items);
  }

  seed(...[epoch, items]: Parameters<ServiceCIDRRpc["seed"]>): ReturnType<ServiceCIDRRpc["seed"]> {
    return this.#owner.seed(epoch, items);
  }

  rowsSince(afterPosition: number, limit: number): ReturnType<ServiceCIDRRpc["rowsSince"]> {
    return this.#owner.rowsSince(afterPosition, limit);
  }

  countTaken(intervals: { first: string; last: string }[]): ReturnType<ServiceCIDRRpc["countTaken"]> {
    return this.#owner.countTaken(intervals);
  }

  free(): ReturnType<ServiceCIDRRpc["free"]> {
    return this.#owner.free();
  }

  partition(prefixes: string[], rowsMax: number): ReturnType<ServiceCIDRRpc["partition"]> {
    return this.#owner.partition(prefixes, rowsMax);
  }

  copyOut(handoff: Receiving, after: string): Promise<CopyOutResult> {
    return this.#owner.copyOut(handoff, after);
  }

  receive(handoff: number, chunk: CopyChunk): Promise<ReceiveResult> {
    return this.#owner.receive(handoff, chunk);
  }

  usage(intervals: { first: string; last: string }[]): ReturnType<CountedOwner["usage"]> {
    return this.#owner.usage(intervals);
  }

  takenIn(interval: { first: string; last: string }): ReturnType<CountedOwner["takenIn"]> {
    return this.#owner.takenIn(interval);
  }

  rowsOf(addresses: string[]): ReturnType<RepairedOwner["rowsOf"]> {
    return this.#owner.rowsOf(addresses);
  }

  inspect(afterPosition: number, limit: number): ReturnType<InspectedOwner["inspect"]> {
    return this.#owner.inspect(afterPosition, limit);
  }

  checkBitmap(afterPosition: number, limit: number): Promise<BitmapCheck> {
    return this.#owner.checkBitmap(afterPosition, limit);
  }

  wipe(): Promise<string[]> {
    return wipe(this.ctx);
  }

  /** Commits and calls since the object started, for tests and benchmarks: operations / drains is the group size. */
  counters(): BatchCounters {
    return this.#owner.counters;
  }
}
