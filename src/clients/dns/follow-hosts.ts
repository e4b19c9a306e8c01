/** Follows the Services and slices of a cluster on any API server, and tells the text of a file of hosts with their names (hosts-text.ts). */
import { applyStep, type Keeper } from "../../api/client/apply-step";
import type { FetchLike } from "../../api/client/fetch-like";
import { followCollection } from "../../api/client/follow-collection";
import type { EndpointSlice, KubeObject, Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import type { Clock, Random } from "../../core/base/ports";
import { type HostsOptions, hostsText } from "./hosts-text";
import { namedService, namedSlice } from "./named-service";

export interface FollowHostsOptions {
  readonly fetch: FetchLike;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly random?: Pick<Random, "next">;
  readonly hosts: HostsOptions;
  /** Called first when all Services and slices are known, then with each text that differs from the last one. */
  onText(text: string): void;
  /** Called when the API server answers. */
  onAnswer?(): void;
  /** Called when the API server refuses or cannot be reached. Meanwhile the last text holds. */
  onError?(error: Error): void;
}

/** Changes that come within this time are one text. */
const TOGETHER_MS = 100;
/** Objects in one page of a list, as client-go asks for. */
const PAGE_SIZE = 500;

/** Begins to follow. The returned function ends it; after that nothing is called any more. */
export function followHosts(options: FollowHostsOptions): () => void {
  const { fetch, clock, random, onText, onAnswer, onError } = options;
  const waitsFor = new Set(["services", "slices"]);
  const services = new HostFacts(namedService);
  const slices = new HostFacts(namedSlice);
  let told: string | undefined;
  let cancel: (() => void) | undefined;

  function tell(): void {
    cancel = undefined;
    const text = hostsText(services.values(), slices.values(), options.hosts);
    if (text === told) return;
    told = text;
    onText(text);
  }

  function follow<T extends KubeObject>(what: string, path: string, keeper: Keeper<T>): () => void {
    return followCollection<T>({
      fetch,
      clock,
      random,
      path,
      pageSize: PAGE_SIZE,
      onStep: (step) => {
        onAnswer?.();
        applyStep(step, keeper);
        waitsFor.delete(what);
        if (waitsFor.size === 0) cancel ??= clock.after(told === undefined ? 0 : TOGETHER_MS, tell);
      },
      onError: (error) => onError?.(error),
    });
  }

  const stops = [
    follow<Service>("services", "/api/v1/services", services),
    follow<EndpointSlice>("slices", "/apis/discovery.k8s.io/v1/endpointslices", slices),
  ];
  return () => {
    cancel?.();
    for (const stop of stops) stop();
  };
}

/** What is needed of the objects of a collection. Objects of which nothing is needed are not kept. */
class HostFacts<T extends KubeObject, Facts> implements Keeper<T> {
  readonly #factsOf: (object: T) => Facts | undefined;
  readonly #facts = new Map<string, Facts>();

  constructor(factsOf: (object: T) => Facts | undefined) {
    this.#factsOf = factsOf;
  }

  values(): Iterable<Facts> {
    return this.#facts.values();
  }

  replace(objects: readonly T[]): void {
    this.#facts.clear();
    for (const object of objects) this.put(object);
  }

  put(object: T): void {
    const facts = this.#factsOf(object);
    if (facts) this.#facts.set(keyOf(object), facts);
    else this.remove(object);
  }

  remove(object: KubeObject): void {
    this.#facts.delete(keyOf(object));
  }
}
