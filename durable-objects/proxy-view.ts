/** The view of a cluster for the proxies of its nodes, named `<cluster>/proxy-view`. A shell: the rules are in src/endpoints/proxy-config/proxy-view. */
import { DurableObject } from "cloudflare:workers";
import { decodePoll, POLL_HEADER, type ProxyViewRpc, type ViewCounters } from "../src/endpoints/proxy-config/poll";
import { ProxyView as Brain } from "../src/endpoints/proxy-config/proxy-view";
import type { Wipeable } from "../src/tenancy/rpc";
import type { Env } from "./platform/env";
import { refusalResponse } from "./answers/page-response";
import { storesFetch } from "./peers/peers";
import { systemClock, systemRandom, systemRecorder } from "./platform/ports";
import { proxyPageResponse, unchangedResponse } from "./answers/proxy-page-response";
import { migrate } from "./sql/migrate";
import { wipe } from "./platform/wipe";

export class ProxyView extends DurableObject<Env> implements ProxyViewRpc, Wipeable {
  readonly #brain: Brain;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    // It keeps nothing, but it may be a tombstone.
    migrate(ctx.storage, [], systemClock.now());
    // No alarm wakes it: its callers name it.
    const name = ctx.id.name ?? "";
    const fetch = storesFetch(env, name.slice(0, name.indexOf("/")));
    this.#brain = new Brain({ fetch, clock: systemClock, random: systemRandom(), recorder: systemRecorder({ object: name }) });
  }

  override async fetch(request: Request): Promise<Response> {
    const poll = decodePoll(request.headers.get(POLL_HEADER) ?? "");
    const answer = await this.#brain.poll(poll, request.signal);
    if (!answer.ok) return refusalResponse(answer.error);
    return answer.value ? proxyPageResponse(answer.value) : unchangedResponse(poll.etag ?? "");
  }

  endPolls(): Promise<void> {
    this.#brain.close();
    return Promise.resolve();
  }

  counters(): Promise<ViewCounters> {
    return Promise.resolve(this.#brain.counters);
  }

  /** The polls that wait fail with the object. */
  wipe(): Promise<string[]> {
    return wipe(this.ctx);
  }
}
