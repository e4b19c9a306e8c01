/** What a waiting poll of a proxy watches: the Services and slices that proxies see, from the place of its page on. Metadata alone comes over the sockets. */
import type { Env } from "../../../durable-objects/platform/env";
import { storeStub } from "../../../durable-objects/peers/peers";
import { systemClock } from "../../../durable-objects/platform/ports";
import { expired, type Status } from "../../api/meta/status";
import type { StoreCursor } from "../../api/rpc/object-links";
import { storeLabel } from "../../api/registry/all";
import type { ResourceDefinition } from "../../api/registry/resource";
import { endpointSlicesDefinition } from "../../api/registry/endpoint-slices/definition";
import { PROXIED_SLICES } from "../../api/registry/endpoint-slices/slice-portion";
import { servicesDefinition } from "../../api/registry/services/definition";
import { PROXIED_SERVICES } from "../../api/registry/services/proxied-service";
import { ChangeWatch, type Waited } from "../../api/relay/change-watch";
import type { AskedWatch } from "../../api/relay/relay";
import { collectionOf } from "../../api/store/list/collection-path";
import { err, ok, type Result } from "../../core/base/result";
import type { ViewPlace } from "../../endpoints/proxy-config/page-tag";
import { pollRelay } from "./poll-relay";
import { openStoreSocket } from "./store-socket";

interface Waiting {
  readonly env: Env;
  readonly cluster: string;
  /** milliseconds since the epoch */
  readonly endMs: number;
  /** of the client */
  readonly signal: AbortSignal;
  /** See AskedWatch. */
  readonly watchedBy: AskedWatch["watchedBy"];
  waitUntil(work: Promise<unknown>): void;
}

/** Longer than the poll: it ends the watches. */
const SPARE_SECONDS = 60;

export class ProxyChanges {
  private constructor(
    private readonly watch: ChangeWatch,
    private readonly since: ViewPlace,
  ) {}

  /** A Status is a store's refusal: its history does not reach back, or it is not reached. Rejects as `openStoreSocket` does. */
  static async begin(waiting: Waiting, since: ViewPlace): Promise<Result<ProxyChanges, Status>> {
    const { waitUntil, endMs: untilMs, signal } = waiting;
    const watched = [
      asked(waiting, PROXIED_SERVICES, servicesDefinition, since.services),
      asked(waiting, PROXIED_SLICES, endpointSlicesDefinition, since.slices),
    ];
    const begun = await ChangeWatch.begin({ relay: pollRelay, clock: systemClock, waitUntil }, watched, { untilMs, signal });
    return begun.ok ? ok(new ProxyChanges(begun.value, since)) : begun;
  }

  /** How far this isolate has heard of the stores. It is no news any more. */
  takeReached(): ViewPlace {
    const { services, slices } = this.since;
    const [ofServices = services.revision, ofSlices = slices.revision] = this.watch.take();
    return { services: { ...services, revision: ofServices }, slices: { ...slices, revision: ofSlices } };
  }

  /** See ChangeWatch. */
  next(untilMs: number): Promise<Waited> {
    return this.watch.next(untilMs);
  }

  leave(): void {
    this.watch.leave();
  }
}

type Selected = { path: string; labelSelector: string; fieldSelector?: string };

/** Revisions of another life of the store say nothing: who has them shares no socket, and gets none. */
function asked(waiting: Waiting, { path, ...selectors }: Selected, definition: ResourceDefinition, from: StoreCursor): AskedWatch {
  const { env, cluster, endMs, watchedBy } = waiting;
  const query = new URLSearchParams({
    ...selectors,
    watch: "true",
    resourceVersion: String(from.revision),
    timeoutSeconds: String(Math.ceil((endMs - systemClock.now()) / 1000) + SPARE_SECONDS),
  });
  const options = { what: `${definition.resource}.watch`, repeatable: true };
  return {
    cluster,
    life: from.incarnation,
    ...(watchedBy ? { watchedBy } : {}),
    store: storeLabel(definition),
    definition,
    request: { ...collectionOf(`${path}?${String(query)}`), sendInitialEvents: false, representation: { as: "partial", version: "v1" } },
    async open(request) {
      const opened = await openStoreSocket(() => storeStub(env, cluster, definition), request, options);
      if (!opened.ok || opened.value.incarnation === from.incarnation) return opened;
      opened.value.close();
      return err(expired("the store has begun anew"));
    },
  };
}
