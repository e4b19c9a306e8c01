/**
 * The Services of a cluster with their endpoints, as a proxy wants them: what changed since it last asked. Services and slices go in as they come,
 * in any order. An object that says nothing new costs a comparison with itself, a Service without changes costs nothing.
 *
 * The view is the same for all nodes; usable-endpoints.ts says what one node does with it.
 */
import { semanticEqual } from "../../api/meta/equality";
import type { EndpointSlice, KubeObject, Service } from "../../api/meta/kubernetes";
import { FAMILIES, type Family } from "../../core/net/family";
import { type MergedPorts, mergePortions, samePorts } from "./merge-portions";
import { type ProxiedService, proxiedService } from "../../api/registry/services/proxied-service";
import { portKey, readyAddresses, type SlicePortion, slicePortion } from "../../api/registry/endpoint-slices/slice-portion";

export interface MergedService {
  readonly service: ProxiedService;
  /** of those ports of the Service that its slices have */
  readonly endpoints: MergedPorts;
  /** by name of the node: what its healthCheckNodePort answers with, nodes without a ready endpoint left out; undefined = the Service has no check */
  readonly localReady: LocalReady | undefined;
}

export type LocalReady = ReadonlyMap<string, number>;

export interface ServiceRef {
  readonly namespace: string;
  readonly name: string;
  readonly family: Family;
}

export interface ServiceChanges {
  /** new ones, and those with another definition or other endpoints */
  readonly updated: readonly MergedService[];
  readonly removed: readonly ServiceRef[];
}

/** One Service in one family. */
interface ServiceParts {
  readonly ref: ServiceRef;
  service: ProxiedService | undefined;
  /** by the names of slices */
  readonly portions: Map<string, SlicePortion>;
  hasNewPortions: boolean;
  /** as last handed out */
  told: MergedService | undefined;
}

export class MergedServices {
  readonly #entries = new Map<string, ServiceParts>();
  readonly #changed = new Set<ServiceParts>();
  /** the entry of each slice, by the slice's key */
  readonly #homes = new Map<string, ServiceParts>();
  /** keys of the Services that were put */
  readonly #services = new Set<string>();

  putService(service: Service): void {
    this.#services.add(keyOf(service));
    for (const family of FAMILIES) this.#setService(refOf(service, family), proxiedService(service, family));
  }

  deleteService(service: KubeObject): void {
    this.#services.delete(keyOf(service));
    for (const family of FAMILIES) this.#setService(refOf(service, family), undefined);
  }

