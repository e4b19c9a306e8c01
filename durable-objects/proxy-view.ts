/** The view of a cluster for the proxies of its nodes, named `<cluster>/proxy-view`. A shell: the rules are in src/endpoints/proxy-config/proxy-view. */
import { DurableObject } from "cloudflare:workers";
import type { StoredResource } from "../src/api/registry/all";
import { endpointSlicesDefinition } from "../src/api/registry/endpoint-slices/definition";
import { servicesDefinition } from "../src/api/registry/services/definition";
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import { touchedSinceOf } from "../src/api/rpc/older-release";
import type { BatchedStore } from "../src/api/rpc/store";
import type { TouchedStore } from "../src/api/rpc/touched-objects";
import { gatheredStores } from "../src/controllers/followed/called-store";
import { OPERATION_DEADLINE_MS } from "../src/core/base/limits";
import { withTimeout } from "../src/core/base/timeout";
import type { ViewStores } from "../src/endpoints/proxy-config/followed-view";
import { decodePoll, POLL_HEADER, type ProxyViewRpc, type ViewCounters } from "../src/endpoints/proxy-config/poll";
import { ProxyView as Brain } from "../src/endpoints/proxy-config/proxy-view";
import type { Wipeable } from "../src/tenancy/rpc";
import type { Env } from "./platform/env";
import { refusalResponse } from "./answers/page-response";
import { proxyPageResponse, unchangedResponse } from "./answers/proxy-page-response";
import { storeStub } from "./peers/peers";
import { systemClock, systemRecorder } from "./platform/ports";
import { migrate } from "./sql/migrate";
import { wipe } from "./platform/wipe";

const DEFINITIONS = { services: servicesDefinition, slices: endpointSlicesDefinition };

export class ProxyView extends DurableObject<Env> implements ProxyViewRpc, Wipeable {
  readonly #brain: Brain;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    // It keeps nothing, but it may be a tombstone.
    migrate(ctx.storage, [], systemClock.now());
    // No alarm wakes it: its callers name it.
    const name = ctx.id.name ?? "";
    const cluster = name.slice(0, name.indexOf("/"));
    this.#brain = new Brain({ stores: viewStores(env, cluster), clock: systemClock, recorder: systemRecorder({ object: name }) });
  }

  override async fetch(request: Request): Promise<Response> {
    const answer = await this.#brain.poll(decodePoll(request.headers.get(POLL_HEADER) ?? ""));
    if (!answer.ok) return refusalResponse(answer.error);
    const { page, etag, isUnseen } = answer.value;
    return page ? proxyPageResponse(page, etag) : unchangedResponse(etag, isUnseen);
  }

  counters(): Promise<ViewCounters> {
    return Promise.resolve(this.#brain.counters);
  }

  /** The polls under way fail with the object. */
  wipe(): Promise<string[]> {
    return wipe(this.ctx);
  }
}

function viewStores(env: Env, cluster: string): ViewStores {
  const storeOf = (definition: StoredResource) => storeStub<BatchedStore & ObjectFeed & TouchedStore>(env, cluster, definition);
  const gathered = gatheredStores({ clock: systemClock, peers: { storeOf } });
  return {
    feed: (store) => gathered(DEFINITIONS[store]),
    touchedSince: (store, cursor, label) =>
      withTimeout(systemClock, OPERATION_DEADLINE_MS, touchedSinceOf(storeOf(DEFINITIONS[store]), cursor, label)),
  };
}
