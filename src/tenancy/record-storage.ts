/** Rows of a cluster's record. */
import type { ControllersSetting } from "../core/config/controllers";
import type { NamespaceQuotas } from "../api/rpc/namespace-quotas";
import type { ClusterSource } from "./rpc";

/**
 * `phase` "absent": the cluster of `life` is still to come. `life`: the number of cluster-id.ts, which has the place of the cluster once it has begun.
 * Times in milliseconds since the epoch.
 */
export interface RecordRow {
  /** of the cluster */
  name: string;
  life: number;
  phase: "absent" | "active" | "deleting";
  createdAt: number;
  deletedAt: number;
}

/**
 * An object of the cluster. A store has its qualified resource as its name, and an owner of addresses its uid. A controller, credentials, a view and
 * the health of some nodes have names.
 */
export interface ClusterObject {
  kind: "credentials" | "view" | "node-proxy" | "controller" | "store" | "owner";
  name: string;
}

/** The controllers of the cluster. `isTold`: every object in `told` has heard of this version. */
export interface ControllersRow extends ControllersSetting {
  isTold: boolean;
  /** `kind/name` of the objects of the cluster when they were told. Another release may have others; absent = not noted */
  told?: readonly string[];
  /** absent = not noted */
  source?: ClusterSource | undefined;
}

/** The ranges with which the cluster of this id begins. `isTold`: the objects that make them know. */
export interface BeginningRow {
  id: string;
  serviceRanges: readonly string[];
  isTold: boolean;
}

/** `isTold`: the store of Namespaces has heard of this version. `isFirst`: the cluster begins with them, and has not begun. */
export interface QuotasRow extends NamespaceQuotas {
  isTold: boolean;
  isFirst?: true;
  /** absent = not noted */
  source?: ClusterSource | undefined;
}

/** An object of the kind Cluster that stands for the cluster no more, since this time in milliseconds since the epoch. */
export interface EndedObject {
  uid: string;
  endedAt: number;
}

/** Every method is one synchronous step. The writes of a `transaction` are kept or lost together. Reading makes no tables. */
export interface RecordStorage {
  transaction<T>(work: () => T): T;
  load(): RecordRow | undefined;
  save(row: RecordRow): void;
  /** undefined = nothing was ever set */
  controllersLoad(): ControllersRow | undefined;
  controllersSave(row: ControllersRow): void;
  /** undefined = nothing was ever set */
  quotasLoad(): QuotasRow | undefined;
  quotasSave(row: QuotasRow): void;
  /** in the order of their ends; undefined = none was ever noted */
  endedLoad(): readonly EndedObject[] | undefined;
  endedSave(ended: readonly EndedObject[]): void;
  /** of the last cluster that began with ranges of its own; undefined = none did */
  beginningLoad(): BeginningRow | undefined;
  beginningSave(row: BeginningRow): void;
  /** the stamp under which the list of all clusters has the name, as far as this record knows; "" = one without; undefined = the list has no such name */
  stamp(): string | undefined;
  noteStamp(stamp: string | undefined): void;
  /** what the list of all clusters was told last of this life, as far as this record knows; "" = nothing */
  notedLife(): string;
  noteLife(id: string): void;
  /** adds objects to wipe; known ones stay as they are */
  objectsAdd(objects: readonly ClusterObject[]): void;
  objectWiped(object: ClusterObject): void;
  /** not wiped yet, in the order in which they were added */
  objectsLeft(limit: number): ClusterObject[];
  /** names of all objects of a kind, wiped ones included */
  objectsNamed(kind: ClusterObject["kind"]): string[];
  objectCounts(): { objects: number; wiped: number };
  objectsClear(): void;
}
