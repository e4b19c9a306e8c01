/**
 * What the store of Services asks the store of the addresses of pools: addresses for Services of type LoadBalancer (src/pools/service-address-book.ts).
 * A row is the IPAddress object that holds an address for a Service. Its name has the token of the attempt that took it, so no name comes twice.
 */
import type { Family } from "../../core/net/family";

/** `namespace/name` of an IPAddress object. */
export type AddressRowKey = string;

/** A Service, as far as pools look at it. */
export interface AskingService {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** absent = the asker has not read them */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /** names of pools: only these; absent = any that serves the Service by itself */
  readonly pools?: readonly string[];
  /** with whom it shares an address, as one text (pools/load-balancers/sharing.ts); absent = with nobody */
  readonly sharing?: string;
}

/** One address, to be held by the row of this name. */
export interface WantedRow {
  readonly row: AddressRowKey;
  readonly family: Family;
  /** the canonical text of the one that the Service asks for; absent = any */
  readonly address?: string;
  /** the same of one that is taken if it can be, before any other */
  readonly preferred?: string;
  /** The Service has the address already, and the row was lost: no rule of selection counts. */
  readonly isHeld?: true;
}

/** Services that came before and wait. A younger one leaves them what they wait for. */
export interface OlderWaiters {
  /** how many wait for any address, by the key of a pool */
  readonly pools: Readonly<Record<string, number>>;
  /** by the key of a pool: those of it that are asked for */
  readonly asked: Readonly<Record<string, readonly string[]>>;
}

export interface TakenRow {
  readonly row: AddressRowKey;
  readonly family: Family;
  readonly address: string;
  /** with which it was taken */
  readonly sharing?: string;
}

export interface AddressRequest {
  readonly service: AskingService;
  readonly wanted: readonly WantedRow[];
  /** all of them, or none */
  readonly all: boolean;
  readonly behind?: OlderWaiters;
}

/** `why` something is missing, as an Event tells it. `pools`: keys of those in which room would help. */
export interface AddressesMissing {
  readonly why: string;
  readonly pools: readonly string[];
}

export interface AddressAnswer {
  readonly taken: readonly TakenRow[];
  readonly missing?: AddressesMissing;
  /** preferred addresses of pools instead of which the Service got others */
  readonly replaced?: readonly string[];
}

/** A row of a Service, as the audit reads it. */
export interface ServiceRow extends TakenRow {
  /** uid of the Service */
  readonly service: string;
}

/** `session` grows with each life of the store of Services. What an earlier one has sent, and comes late, takes nothing. */
export type BalancerQuestion =
  | {
      readonly does: "take";
      readonly session: number;
      readonly requests: readonly AddressRequest[];
      /** addresses that Services show and that no row holds yet, with the uid of each Service: nobody else gets them */
      readonly shown?: Readonly<Record<string, string>>;
    }
  /** Rows that are not there are no error. */
  | { readonly does: "release"; readonly rows: readonly AddressRowKey[] }
  /** The rows of Services behind this key. */
  | { readonly does: "rows"; readonly session: number; readonly after: AddressRowKey }
  /** Which of these addresses pools for load balancers cover. */
  | { readonly does: "cover"; readonly addresses: readonly string[] };

export type BalancerAnswer =
  | { readonly kind: "taken"; readonly answers: readonly AddressAnswer[] }
  /** Pools look at the labels of namespaces, and the asker has not told them. */
  | { readonly kind: "labels" }
  /** A later life of the asker has spoken, in this session. */
  | { readonly kind: "outdated"; readonly session: number }
  /** `pools`: keys of those in which there is room now */
  | { readonly kind: "released"; readonly pools: readonly string[] }
  /** `next`: where the next page begins; absent = this was the last one */
  | { readonly kind: "rows"; readonly rows: readonly ServiceRow[]; readonly next?: AddressRowKey }
  /** as messages name the pool of each address; null = no pool for load balancers covers it */
  | { readonly kind: "covered"; readonly pools: readonly (string | null)[] };

/** The store of the addresses of pools. */
export interface BalancerBookRpc {
  askBalancers(question: BalancerQuestion): Promise<BalancerAnswer>;
}

/** What the store of Services is told by whoever keeps pools. */
export interface BalancedServicesRpc {
  /** From now on there are pools for load balancers: their addresses stand in no status but that of their Services. Durable when it answers. */
  expectBalancerPools(): Promise<void>;
  /** These pools may have room for Services that wait. May be lost. */
  roomInPools(pools: readonly string[]): Promise<void>;
}
