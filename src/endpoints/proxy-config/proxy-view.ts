/**
 * The Services of a cluster for the data planes of its nodes. A view is asked, and never waits: polls wait in the Worker, which hears of changes by watches
 * of its own (src/worker/routing/proxy-changes.ts). So between two questions nothing keeps the view in memory. A view that was forgotten reads everything,
 * and asks the stores what came since the place of whoever asks (followed-view.ts), so proxies do not notice.
 *
 *   poll ──► a pass reads what the stores have had since ──► the page, or what changed for the node
 *
 * Polls that come together share a pass. One that says how far its Worker has seen the stores needs none, if the view is there already.
 */
import { internalError, serviceUnavailable, type Status } from "../../api/meta/status";
import type { Clock, Recorder } from "../../core/base/ports";
import { err, ok, type Result } from "../../core/base/result";
import { FollowedView, type Since, type ViewStores } from "./followed-view";
import { pageSize } from "./page-body";
import { pageTag, readPageTag, type ViewPlace } from "./page-tag";
import type { Poll, ViewCounters } from "./poll";
import type { ProxyConfigPage } from "./proxy-configs";

/** A pass begins nothing more after so long: the lists of 5,000 Services take about a second. The next pass goes on. */
const PASS_MS = 5_000;
/** So long the stores are asked what came since a place. A whole page says the same. */
const ASK_MS = 2_000;
/** A page goes out whole. More than a million endpoints; as much as a call between objects may hold. */
const PAGE_MAX_BYTES = 32 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 1;

export interface ProxyViewPorts {
  readonly stores: ViewStores;
  readonly clock: Pick<Clock, "now">;
  readonly recorder: Recorder;
}

export interface PollAnswer {
  /** of the page that the data plane has from now on */
  readonly etag: string;
  /** undefined = nothing has changed */
  readonly page: ProxyConfigPage | undefined;
  /** for no node, whatever its zone */
  readonly isUnseen: boolean;
}

export class ProxyView {
  #view: FollowedView | undefined;
  #passes = 0;
  /** the pass under way, and the one behind it */
  #pass: Promise<boolean> | undefined;
  #nextPass: Promise<boolean> | undefined;

  constructor(
    private readonly ports: ProxyViewPorts,
    private readonly pageMaxBytes = PAGE_MAX_BYTES,
  ) {}

  /** The page, or what changed since that of the ETag. */
  async poll({ node, etag, reached, waitMs = 0 }: Poll): Promise<Result<PollAnswer, Status>> {
    const tag = etag === undefined ? undefined : readPageTag(etag);
    const known = tag?.zone === (node.zone ?? "") ? tag : undefined;
    const view = (this.#view ??= new FollowedView(this.ports.stores, this.ports.recorder));
    const isRead = await this.#isRead(view, reached);
    const since = isRead && known ? await this.#since(view, known) : ok(undefined);
    const { place } = view;
    if (!isRead || !place || !since.ok) return unavailable("the Services of the cluster cannot be read now, try again");
    const page = view.configs.page(node, since.value?.revision, since.value?.before);
    if (!page && waitMs > 0) return unavailable("the server was renewed");
    if (page) {
      const size = pageSize(page);
      const what = `the page of the node "${node.name}"`;
      if (size > this.pageMaxBytes) return err(internalError(`${what} has ${size} bytes, more than ${this.pageMaxBytes}`));
    }
    const isUnseen = since.value !== undefined && view.isUnseen(since.value);
    return ok({ etag: pageTag(place, node.zone), page, isUnseen });
  }

  get counters(): ViewCounters {
    return { made: this.#view?.configs.made ?? 0, passes: this.#passes };
  }

  async #isRead(view: FollowedView, reached: ViewPlace | undefined): Promise<boolean> {
    if (reached) {
      // The pass under way may bring what is wanted.
      if (this.#pass) await this.#pass;
      if (view.isAt(reached)) return true;
    }
    if (!this.#pass) return this.#begin(view, reached);
    // The one under way may have read before this poll came. All that come meanwhile share the next one, which reads both stores.
    const next = (): Promise<boolean> => {
      this.#nextPass = undefined;
      return this.#pass ?? this.#begin(view);
    };
    this.#nextPass ??= this.#pass.then(next, next);
    return this.#nextPass;
  }

  #begin(view: FollowedView, reached?: ViewPlace): Promise<boolean> {
    this.#passes++;
    const pass = view.pull(this.#forMs(PASS_MS), reached).finally(() => (this.#pass = undefined));
    return (this.#pass = pass);
  }

  /** An error = a store is not reached. */
  async #since(view: FollowedView, known: ViewPlace): Promise<Result<Since | undefined, string>> {
    try {
      return ok(await view.since(known, this.#forMs(ASK_MS)));
    } catch (error) {
      this.ports.recorder.log("warn", "a view could not ask what has changed", { error: String(error) });
      return err(String(error));
    }
  }

  /** Whether there is time left, from now on. */
  #forMs(ms: number): () => boolean {
    const endAt = this.ports.clock.now() + ms;
    return () => this.ports.clock.now() < endAt;
  }
}

function unavailable(text: string): Result<never, Status> {
  return err(serviceUnavailable(text, RETRY_AFTER_SECONDS));
}
