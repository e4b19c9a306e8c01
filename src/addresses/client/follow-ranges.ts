/**
 * Follows the Service ranges of a cluster for a consumer, such as a DNS server or a firewall. It lists and watches the ServiceCIDRs and merges
 * them, so the consumer hears of a range as soon as the API server announces it. Works on every API server.
 *
 * Where the server has the page `/ranges`, it is read too (ranges-page.ts). A server whose ranges are only configured serves no ServiceCIDRs; then
 * the page is followed alone.
 */
import type { Clock } from "../../core/base/ports";
import type { KubeObject, ServiceCIDR } from "../../api/meta/kubernetes";
import { FAMILIES } from "../../core/net/family";
import { rangeSourceOf, type ServiceRanges, serviceRanges } from "../ranges/service-ranges";
import { linesOf } from "./body-lines";
import { type Answer, type FetchLike, refusal } from "./fetch-like";
import { RangesPage } from "./ranges-page";
import { RetryPause } from "./retry-pause";

const SERVICE_CIDRS = "/apis/networking.k8s.io/v1/servicecidrs";
const WATCH_SECONDS = 300;
/** The view is read at the end of each watch. Watches are short while it shows something that goes without an event, or cannot be read. */
const SHORT_WATCH_SECONDS = 5;
/** Configured ranges change with a restart of the API server: the page is read again this often. */
const CONFIGURED_AGAIN_MS = 10_000;
const VERY_SHORT_WATCH_MS = 1_000;

export interface FollowedRanges extends ServiceRanges {
  /** of the newest change of a ServiceCIDR that the ranges have */
  resourceVersion: string;
  /** the epoch of these ranges, or a later one; undefined when the API server has none or did not answer it */
  epoch: number | undefined;
}

export interface FollowOptions {
  fetch: FetchLike;
  clock: Pick<Clock, "now" | "after">;
  /** Called once with the first ranges, then after each change. It must not throw. */
  onRanges(ranges: FollowedRanges): void;
  /** Called when the API server refuses or cannot be reached. The follower tries again; meanwhile the last ranges stay valid. */
  onError?(error: Error): void;
}

interface ServiceCIDRList {
  metadata: { resourceVersion: string };
  items: ServiceCIDR[] | null;
}

interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: ServiceCIDR & { code?: number; message?: string };
}

/** The history that a watch asks for is gone, or the resource is: the follower lists anew. */
class Expired extends Error {}

/** Begins to follow. The returned function ends it; after that nothing is called any more. */
export function followRanges(options: FollowOptions): () => void {
  const follower = new RangesFollower(options);
  void follower.run();
  return () => follower.stop();
}

