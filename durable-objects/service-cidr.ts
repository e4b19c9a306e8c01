/**
 * The object that alone writes the addresses of one ServiceCIDR. Its callers name it "<cluster>/<uid of the ServiceCIDR>"; the object does not need its
 * name. A shell: the rules are in src/addresses/alloc/owner. It needs no alarm: later releases forget the released tokens.
 */
import { Owner } from "../src/addresses/alloc/owner";
import type { BatchCounters } from "../src/core/turns/batch";
import type { CountedOwner, InspectedOwner, ServiceCIDRRpc } from "../src/addresses/rpc/service-cidr";
import type { Wipeable } from "../src/tenancy/rpc";
import type { RepairedOwner } from "../src/addresses/rpc/repair";
import type { Env } from "./platform/env";
import { systemClock, systemRandom, systemRecorder } from "./platform/ports";
import { shellOf } from "./platform/shell";
import { migrate } from "./sql/migrate";
import { OWNER_MIGRATIONS, ownerStorage } from "./sql/owner-sql";
import { wipe } from "./platform/wipe";

const ALLOCATION_METHODS = ["configure", "allocate", "release", "seed", "rowsSince", "countTaken", "free"] as const;
const HANDOFF_METHODS = ["partition", "copyOut", "receive"] as const;
const INSPECTION_METHODS = ["usage", "takenIn", "rowsOf", "inspect", "checkBitmap"] as const;

export class ServiceCIDR
  extends shellOf<Owner>()(...ALLOCATION_METHODS, ...HANDOFF_METHODS, ...INSPECTION_METHODS)
  implements ServiceCIDRRpc, CountedOwner, InspectedOwner, RepairedOwner, Wipeable
{
  constructor(ctx: DurableObjectState, env: Env) {
    migrate(ctx.storage, OWNER_MIGRATIONS, systemClock.now());
    const owner = new Owner({
      storage: ownerStorage(ctx.storage),
      durable: () => ctx.storage.sync(),
      abort: (reason) => ctx.abort(reason),
      clock: systemClock,
      random: systemRandom(),
      recorder: systemRecorder({ object: "ServiceCIDR", id: ctx.id.name ?? ctx.id.toString() }),
    });
    super(ctx, env, owner);
  }

  wipe(): Promise<string[]> {
    return wipe(this.ctx);
  }

  /** Commits and calls since the object started, for tests and benchmarks: operations / drains is the group size. */
  counters(): BatchCounters {
    return this.brain.counters;
  }
}
