/** Where the ready endpoints of checked Services run: a row for each slice, with the distinct addresses on each node. */
import { LABEL_SERVICE_NAME } from "../../api/meta/endpoint-keys";
import type { EndpointSlice, KubeObject } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { readyAddresses, slicePortion } from "../../api/registry/endpoint-slices/slice-portion";
import type { FedText, FeedReader } from "../../controllers/followed/followed-store";
import type { KeptRows } from "../../controllers/followed/kept-rows";
import { type Family } from "../../core/net/family";
import type { LocalCounts } from "./shard-change";

const KIND = "slices";
/** In the text of a slice, in front of the name of its Service. */
const SERVICE_MARK = `"${LABEL_SERVICE_NAME}":"`;

interface LocalSlice {
  /** `namespace/name` of its Service */
  readonly service: string;
  readonly family: Family;
  /** by name of the node */
  readonly addresses: Readonly<Record<string, readonly string[]>>;
}

/** undefined = the slice counts for no check, by the rules of kube-proxy */
function localSlice(slice: EndpointSlice): LocalSlice | undefined {
  const portion = slicePortion(slice);
  if (!portion || portion.ports.length === 0) return undefined;
  const { namespace = "" } = slice.metadata ?? {};
  const addresses = Object.fromEntries([...readyAddresses([portion])].map(([node, ips]) => [node, [...ips].sort()]));
  return { service: `${namespace}/${portion.serviceName}`, family: portion.family, addresses };
}

/** Whether a change of a slice may change a count. Whether its Service has a check is not known there. */
export function changesCounts({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  const text = (slice: KubeObject | undefined): string => {
    const local = slice && localSlice(slice as EndpointSlice);
    return local && Object.keys(local.addresses).length > 0 ? JSON.stringify(local) : "";
  };
  return text(before) !== text(after);
}

/** The Service of a slice's text, without parsing it; undefined = it may be of several. */
function serviceInText({ key, text }: FedText): string | undefined {
  const at = text.indexOf(SERVICE_MARK);
  if (at < 0) return "";
  if (text.includes(SERVICE_MARK, at + 1)) return undefined;
  const from = at + SERVICE_MARK.length;
  return `${key.slice(0, key.indexOf("/"))}/${text.slice(from, text.indexOf('"', from))}`;
}

interface LocalSlicesPorts {
  rows: Pick<KeptRows, "saved" | "put" | "delete">;
  /** Slices of other Services are not kept. */
  isChecked(service: string): boolean;
  changed(node: string): void;
}

export class LocalSlices {
  readonly #slices = new Map<string, LocalSlice>();
  readonly #byNode = new Map<string, Set<string>>();

  constructor(private readonly ports: LocalSlicesPorts) {}

  load(): void {
    for (const [key, slice] of this.ports.rows.saved<LocalSlice>(KIND)) this.#index(key, slice);
  }

  counts(node: string, isTold: (service: string) => boolean): LocalCounts {
    const found = new Map<string, Map<Family, Set<string>>>();
    for (const key of this.#byNode.get(node) ?? []) {
      const slice = this.#slices.get(key);
      if (!slice || !isTold(slice.service)) continue;
      const families = found.get(slice.service) ?? new Map<Family, Set<string>>();
      const ips = families.get(slice.family) ?? new Set<string>();
      for (const ip of slice.addresses[node] ?? []) ips.add(ip);
      found.set(slice.service, families.set(slice.family, ips));
    }
    const sizes = (families: ReadonlyMap<Family, ReadonlySet<string>>): [string, number][] =>
      [...families].map(([family, ips]) => [family, ips.size]);
    return Object.fromEntries([...found].map(([service, families]) => [service, Object.fromEntries(sizes(families))]));
  }

  nodesOf(service: string): Set<string> {
    return new Set([...this.#slices.values()].flatMap((slice) => (slice.service === service ? Object.keys(slice.addresses) : [])));
  }

  /** Forgets the slices of a Service. */
  drop(service: string): void {
    for (const [key, slice] of [...this.#slices]) if (slice.service === service) this.#gone(key);
  }

  get reader(): FeedReader {
    return {
      keys: () => this.#slices.keys(),
      put: (object) => this.put(keyOf(object), object as EndpointSlice),
      gone: (key) => this.#gone(key),
      passesOver: (fed) => {
        if (this.#slices.has(fed.key)) return false;
        const service = serviceInText(fed);
        return service !== undefined && !this.ports.isChecked(service);
      },
    };
  }

  put(key: string, object: EndpointSlice): void {
    const slice = localSlice(object);
    if (!slice || !this.ports.isChecked(slice.service) || Object.keys(slice.addresses).length === 0) {
      this.#gone(key);
      return;
    }
    const before = this.#slices.get(key);
    if (JSON.stringify(before) === JSON.stringify(slice)) return;
    this.ports.rows.put(KIND, key, slice, before === undefined);
    if (before) this.#unindex(key, before);
    this.#index(key, slice);
    const isSame = (node: string): boolean => before?.service === slice.service && sameList(before.addresses[node], slice.addresses[node]);
    const nodes = new Set([...Object.keys(before?.addresses ?? {}), ...Object.keys(slice.addresses)]);
    for (const node of nodes) if (!isSame(node) || before?.family !== slice.family) this.ports.changed(node);
  }

  #gone(key: string): void {
    const slice = this.#slices.get(key);
    if (!slice) return;
    this.ports.rows.delete(KIND, key);
    this.#unindex(key, slice);
    for (const node of Object.keys(slice.addresses)) this.ports.changed(node);
  }

  #index(key: string, slice: LocalSlice): void {
    this.#slices.set(key, slice);
    for (const node of Object.keys(slice.addresses)) this.#byNode.set(node, (this.#byNode.get(node) ?? new Set()).add(key));
  }

  #unindex(key: string, { addresses }: LocalSlice): void {
    this.#slices.delete(key);
    for (const node of Object.keys(addresses)) {
      const keys = this.#byNode.get(node);
      keys?.delete(key);
      if (keys?.size === 0) this.#byNode.delete(node);
    }
  }
}

function sameList(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