class RangesFollower {
  readonly #options: FollowOptions;
  readonly #connection = new AbortController();
  #objects = new Map<string, ServiceCIDR>();
  #resourceVersion = "";
  #told = "";
  /** the prefixes of addresses in use that were last reported */
  #serving: string[] = [];
  #hasOrphans = false;
  readonly #page = new RangesPage((path) => this.#get(path));
  readonly #pause: RetryPause;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#pause = new RetryPause(options.clock);
  }

  stop(): void {
    this.#connection.abort();
    this.#pause.stop();
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        const hasObjects = await this.#list();
        while (hasObjects && !this.#isStopped) await this.#watch();
        await this.#pause.wait(CONFIGURED_AGAIN_MS);
      } catch (error) {
        if (this.#isStopped) return;
        if (!(error instanceof Expired)) this.#report(error);
        await this.#pause.backOff();
      }
    }
  }

  get #isStopped(): boolean {
    return this.#connection.signal.aborted;
  }

  /** Answers false when the API server serves no ServiceCIDRs; then the ranges of its page were reported. */
  async #list(): Promise<boolean> {
    const answer = await this.#get(SERVICE_CIDRS);
    const text = await answer.text();
    const configured = answer.status === 404 ? await this.#page.read() : undefined;
    if (configured) {
      const { ready, serving, orphaned, resourceVersion, epoch } = configured;
      this.#tellOnce({ ready, serving, orphaned }, { resourceVersion, epoch });
      this.#pause.reset();
      return false;
    }
    if (answer.status !== 200) throw refusal(answer.status, text);
    const list = JSON.parse(text) as ServiceCIDRList;
    this.#objects = new Map((list.items ?? []).map((object) => [nameOf(object), object]));
    this.#resourceVersion = list.metadata.resourceVersion;
    await this.#tell();
    return true;
  }

  /** One watch, until the server ends it. */
  async #watch(): Promise<void> {
    const seconds = this.#watchSeconds;
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${seconds}&resourceVersion=${this.#resourceVersion}`;
    const answer = await this.#get(`${SERVICE_CIDRS}?${query}`);
    if (answer.status === 410 || answer.status === 404) throw new Expired();
    if (answer.status !== 200 || !answer.body) throw refusal(answer.status, await answer.text());
    const begun = this.#options.clock.now();
    for await (const lines of linesOf(answer.body)) {
      for (const line of lines) this.#take(JSON.parse(line) as WatchEvent);
      await this.#tell();
      this.#pause.reset();
      if (this.#watchSeconds < seconds) break;
    }
    // A server that ends watches at once must not be asked without a rest.
    if (this.#options.clock.now() - begun < VERY_SHORT_WATCH_MS) await this.#pause.backOff();
    else this.#pause.reset();
    await this.#tell();
  }

  #take({ type, object }: WatchEvent): void {
    if (type === "ERROR") throw object.code === 410 ? new Expired() : refusal(object.code ?? 500, object.message ?? "");
    if (type === "DELETED") this.#objects.delete(nameOf(object));
    else if (type !== "BOOKMARK") this.#objects.set(nameOf(object), object);
    this.#resourceVersion = object.metadata?.resourceVersion ?? this.#resourceVersion;
  }

  get #watchSeconds(): number {
    if (this.#hasOrphans) return SHORT_WATCH_SECONDS;
    const { failures } = this.#page;
    return failures > 0 ? Math.min(SHORT_WATCH_SECONDS * 2 ** (failures - 1), WATCH_SECONDS) : WATCH_SECONDS;
  }

  async #tell(): Promise<void> {
    const { held, epoch } = await this.#held();
    const ranges = serviceRanges([...this.#objects.values()].map(rangeSourceOf), held);
    this.#hasOrphans = ranges.orphaned.length > 0;
    this.#tellOnce(ranges, { resourceVersion: this.#resourceVersion, epoch });
  }

  #tellOnce(ranges: ServiceRanges, at: Pick<FollowedRanges, "resourceVersion" | "epoch">): void {
    const text = JSON.stringify(ranges);
    if (this.#isStopped || text === this.#told) return;
    this.#told = text;
    this.#serving = FAMILIES.flatMap((family) => ranges.serving[family].prefixes);
    this.#options.onRanges({ ...ranges, ...at });
  }

  /**
   * The prefixes in use that perhaps no ServiceCIDR names. The view is read after the change that is to be reported, so it knows that change.
   * While it cannot be read, every prefix reported as in use stays, because a removal by force looks like any other.
   */
  async #held(): Promise<{ held: readonly string[]; epoch: number | undefined }> {
    try {
      const view = await this.#page.read();
      return { held: view?.orphaned ?? [], epoch: view?.epoch };
    } catch (error) {
      this.#page.noteFailure();
      this.#report(error);
      return { held: this.#page.isServed ? this.#serving : [], epoch: undefined };
    }
  }

  #report(error: unknown): void {
    if (!this.#isStopped) this.#options.onError?.(error instanceof Error ? error : new Error(String(error)));
  }

  #get(path: string): Promise<Answer> {
    return this.#options.fetch(path, { signal: this.#connection.signal });
  }
}

function nameOf(object: KubeObject): string {
  return object.metadata?.name ?? "";
}
