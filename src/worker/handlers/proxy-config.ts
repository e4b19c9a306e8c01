/** GET of `/api/v1/nodes/{node}/proxy-config`: the configuration of a data plane on one node. Not of Kubernetes; the page is docs/proxies.md. */
import { unchangedResponse } from "../../../durable-objects/answers/proxy-page-response";
import { proxyView } from "../../../durable-objects/peers/peers";
import { systemClock, systemRandom } from "../../../durable-objects/platform/ports";
import type { Node } from "../../api/meta/kubernetes";
import { LABEL_ZONE } from "../../api/meta/endpoint-keys";
import type { AskedWatch } from "../../api/relay/relay";
import { overloaded, serviceUnavailable, type Status } from "../../api/meta/status";
import { pause } from "../../core/base/pause";
import { ok, type Result } from "../../core/base/result";
import { pageTag, readPageTag, type ViewPlace } from "../../endpoints/proxy-config/page-tag";
import { encodePoll, type Poll, POLL_HEADER, UNSEEN_HEADER } from "../../endpoints/proxy-config/poll";
import { UnseenChanges } from "../../endpoints/proxy-config/unseen-changes";
import type { NodePlace } from "../../endpoints/merge/usable-endpoints";
import {
  POLL_MAX_MS,
  POLL_PAUSE_MS,
  POLL_SPREAD_MS,
  POLL_SYNC_MS,
  POLL_WATCHES_MAX,
  POLLS_PER_USER_MAX,
  RETRY_AFTER_SECONDS,
} from "../http/limits";
import { queryInt } from "../http/read/query";
import { call } from "../routing/call";
import { pollRelay } from "../routing/poll-relay";
import { ProxyChanges } from "../routing/proxy-changes";
import { EarlierStore } from "../routing/store-socket";
import { waits } from "../routing/waits";
import { collectionResponse } from "./collection";
import { bootstrapProblem, refuse, type ResourceRequest, store, watcherOf } from "./resource-request";

const random = systemRandom();
/** One for each isolate. */
const unseenChanges = new UnseenChanges();

const VIEW_URL = "http://view/proxy-config";

/** Whether the request may take its time: it then counts as little as a watch. */
export function mayWait(query: URLSearchParams): boolean {
  return Number(query.get("timeoutSeconds")) > 0;
}

export async function proxyConfig(request: ResourceRequest): Promise<Response> {
  const begunMs = Date.now();
  const seconds = queryInt(request.query, "timeoutSeconds");
  if (!seconds.ok) return refuse(request, seconds.error);
  const problem = await bootstrapProblem(request);
  if (problem) return refuse(request, problem);
  if (waits.isStopping) return refuse(request, serviceUnavailable("the server is stopping", RETRY_AFTER_SECONDS));
  if (pollRelay.size >= POLL_WATCHES_MAX) return refuse(request, overloaded());
  const { namespace, name } = request.info;
  const found = await call(() => store(request).get({ namespace, name }, ""), { what: "nodes.get", repeatable: true });
  if (!found.ok) return refuse(request, found.error);
  if (!found.value.ok) return refuse(request, found.value.status);
  const zone = (JSON.parse(found.value.object) as Node).metadata?.labels?.[LABEL_ZONE];
  const endMs = begunMs + Math.min(seconds.value * 1000, POLL_MAX_MS, request.timeoutMs || Infinity);
  const poll = new WaitingPoll(request, { name, zone }, endMs);
  const answer = await poll.answer(request.request.headers.get("If-None-Match") ?? undefined);
  return answer.ok ? collectionResponse(request, answer.value) : refuse(request, answer.error);
}

/** Waits in this request, and asks the view when something has changed. So a poll keeps no object awake. */
class WaitingPoll {
  #changes: ProxyChanges | undefined;

  constructor(
    private readonly request: ResourceRequest,
    private readonly node: NodePlace,
    private readonly endMs: number,
  ) {}

