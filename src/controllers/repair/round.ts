/** What one round of a pass looks at: Services and IPAddresses as they were read, and what is still to be read. */
import type { IPAddress, Service } from "../../meta/kubernetes";
import { parentServiceOf } from "../../meta/parent-service";
import type { FedChange } from "../../rpc/object-feed";
import type { ObjectKey } from "../../rpc/store";

export interface Round {
  /** by `namespace/name` */
  services: Map<string, Service>;
  /** by name; undefined = it is to be read */
  addresses: Map<string, IPAddress | undefined>;
  /** names of IPAddresses that are swept: their rows are compared too */
  swept: Set<string>;
  /** Services that are to be read */
  wanted: Map<string, ObjectKey>;
}

export function emptyRound(): Round {
  return { services: new Map(), addresses: new Map(), swept: new Set(), wanted: new Map() };
}

/** `services/ns/name` or `ipaddresses/name` */
export function wantSuspect(round: Round, id: string): void {
  const [what = "", ...rest] = id.split("/");
  if (what === "services") round.wanted.set(rest.join("/"), { namespace: rest[0] ?? "", name: rest[1] ?? "" });
  else round.addresses.set(rest.join("/"), undefined);
}

export function noteServiceChange(round: Round, { deleted, object }: FedChange): void {
  const service = JSON.parse(object) as Service;
  if (deleted) round.services.delete(keyOf(service));
  else round.services.set(keyOf(service), service);
}

/** Whether or not it is there: the Service that it is for is looked at. One that is gone may have a successor. */
export function noteAddressChange(round: Round, { deleted, object }: FedChange): void {
  const address = JSON.parse(object) as IPAddress;
  round.addresses.set(address.metadata?.name ?? "", deleted ? undefined : address);
  wantParent(round, address);
}

/** What a store has now wins over a change that came before. */
export function noteSweptService(round: Round, text: string): void {
  const service = JSON.parse(text) as Service;
  round.services.set(keyOf(service), service);
}

export function noteSweptAddress(round: Round, text: string): void {
  const address = JSON.parse(text) as IPAddress;
  const { name = "" } = address.metadata ?? {};
  round.addresses.set(name, address);
  round.swept.add(name);
}

export function wantParent(round: Round, object: IPAddress): void {
  const parent = parentServiceOf(object);
  if (parent && !round.services.has(parentKey(object))) round.wanted.set(parentKey(object), parent);
}

export function parentKey({ spec }: IPAddress): string {
  return `${spec?.parentRef?.namespace ?? ""}/${spec?.parentRef?.name ?? ""}`;
}

function keyOf({ metadata }: Service): string {
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}
