/** What the passes of all endpoint controllers are made of, on the ports of one. */
import { withTimeout } from "../../core/base/timeout";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { Pass } from "../../controllers/controller";
import type { DueService } from "../sources/service-members";
import { DueServices } from "./due-services";
import { type FeedReader, FollowedStore } from "./followed-store";
import { KeptRows } from "./kept-rows";
import { EndpointPass, type LookResult } from "./pass";
import type { ControllerPorts } from "./ports";
import { ToldEvents } from "./told-events";

/** How long a foreign change of what a controller writes waits at least: against another writer it makes one write in a second (upstream). */
const FOREIGN_WAIT_MS = 1_000;

/** How long a pass waits for its events to be written. */
const EVENTS_WAIT_MS = 1_000;

export interface PassPlan {
  /** what reads each store, by the name of its cursor */
  readonly stores: Readonly<Record<string, readonly [ObjectFeed, FeedReader]>>;
  /** reads the controller's own rows */
  load(): void;
  look(due: DueService): Promise<LookResult>;
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

  /** The whole pass; it waits for its events for a moment. */
  pass({ stores, load, look }: PassPlan): Pass {
    const { rows, due, told } = this;
    const { clock, recorder, events } = this.ports;
    const pass = new EndpointPass({
      clock,
      recorder,
      rows,
      due,
      look,
      stores: Object.entries(stores).map(([name, [feed, reader]]) => new FollowedStore(name, feed, reader, rows, recorder)),
      load() {
        load();
        told.load();
        due.load();
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
