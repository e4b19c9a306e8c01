/** What the garbage collector asks of every store: who owns what, by metadata alone. */
import type { OwnerReference } from "../meta/kubernetes";
import type { ObjectKey, StoreCursor } from "./store";

export type { StoreCursor };

/** The metadata of one object that garbage collection depends on. */
export interface ObjectLinks {
  key: ObjectKey;
  uid: string;
  resourceVersion: string;
  ownerReferences: OwnerReference[];
  finalizers: string[];
  /** metadata.deletionTimestamp is set */
  deleting: boolean;
}

export type LinkChange = { type: "put"; links: ObjectLinks } | { type: "deleted"; key: ObjectKey; uid: string };

/** `expired`: the history no longer reaches back to the cursor (rule 23): list again. */
export type LinkChanges = { kind: "expired" } | { kind: "changes"; changes: LinkChange[]; cursor: StoreCursor; more: boolean };

export interface LinkPage {
  /** only objects that own something of interest to the collector: ownerReferences, or a deletion that it has to finish */
  items: ObjectLinks[];
  /** where the store stood when this page was read */
  cursor: StoreCursor;
  /** the storage key behind which the next page begins; "" = this was the last one */
  next: string;
}

/** An object whose namespace is not known. */
export interface SoughtObject {
  name: string;
  uid: string;
}

export interface Whereabouts {
  /** the namespaces in the order of what was sought; null = not found in the namespaces that were looked through */
  found: (string | null)[];
  /** the namespace behind which the search goes on; "" = this was the last one */
  next: string;
}

export interface LinkedStore {
  /** At most `limit` entries of the history after the cursor, of which only those that matter to garbage collection are told. */
  changesSince(cursor: StoreCursor | undefined, limit: number): Promise<LinkChanges>;
  /** One page of a list: at most `limit` rows behind the storage key `after` are looked at. */
  listMetadata(after: string, limit: number): Promise<LinkPage>;
  /** The objects as they are now, in the order of the keys; null = there is none. */
  metadataOf(keys: ObjectKey[]): Promise<(ObjectLinks | null)[]>;
  /** In which namespaces behind `after` the objects are. It reads a row for each namespace with objects, and one for each of them and sought object. */
  whereabouts(sought: SoughtObject[], after: string): Promise<Whereabouts>;
}