  /** A slice that is not a proxy's business, or no more, counts as deleted. */
  putSlice(slice: EndpointSlice): void {
    const portion = slicePortion(slice);
    const { namespace = "", name = "" } = slice.metadata ?? {};
    const home = portion && this.#entry({ namespace, name: portion.serviceName, family: portion.family });
    if (this.#homes.get(keyOf(slice)) !== home) this.deleteSlice(slice);
    if (!home || semanticEqual(home.portions.get(name), portion)) return;
    home.portions.set(name, portion);
    this.#homes.set(keyOf(slice), home);
    this.#notePortions(home);
  }

  deleteSlice(slice: KubeObject): void {
    const home = this.#homes.get(keyOf(slice));
    if (!home) return;
    this.#homes.delete(keyOf(slice));
    home.portions.delete(slice.metadata?.name ?? "");
    this.#notePortions(home);
  }

  /** A new list of all Services: those that it has not are deleted. */
  replaceServices(services: readonly Service[]): void {
    const kept = new Set(services.map(keyOf));
    for (const key of this.#services) if (!kept.has(key)) this.deleteService(objectOf(key));
    for (const service of services) this.putService(service);
  }

  /** A new list of all slices: those that it has not are deleted. */
  replaceSlices(slices: readonly EndpointSlice[]): void {
    const kept = new Set(slices.map(keyOf));
    for (const key of this.#homes.keys()) if (!kept.has(key)) this.deleteSlice(objectOf(key));
    for (const slice of slices) this.putSlice(slice);
  }

  /** `namespace/name` of each Service that was put */
  get serviceKeys(): Iterable<string> {
    return this.#services;
  }

  /** `namespace/name` of each slice that has a part in a Service */
  get sliceKeys(): Iterable<string> {
    return this.#homes.keys();
  }

  /** Something was put or deleted since the last `sync`, which may have changes. */
  get isPending(): boolean {
    return this.#changed.size > 0;
  }

  /** What differs from the last answer. What changed and changed back is not told. */
  sync(): ServiceChanges {
    const updated: MergedService[] = [];
    const removed: ServiceRef[] = [];
    for (const entry of this.#changed) {
      const { told, service } = entry;
      if (service) {
        const next = mergedOf(entry, service);
        if (told?.service === service && told.endpoints === next.endpoints && told.localReady === next.localReady) continue;
        entry.told = next;
        updated.push(next);
      } else {
        entry.told = undefined;
        if (told) removed.push(entry.ref);
        if (entry.portions.size === 0) this.#entries.delete(entryKey(entry.ref));
      }
    }
    this.#changed.clear();
    return { updated, removed };
  }

  #setService(ref: ServiceRef, service: ProxiedService | undefined): void {
    if (!service && !this.#entries.has(entryKey(ref))) return;
    const entry = this.#entry(ref);
    // The Service that was handed out is kept when it comes back, so that sync compares by identity.
    const known = [entry.service, entry.told?.service].find((other) => other && service && semanticEqual(other, service));
    const next = known ?? service;
    if (next === entry.service) return;
    entry.hasNewPortions ||= !semanticEqual(next?.ports, entry.service?.ports);
    entry.service = next;
    this.#changed.add(entry);
  }

  #entry(ref: ServiceRef): ServiceParts {
    const key = entryKey(ref);
    let entry = this.#entries.get(key);
    if (!entry) this.#entries.set(key, (entry = { ref, service: undefined, portions: new Map(), hasNewPortions: true, told: undefined }));
    return entry;
  }

  #notePortions(entry: ServiceParts): void {
    entry.hasNewPortions = true;
    this.#changed.add(entry);
  }
}

/** The lists and counts that were handed out last stay where they still hold. */
function mergedOf(entry: ServiceParts, service: ProxiedService): MergedService {
  const { told, hasNewPortions } = entry;
  const hasCheck = service.healthCheckNodePort !== undefined;
  if (told && !hasNewPortions && hasCheck === (told.localReady !== undefined)) return { ...told, service };
  const names = [...entry.portions.keys()].sort();
  const portions = names.flatMap((name) => entry.portions.get(name) ?? []);
  const endpoints = mergePortions(portions, service.ports.map(portKey));
  const localReady = hasCheck ? localReadyOf(portions) : undefined;
  entry.hasNewPortions = false;
  return {
    service,
    endpoints: told && samePorts(told.endpoints, endpoints) ? told.endpoints : endpoints,
    localReady: sameCounts(told?.localReady, localReady) ? told?.localReady : localReady,
  };
}

function localReadyOf(portions: readonly SlicePortion[]): LocalReady {
  return new Map([...readyAddresses(portions)].map(([node, addresses]) => [node, addresses.size]));
}

function sameCounts(a: LocalReady | undefined, b: LocalReady | undefined): boolean {
  return a?.size === b?.size && [...(a ?? [])].every(([node, count]) => b?.get(node) === count);
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}

function objectOf(key: string): KubeObject {
  const [namespace, name] = key.split("/");
  return { metadata: { namespace, name } };
}

function refOf({ metadata }: KubeObject, family: Family): ServiceRef {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "", family };
}

function entryKey({ namespace, name, family }: ServiceRef): string {
  return `${namespace}/${name}/${family}`;
}
