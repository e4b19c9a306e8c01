/**
 * The Services of a cluster for the data planes of its nodes. The view follows the stores while somebody asks, and forgets everything when nobody
 * has asked for a while: nothing keeps a quiet cluster awake.
 *
 *   nothing ── poll ──► lists ── Services and slices are known ──► pages, woken polls ── IDLE_MS without a poll ──► nothing
 */
import type { FetchLike } from "../../api/client/fetch-like";
import { internalError, overloaded, serviceUnavailable, type Status } from "../../api/meta/status";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import { err, ok, type Result } from "../../core/base/result";
import { type FollowedServices, followServices } from "../merge/follow-services";
import { pageSize } from "./page-body";
import type { Poll, ViewCounters } from "./poll";
import { type ProxyConfigPage, ProxyConfigs } from "./proxy-configs";

/** Longer than the pause of a proxy that asks once a minute. */
export const IDLE_MS = 120_000;
/** Changes that come together are told together: each may wake a poll of every node. */
export const SYNC_DELAY_MS = 100;
/** The lists of 5,000 Services take about a second. */
const KNOWN_WAIT_MS = 5_000;
/** Each takes some KB of the object's memory, and some microseconds at each change. */
const WAITING_MAX = 10_000;
/** Slices of one list: 50 with 1,000 endpoints have 15 MB of JSON, and an object has 128 MB. */
const LIST_PAGE_SIZE = 50;
/** A page goes out whole. More than a million endpoints; as much as a call between objects may hold. */
const PAGE_MAX_BYTES = 32 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 1;

export interface ProxyViewPorts {
  /** the cluster's API */
  readonly fetch: FetchLike;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly random: Pick<Random, "next" | "uuid">;
  readonly recorder: Recorder;
}

/** One time of following. */
interface Run {
  readonly followed: FollowedServices;
  readonly configs: ProxyConfigs;
  isKnown: boolean;
  /** ends the wait for more changes */
  cancelSync: (() => void) | undefined;
}

export class ProxyView {
  #run: Run | undefined;
  #made = 0;
  #polls = 0;
  #waiting = 0;
  #isClosed = false;
  #cancelIdle: (() => void) | undefined;
  /** Each looks whether it has its answer; `isOver`: there will be none. */
  readonly #looks = new Set<(isOver: boolean) => void>();

  constructor(
    private readonly ports: ProxyViewPorts,
    private readonly pageMaxBytes = PAGE_MAX_BYTES,
  ) {}

  /** The page, or what changed since that of the ETag; undefined = nothing has changed within `waitMs`. An aborted poll ends at once. */
  async poll({ node, etag, waitMs }: Poll, signal: AbortSignal): Promise<Result<ProxyConfigPage | undefined, Status>> {
    if (this.#isClosed) return err(serviceUnavailable("the server is stopping", RETRY_AFTER_SECONDS));
    if (this.#polls >= WAITING_MAX) return err(overloaded());
    this.#polls++;
    this.#cancelIdle?.();
    const run = (this.#run ??= this.#begin());
    try {
      const isKnown = await this.#until(() => run.isKnown || undefined, KNOWN_WAIT_MS, signal);
      if (!isKnown) return err(serviceUnavailable("the Services of the cluster are not known yet, try again", RETRY_AFTER_SECONDS));
      const page = await this.#until(() => run.configs.page(node, etag), waitMs, signal);
      return page ? this.#bounded(page, node.name) : ok(undefined);
    } finally {
      if (--this.#polls === 0 && this.#run) this.#cancelIdle = this.ports.clock.after(IDLE_MS, () => this.#drop());
    }
  }

  get counters(): ViewCounters {
    return { waiting: this.#waiting, made: this.#made + (this.#run?.configs.made ?? 0), isFollowing: this.#run !== undefined };
  }

  /** Every wait is over, and later polls are refused. */
  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  /** The next poll begins anew. */
  #drop(): void {
    this.#cancelIdle?.();
    this.#made += this.#run?.configs.made ?? 0;
    this.#run?.cancelSync?.();
    this.#run?.followed.stop();
    this.#run = undefined;
    this.#wake(true);
  }

  #begin(): Run {
    const { fetch, clock, random, recorder } = this.ports;
    const followed = followServices({
      fetch,
      clock,
      random,
      pageSize: LIST_PAGE_SIZE,
      onPending: () => this.#pending(run),
      onError: (error) => recorder.log("warn", "the view for proxies could not follow", { error: error.message }),
    });
    const id = random.uuid().replaceAll("-", "").slice(0, 12);
    const run: Run = { followed, configs: new ProxyConfigs(id), isKnown: false, cancelSync: undefined };
    return run;
  }

  #pending(run: Run): void {
    if (run.isKnown) run.cancelSync ??= this.ports.clock.after(SYNC_DELAY_MS, () => this.#sync(run));
    else this.#sync(run);
  }

  #sync(run: Run): void {
    run.cancelSync = undefined;
    run.isKnown = true;
    run.configs.apply(run.followed.sync());
    this.#wake(false);
  }

  #wake(isOver: boolean): void {
    for (const look of [...this.#looks]) look(isOver);
  }

  /** What `look` finds, at once or after a change; undefined when there is none within `waitMs`. */
  #until<T>(look: () => T | undefined, waitMs: number, signal: AbortSignal): Promise<T | undefined> {
    const found = look();
    if (found !== undefined || waitMs <= 0 || signal.aborted) return Promise.resolve(found);
    this.#waiting++;
    return new Promise((resolve) => {
      const end = (value: T | undefined): void => {
        this.#waiting--;
        cancel();
        this.#looks.delete(again);
        signal.removeEventListener("abort", leave);
        resolve(value);
      };
      const again = (isOver: boolean): void => {
        const value = isOver ? undefined : look();
        if (isOver || value !== undefined) end(value);
      };
      const leave = (): void => end(undefined);
      const cancel = this.ports.clock.after(waitMs, leave);
      this.#looks.add(again);
      signal.addEventListener("abort", leave);
    });
  }

  #bounded(page: ProxyConfigPage, node: string): Result<ProxyConfigPage, Status> {
    const size = pageSize(page);
    if (size <= this.pageMaxBytes) return ok(page);
    return err(internalError(`the page of the node "${node}" has ${size} bytes, more than ${this.pageMaxBytes}`));
  }
}
