/** What the passes of all endpoint controllers are made of, on the ports of one. */
import { withTimeout } from "../../core/base/timeout";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import { objectKey } from "../../api/store/state/keys";
import type { Pass } from "../../controllers/frame/controller";
import type { DueService } from "../sources/service-members";
import { DueServices } from "./due-services";
import { type FeedReader, FollowedStore } from "../../controllers/followed/followed-store";
import { KeptRows } from "../../controllers/followed/kept-rows";
import { EndpointPass, type LookResult } from "./pass";
import type { ControllerPorts } from "./ports";
import { Resync } from "./resync";
import { ToldEvents } from "./told-events";

/** How long a foreign change of what a controller writes waits at least: against another writer it makes one write in a second (upstream). */
const FOREIGN_WAIT_MS = 1_000;

/** How long a pass waits for its events to be written. */
const EVENTS_WAIT_MS = 1_000;

type FollowedStores = Readonly<Record<string, readonly [ObjectFeed, FeedReader]>>;

export interface PassPlan {
  /** what reads each store, by the name of its cursor */
  readonly stores: FollowedStores;
  /** what the objects of those stores refer to: read after them */
  readonly referredTo?: FollowedStores;
  /** reads the controller's own rows */
  load(): void;
  /** the keys of all Services that are known */
  serviceKeys(): Iterable<string>;
  /** `isCurrent`: every store was read to its end in this round. */
  look(due: DueService, isCurrent: boolean): Promise<LookResult>;
}

export class PassKit {
  readonly rows: KeptRows;
  readonly due: DueServices;
  readonly told: ToldEvents;

  /** @param action what the controller does, in CamelCase, for its events */
  constructor(
    private readonly ports: ControllerPorts,
    action: string,
  ) {
    this.rows = new KeptRows(ports.storage);
    this.due = new DueServices(this.rows);
    this.told = new ToldEvents(this.rows, ports.events, action);
  }

  /** Asks for a look at the Service after `waitMs`. */
  want(key: string, waitMs = 0): void {
    this.due.add({ key, isNew: false, changedAt: undefined }, this.ports.clock.now() + waitMs);
  }

  /** Somebody else changed what the controller writes for the Service. */
  wantAfterForeign(key: string): void {
    this.want(key, Math.max(FOREIGN_WAIT_MS, this.ports.batchMs));
  }

  /**
   * Whether the store has the object now. To be asked before what belongs to an object that the feed told to be gone is deleted: it may be back, as by
   * `kubectl replace --force`. Upstream deletes at once.
   */
  async isStored(feed: ObjectFeed, key: string): Promise<boolean> {
    const [text] = await feed.objectsNamed([objectKey(key)]);
    return Boolean(text);
  }

  /** The whole pass; it waits for its events for a moment. */
  pass({ stores, referredTo = {}, load, serviceKeys, look }: PassPlan): Pass {
    const { rows, due, told } = this;
    const { clock, recorder, events } = this.ports;
    const followed = (of: FollowedStores): FollowedStore[] =>
      Object.entries(of).map(([name, [feed, reader]]) => new FollowedStore(name, feed, reader, rows, recorder));
    const resync = new Resync(rows, serviceKeys);
    const pass = new EndpointPass({
      clock,
      recorder,
      rows,
      due,
      resync,
      look,
      stores: followed(stores),
      referredTo: followed(referredTo),
      load() {
        load();
        told.load();
        due.load();
        resync.load();
      },
    });
    return async () => {
      const result = await pass.run();
      // The rest is written behind the pass: a store of events that hangs holds up no endpoint.
      await withTimeout(clock, EVENTS_WAIT_MS, events.flush()).catch(() => undefined);
      return result;
    };
  }
}