  /** The page, what changed since that of the ETag, or 304 at the end of the time. */
  async answer(given: string | undefined): Promise<Result<Response, Status>> {
    const { signal } = this.request.request;
    const leave = (): void => this.#changes?.leave();
    signal.addEventListener("abort", leave);
    try {
      for (let [etag, isAsked] = [given, false]; ; isAsked = true) {
        const isOver = etag === undefined ? ok(false) : await this.#isUnchanged(etag, isAsked);
        if (!isOver.ok) return isOver;
        if (etag !== undefined && isOver.value) return ok(unchangedResponse(etag));
        const reached = this.#changes?.takeReached();
        const same = this.#sameAs(etag, reached);
        if (same === undefined) {
          const answer = await this.#ask(etag, reached);
          if (!answer.ok || answer.value.status !== 304) return answer;
          const next = answer.value.headers.get("ETag") ?? etag ?? "";
          if (answer.value.headers.has(UNSEEN_HEADER)) this.#noteUnseen(etag, next);
          if (!this.#mayWait) return ok(unchangedResponse(next));
          etag = next;
        } else etag = same;
      }
    } finally {
      signal.removeEventListener("abort", leave);
      leave();
    }
  }

  get #mayWait(): boolean {
    return Date.now() < this.endMs && !this.request.request.signal.aborted && !waits.isStopping;
  }

  /** Waits. False: something may have changed since the page of the ETag. `isAsked`: the view has just said that nothing has. A Status: it may not wait. */
  async #isUnchanged(etag: string, isAsked: boolean): Promise<Result<boolean, Status>> {
    const place = readPageTag(etag);
    if (!this.#mayWait) return ok(false);
    if (place?.zone !== (this.node.zone ?? "")) {
      // A view of the release before says no place.
      if (isAsked) await pause(systemClock, POLL_PAUSE_MS);
      return ok(false);
    }
    const begun = this.#changes ? ok(this.#changes) : await this.#begin(place);
    if (!begun.ok) return begun;
    this.#changes = begun.value;
    const waited = await this.#changes?.next(this.endMs);
    if (waited === "over") return ok(true);
    if (waited === "ended") {
      this.#changes?.leave();
      this.#changes = undefined;
    }
    await pause(systemClock, POLL_SYNC_MS + random.below(POLL_SPREAD_MS));
    return ok(false);
  }

  /** undefined = the stores do not have the place any more, or do not tell. A Status: there are too many that wait. */
  async #begin(place: ViewPlace): Promise<Result<ProxyChanges | undefined, Status>> {
    const { env, info, waitUntil, request } = this.request;
    const { signal } = request;
    try {
      const watchedBy = this.#watchedBy();
      const begun = await ProxyChanges.begin({ env, cluster: info.cluster, endMs: this.endMs, waitUntil, signal, watchedBy }, place);
      if (begun.ok || begun.error.code === 429) return begun;
      if (begun.error.code !== 410) await pause(systemClock, POLL_PAUSE_MS);
    } catch (error) {
      if (!(error instanceof EarlierStore)) throw error;
      await pause(systemClock, POLL_PAUSE_MS);
    }
    return ok(undefined);
  }

  #watchedBy(): AskedWatch["watchedBy"] {
    const { watchedBy } = watcherOf(this.request);
    return watchedBy && { ...watchedBy, max: Math.min(watchedBy.max || POLLS_PER_USER_MAX, POLLS_PER_USER_MAX) };
  }

  /** The ETag of a later page that is the same on every node, to wait on from; undefined = none is known. */
  #sameAs(etag: string | undefined, reached: ViewPlace | undefined): string | undefined {
    const place = etag === undefined || !this.#mayWait ? undefined : readPageTag(etag);
    const later = place && reached && unseenChanges.since(this.request.info.cluster, place, reached);
    return later && pageTag(later, this.node.zone);
  }

  #noteUnseen(etag: string | undefined, next: string): void {
    const [from, to] = [readPageTag(etag ?? ""), readPageTag(next)];
    if (from && to) unseenChanges.note(this.request.info.cluster, from, to);
  }

  #ask(etag: string | undefined, reached: ViewPlace | undefined): Promise<Result<Response, Status>> {
    const { env, info } = this.request;
    const poll: Poll = { node: this.node, ...(etag === undefined ? {} : { etag }), ...(reached ? { reached } : {}) };
    const headers = { [POLL_HEADER]: encodePoll(poll) };
    const attempt = () => proxyView(env, info.cluster).fetch(new Request(VIEW_URL, { headers }));
    return call(attempt, { what: "proxyView.poll", repeatable: true });
  }
}
