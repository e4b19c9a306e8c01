/**
 * Follows the Service ranges of a cluster for a consumer, such as a DNS server or a firewall. It lists and watches the ServiceCIDRs and merges
 * them, so the consumer hears of a range as soon as the API server announces it. Works on every API server.
 *
 * Where the server has the page `/ranges`, it is read too (ranges-page.ts). A server whose ranges are only configured serves no ServiceCIDRs; then
 * the page is followed alone.
 */
import type { Clock } from "../../core/base/ports";
import type { FetchLike } from "../../api/client/fetch-like";
import { errorOf, followCollection, type FollowStep } from "../../api/client/follow-collection";
import type { ServiceCIDR } from "../../api/meta/kubernetes";
import { FAMILIES } from "../../core/net/family";
import { rangeSourceOf, type ServiceRanges, serviceRanges } from "../../addresses/ranges/service-ranges";
import { RangesPage } from "./ranges-page";

const SERVICE_CIDRS = "/apis/networking.k8s.io/v1/servicecidrs";
const WATCH_SECONDS = 300;
/** The view is read at the end of each watch. Watches are short while it shows something that goes without an event, or cannot be read. */
const SHORT_WATCH_SECONDS = 5;
/** Configured ranges change with a restart of the API server: the page is read again this often. */
const CONFIGURED_AGAIN_MS = 10_000;

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

/** Begins to follow. The returned function ends it; after that nothing is called any more. */
export function followRanges(options: FollowOptions): () => void {
  const follower = new RangesFollower(options);
  follower.start();
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
  readonly #page: RangesPage;
  #stopFollowing: () => void = () => undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#page = new RangesPage((path) => options.fetch(path, { signal: this.#connection.signal }));
  }

  start(): void {
    this.#stopFollowing = followCollection<ServiceCIDR>({
      fetch: this.#options.fetch,
      clock: this.#options.clock,
      path: SERVICE_CIDRS,
      onStep: (step) => this.#take(step),
      onError: (error) => this.#report(error),
      onNotServed: () => this.#tellConfigured(),
      onWatchEnd: () => this.#tell(),
      watchSeconds: () => this.#watchSeconds,
    });
  }

  stop(): void {
    this.#connection.abort();
    this.#stopFollowing();
  }

  get #isStopped(): boolean {
    return this.#connection.signal.aborted;
  }

  async #take(step: FollowStep<ServiceCIDR>): Promise<void> {
    if (step.kind === "list") this.#objects = new Map(step.objects.map((object) => [nameOf(object), object]));
    else {
      for (const { type, object } of step.changes) {
        if (type === "DELETED") this.#objects.delete(nameOf(object));
        else this.#objects.set(nameOf(object), object);
      }
    }
    this.#resourceVersion = step.resourceVersion;
    await this.#tell();
  }

  /** Reports the ranges of the page. Answers when to read it again; undefined = the API server has no such page either. */
  async #tellConfigured(): Promise<number | undefined> {
    const configured = await this.#page.read();
    if (!configured) return undefined;
    const { ready, serving, orphaned, resourceVersion, epoch } = configured;
    this.#tellOnce({ ready, serving, orphaned }, { resourceVersion, epoch });
    return CONFIGURED_AGAIN_MS;
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
    if (!this.#isStopped) this.#options.onError?.(errorOf(error));
  }
}

function nameOf(object: ServiceCIDR): string {
  return object.metadata?.name ?? "";
}
