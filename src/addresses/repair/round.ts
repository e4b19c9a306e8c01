/** What one round of a pass looks at: Services and IPAddresses as they were read, and what is still to be read. */
import type { IPAddress, KubeObject, Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { parentServiceOf } from "../../api/registry/ip-addresses/parent-service";
import type { FedChange } from "../../api/rpc/object-feed";
import type { ObjectKey } from "../../api/rpc/store";
import { clusterIPsOf } from "./rules";

export interface Round {
  /** by `namespace/name` */
  services: Map<string, Service>;
  /** by name; undefined = it is to be read */
  addresses: Map<string, IPAddress | undefined>;
  /** names of IPAddresses that are swept, or looked at again: their rows are compared too */
  swept: Set<string>;
  /** Services, by `namespace/name`, that are looked at again: so are the rows of their addresses */
  suspects: Set<string>;
  /** Services that are to be read */
  wanted: Map<string, ObjectKey>;
  /** `services/ns/name` or `ipaddresses/name` of what is there and cannot be read: nothing follows from it */
  unreadable: Set<string>;
}

export function emptyRound(): Round {
  return { services: new Map(), addresses: new Map(), swept: new Set(), suspects: new Set(), wanted: new Map(), unreadable: new Set() };
}

/** `services/ns/name` or `ipaddresses/name` */
export function wantSuspect(round: Round, id: string): void {
  const [what = "", ...rest] = id.split("/");
  const name = rest.join("/");
  if (what === "services") {
    round.suspects.add(name);
    round.wanted.set(name, { namespace: rest[0] ?? "", name: rest[1] ?? "" });
  } else {
    round.swept.add(name);
    round.addresses.set(name, undefined);
  }
}

/** This and the others that note answer whether the object could be read. */
export function noteServiceChange(round: Round, { deleted, object }: FedChange): boolean {
  const service = readService(object);
  if (!service) return false;
  if (deleted) round.services.delete(keyOf(service));
  else round.services.set(keyOf(service), service);
  return true;
}

/** Whether or not it is there: the Service that it is for is looked at. One that is gone may have a successor. */
export function noteAddressChange(round: Round, { deleted, object }: FedChange): boolean {
  const address = readIPAddress(object);
  if (!address) return false;
  round.addresses.set(address.metadata?.name ?? "", deleted ? undefined : address);
  wantParent(round, address);
  return true;
}

/** What a store has now wins over a change that came before. */
export function noteSweptService(round: Round, text: string): boolean {
  const service = readService(text);
  if (service) round.services.set(keyOf(service), service);
  return service !== undefined;
}

export function noteSweptAddress(round: Round, text: string): boolean {
  const address = readIPAddress(text);
  if (!address) return false;
  const { name = "" } = address.metadata ?? {};
  round.addresses.set(name, address);
  round.swept.add(name);
  return true;
}

export function wantParent(round: Round, object: IPAddress): void {
  const parent = parentServiceOf(object);
  const key = parentKey(object);
  if (parent && !round.services.has(key) && !round.unreadable.has(serviceId(key))) round.wanted.set(key, parent);
}

/** The Service in a stored text; undefined = something has damaged it. */
export function readService(text: string): Service | undefined {
  const service = readObject<Service>(text);
  // Texts in place of others are what the rules take them for; these they take apart.
  const clusterIPs: unknown = service && clusterIPsOf(service);
  return Array.isArray(clusterIPs) && clusterIPs.every((ip) => typeof ip === "string") ? service : undefined;
}

/** As readService. */
export function readIPAddress(text: string): IPAddress | undefined {
  return readObject<IPAddress>(text);
}

/** How a Service is called among what is looked at again, by its `namespace/name`. */
export function serviceId(key: string): string {
  return `services/${key}`;
}

/** As serviceId, by the name of an IPAddress. */
export function addressId(name: string): string {
  return `ipaddresses/${name}`;
}

export function parentKey({ spec }: IPAddress): string {
  return keyOf({ metadata: spec?.parentRef ?? {} });
}

function readObject<T extends KubeObject>(text: string): T | undefined {
  try {
    const object = JSON.parse(text) as T | null;
    return typeof object?.metadata?.name === "string" ? object : undefined;
  } catch {
    return undefined;
  }
}
