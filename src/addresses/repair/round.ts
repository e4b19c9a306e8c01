/** What one round of a pass looks at: Services and IPAddresses as they were read, and the names of those still to be read. */
import type { IPAddress, Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { readObject } from "../../api/meta/read-object";
import { parentServiceOf } from "../../api/registry/ip-addresses/parent-service";
import type { FedChange } from "../../api/rpc/object-feed";
import type { ObjectKey } from "../../api/rpc/store";

export interface RepairRound {
  /** by `namespace/name` */
  services: Map<string, Service>;
  /** Services, by `namespace/name`, of whose end a change told */
  gone: Set<string>;
  /** by name; undefined = still to be read */
  addresses: Map<string, IPAddress | undefined>;
  /** names of IPAddresses that are swept or looked at again: their rows are compared, too */
  swept: Set<string>;
  /** Services, by `namespace/name`, that are looked at again: the rows of their addresses are compared, too */
  suspects: Set<string>;
  /** Services, by `namespace/name`, whose node ports are compared with their rows */
  compared: Set<string>;
  /** Services still to be read */
  wanted: Map<string, ObjectKey>;
  /** `services/ns/name` or `ipaddresses/name` of objects that exist and cannot be read: nothing is concluded from them */
  unreadable: Set<string>;
}

export function emptyRound(): RepairRound {
  return {
    services: new Map(),
    gone: new Set(),
    addresses: new Map(),
    swept: new Set(),
    suspects: new Set(),
    compared: new Set(),
    wanted: new Map(),
    unreadable: new Set(),
  };
}

/** Has the object read and its rows compared. `id`: `services/ns/name` or `ipaddresses/name` */
export function wantSuspect(round: RepairRound, id: string): void {
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

/** The functions that note answer whether the object could be read. */
export function noteServiceChange(round: RepairRound, { deleted, object }: FedChange): boolean {
  const service = readService(object);
  if (!service) return false;
  const key = keyOf(service);
  if (deleted) {
    round.services.delete(key);
    round.gone.add(key);
  } else round.services.set(key, service);
  return true;
}

/** Has the Service looked at that the IPAddress names, even when the object is gone: it may have a successor. */
export function noteAddressChange(round: RepairRound, { deleted, object }: FedChange): boolean {
  const address = readIPAddress(object);
  if (!address) return false;
  round.addresses.set(address.metadata?.name ?? "", deleted ? undefined : address);
  wantParent(round, address);
  return true;
}

/** The object that a store has now replaces one from an earlier change. `compares`: so are its node ports with their rows. */
export function noteSweptService(round: RepairRound, text: string, compares: boolean): boolean {
  const service = readService(text);
  if (service) round.services.set(keyOf(service), service);
  if (service && compares) round.compared.add(keyOf(service));
  return service !== undefined;
}

export function noteSweptAddress(round: RepairRound, text: string): boolean {
  const address = readIPAddress(text);
  if (!address) return false;
  const { name = "" } = address.metadata ?? {};
  round.addresses.set(name, address);
  round.swept.add(name);
  return true;
}

export function wantParent(round: RepairRound, object: IPAddress): void {
  const parent = parentServiceOf(object);
  const key = parentKey(object);
  if (parent && !round.services.has(key) && !round.unreadable.has(serviceId(key))) round.wanted.set(key, parent);
}

/** The Service in a stored text; undefined = the text is damaged. */
export function readService(text: string): Service | undefined {
  const service = readObject<Service>(text);
  // The rules read any text in the other fields; the ClusterIPs they take apart.
  const { clusterIP, clusterIPs } = (service?.spec ?? {}) as { clusterIP?: unknown; clusterIPs?: unknown };
  const plural: unknown = clusterIPs ?? [];
  const isReadable = Array.isArray(plural) && [clusterIP ?? "", ...plural].every((text) => typeof text === "string");
  return isReadable ? service : undefined;
}

/** As readService. */
export function readIPAddress(text: string): IPAddress | undefined {
  return readObject<IPAddress>(text);
}

/** The id of a Service among the suspects, from its `namespace/name`. */
export function serviceId(key: string): string {
  return `services/${key}`;
}

/** As serviceId, from the name of an IPAddress. */
export function addressId(name: string): string {
  return `ipaddresses/${name}`;
}

export function parentKey({ spec }: IPAddress): string {
  return keyOf({ metadata: spec?.parentRef ?? {} });
}
