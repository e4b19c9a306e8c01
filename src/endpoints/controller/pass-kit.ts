/**
 * What the passes of all endpoint controllers are made of, on the ports of one: the frame (controllers/frame/frame.ts), whose pieces of work are looks at
 * Services.
 *
 * - Nothing is looked at before every feed has been read to its end once. What a controller knows of its own writes dies with its object, and the
 *   feeds have them all.
 * - The Services that wait for a look are rows, too (due-services.ts). A Service whose write is refused waits alone, longer each time. No change shortens
 *   the wait, so churn under a full quota makes no storm. A store that does not answer ends the round.
 * - Nodes are read after the Pods that refer to them, and again before a Node of a Pod counts as missing: the poke that tells of it may come later.
 * - A write without an answer may have been carried out. So every feed is read again before the next look.
 * - Rounds with room look at Services of which nothing was told (resync.ts).
 * - While others wait for the thread, the pass rests after each round: three times as long as it worked, a second at most. So a burst of changes makes
 *   few writes, and clients share the thread. On a free thread the pass goes on at once.
 */
import { Pace, REST_MODESTLY } from "../../core/base/pause";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import { objectKey } from "../../api/store/state/keys";
import { type FeedReader, FollowedStore } from "../../controllers/followed/followed-store";
import { KeptRows } from "../../controllers/followed/kept-rows";
import type { Pass } from "../../controllers/frame/controller";
import { Frame } from "../../controllers/frame/frame";
import type { Outcome, Round } from "../../controllers/frame/round";
import type { DueService } from "../sources/service-members";
import { DueServices } from "./due-services";
import type { EndpointControllerPorts } from "./ports";
import { Resync } from "./resync";
import { ToldEvents } from "./told-events";

/** Services looked at in one round; behind them the feeds are read again, so that a live change waits for few of a crowd. */
const LOOKS_MAX = 100;
/** Facts that are collected before they are saved: the list of a large cluster is too much for memory. */
const SAVED_TOGETHER = 2_000;
/** How long a foreign change of what a controller writes waits at least: against another writer it makes one write in a second (upstream). */
const FOREIGN_WAIT_MS = 1_000;

/**
 * - `unread`: the next round looks again, when what the Service's objects refer to has been read anew
 * - `later`: the Service waits for another look, which a change makes earlier
 * - `refused`: so it does, and no change makes it earlier
 * - `closed`: the same, but without a change there is no look: its namespace is being emptied
 * - `silent`: as later, and its store is not asked again in this round
 */
export type LookResult = "done" | "unread" | "later" | "refused" | "closed" | "silent";

const OUTCOMES: Readonly<Record<LookResult, Outcome>> = {
  done: "done",
  unread: "none",
  later: "waits",
  refused: "waits",
  closed: "waits",
  silent: "silent",
};

/** What a look may rely on. */
export interface LookState {
  /** Everything was read that pokes told of. */
  readonly isCurrent: boolean;
  /** What the objects of the first stores refer to was read in this round. */
  readonly areReferredRead: boolean;
}

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
  look(due: DueService, state: LookState): Promise<LookResult>;
}

export class PassKit {
  readonly rows: KeptRows;
  readonly due: DueServices;
  readonly told: ToldEvents;

  /** @param action what the controller does, in CamelCase, for its events */
  constructor(
    private readonly ports: EndpointControllerPorts,
    action: string,
  ) {
    this.rows = new KeptRows(ports.storage, SAVED_TOGETHER);
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

  /** The whole pass. */
  pass({ stores, referredTo = {}, load, serviceKeys, look }: PassPlan): Pass {
    const { rows, due } = this;
    const { clock, recorder, events } = this.ports;
    const followed = (of: FollowedStores): FollowedStore[] =>
      Object.entries(of).map(([name, [feed, reader]]) => new FollowedStore(name, feed, reader, rows, recorder));
    const first = followed(stores);
    const referred = followed(referredTo);
    let areReferredRead = false;
    const resync = new Resync(rows, serviceKeys);
    /** In the last looks a store did not answer. What it has written is in its feed and nowhere else. */
    let wasSilent = false;

    const mayLook = (isCurrent: boolean): boolean => [...first, ...referred].every((store) => store.isRead) && (isCurrent || !wasSilent);

    function plan(): DueService[] {
      const services = due.dueBy(clock.now(), LOOKS_MAX);
      return [...services, ...resync.take(clock.now(), LOOKS_MAX - services.length, (key) => due.has(key))];
    }

    async function looked(service: DueService, round: Round): Promise<LookResult> {
      try {
        return await look(service, { isCurrent: round.isCurrent, areReferredRead });
      } catch (error) {
        round.mention(error);
        recorder.log("warn", "a look at the endpoints of a Service failed", { service: service.key, error: String(error) });
        return "silent";
      }
    }

    function note(service: DueService, result: LookResult): void {
      const { key } = service;
      if (result === "done") return due.done(key);
      keep(service);
      if (result === "unread") {
        for (const store of referred) store.mustRead();
        return;
      }
      if (result === "refused" || result === "closed") due.refused(key, clock.now(), result === "closed");
      else due.failed(key, clock.now());
    }

    /** A Service of the resync waits for a look from now on. */
    function keep(service: DueService): void {
      if (!due.has(service.key)) due.add(service, clock.now());
    }

    return new Frame<DueService>(this.ports, {
      rows,
      keeps: [{ load }, resync],
      *follows() {
        yield first;
        areReferredRead = referred.every(({ isBehind }) => isBehind);
        yield referred;
      },
      actsOnPart: true,
      work: {
        plan({ isCurrent }) {
          if (!mayLook(isCurrent)) return [];
          wasSilent = false;
          return plan();
        },
        async write(service, round) {
          const result = await looked(service, round);
          note(service, result);
          wasSilent ||= result === "silent";
          return OUTCOMES[result];
        },
        nameOf: ({ key }) => key,
        notBegun: keep,
      },
      due: () => due.earliest,
      goesOn: ({ begun }) => begun > 0 && (resync.isUnderWay || (due.earliest ?? Infinity) <= clock.now()),
      waiting: () => due.size,
      pace: () => new Pace(clock, REST_MODESTLY),
      events,
    }).pass;
  }
}
