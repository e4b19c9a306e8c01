/** Follows the Services and slices of a cluster on any API server, as kube-proxy does, and merges them (merged-services.ts). */
import { applyStep, type Keeper } from "../../api/client/apply-step";
import type { FetchLike } from "../../api/client/fetch-like";
import { followCollection, type FollowCollectionOptions, type FollowStep } from "../../api/client/follow-collection";
import type { EndpointSlice, KubeObject, Service } from "../../api/meta/kubernetes";
import type { Clock, Random } from "../../core/base/ports";
import { MergedServices, type ServiceChanges } from "./merged-services";
import { PROXIED_SERVICES } from "../../api/registry/services/proxied-service";
import { PROXIED_SLICES } from "../../api/registry/endpoint-slices/slice-portion";

export interface FollowServicesOptions {
  readonly fetch: FetchLike;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly random?: Pick<Random, "next">;
  /** objects in one page of a list; absent: 500, as client-go asks for */
  readonly pageSize?: number;
  /**
   * Called first when all Services and slices are known, then whenever `sync` may have changes. How long it then waits for more of them is the
   * caller's choice. It must not throw.
   */
  onPending(): void;
  /** Hear each step before onPending does, such as for figures. They must not throw. */
  onServices?(step: FollowStep<Service>): void;
  onSlices?(step: FollowStep<EndpointSlice>): void;
  /** Called when the API server refuses or cannot be reached. Meanwhile what is known stays. */
  onError?(error: Error): void;
}

export interface FollowedServices {
  /** What differs from the last answer; nothing before the first call of onPending. */
  sync(): ServiceChanges;
  /** Nothing is called any more. */
  stop(): void;
}

const PAGE_SIZE = 500;

export function followServices(options: FollowServicesOptions): FollowedServices {
  const view = new MergedServices();
  const waitsFor = new Set(["services", "slices"]);
  const { fetch, clock, random, onError, pageSize = PAGE_SIZE } = options;

  function follow<T extends KubeObject>(
    what: string,
    from: Pick<FollowCollectionOptions<T>, "path" | "labelSelector" | "fieldSelector">,
    into: Keeper<T>,
    hear: ((step: FollowStep<T>) => void) | undefined,
  ): () => void {
    return followCollection<T>({
      fetch,
      clock,
      random,
      ...from,
      pageSize,
      onStep: (step) => {
        hear?.(step);
        applyStep(step, into);
        const isFirst = waitsFor.delete(what) && waitsFor.size === 0;
        if (isFirst || (waitsFor.size === 0 && view.isPending)) options.onPending();
      },
      onError: (error) => onError?.(error),
    });
  }

  const stops = [
    follow<Service>(
      "services",
      PROXIED_SERVICES,
      {
        replace: (services) => view.replaceServices(services),
        put: (service) => view.putService(service),
        remove: (service) => view.deleteService(service),
      },
      options.onServices,
    ),
    follow<EndpointSlice>(
      "slices",
      PROXIED_SLICES,
      {
        replace: (slices) => view.replaceSlices(slices),
        put: (slice) => view.putSlice(slice),
        remove: (slice) => view.deleteSlice(slice),
      },
      options.onSlices,
    ),
  ];
  return {
    sync: () => (waitsFor.size === 0 ? view.sync() : { updated: [], removed: [] }),
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}
