/**
 * What the Worker (and peers) may ask of a store of plain objects, the services store and the Coordinator's servicecidrs store alike.
 * Objects cross as JSON text *without* kind and apiVersion: stored once, answered in any served version by splicing two members in front.
 */
import type { Int64 } from "../../core/encoding/exact-json";
import type { Status } from "../meta/status";
import type { ServedAt } from "../../core/net/served-at";
import type { HistogramValue } from "../../core/telemetry/histogram";

export type FieldValidation = "Strict" | "Warn" | "Ignore";
export type PatchType = "json" | "merge" | "strategic" | "apply";
export type Subresource = "" | "status" | "finalize";

/** Names one object; namespace is "" for cluster-scoped kinds. */
export interface ObjectKey {
  namespace: string;
  name: string;
}

export interface WriteOptions {
  dryRun: boolean;
  fieldManager: string;
  fieldValidation: FieldValidation;
  /** apply only */
  force: boolean;
  /** group and served version of the request: error texts name them, and a patch speaks of that representation ("" and "v1") */
  group: string;
  version: string;
  /** of a controller of this server. No request of a client becomes such a write, whatever manager it names. */
  byController?: true;
}

export interface Preconditions {
  uid?: string;
  resourceVersion?: string;
}

export interface DeleteOptionsRequest {
  dryRun: boolean;
  preconditions: Preconditions;
  propagationPolicy: "" | "Background" | "Foreground" | "Orphan";
  /** seconds; undefined = the kind's default */
  gracePeriodSeconds: Int64 | undefined;
}

export type WriteRequest =
  /** `object` passed the schema; `namespace` is the URL's; a name may be absent when generateName is given */
  | { verb: "create"; namespace: string; object: string; options: WriteOptions }
  /** `fencedUid`, of our namespace controller: every store has closed the namespace of this uid and found it empty (rule 20) */
  | { verb: "update"; key: ObjectKey; subresource: Subresource; object: string; options: WriteOptions; fencedUid?: string }
  /** `patch` is the body as text; of an apply the configuration, kind and apiVersion included, as JSON */
  | { verb: "patch"; key: ObjectKey; subresource: Subresource; patchType: PatchType; patch: string; options: WriteOptions }
  | { verb: "delete"; key: ObjectKey; options: DeleteOptionsRequest }
  /** what a document created under the object does to it; `document` passed its schema and the action's validation */
  | { verb: "act"; key: ObjectKey; action: string; document: string; options: WriteOptions };

/** A place in a store's history; `incarnation` = the store's lifetime. */
export interface StoreCursor {
  incarnation: string;
  revision: number;
}

export type WriteResult =
  /**
   * `code` 200 or 201; `object` = the stored text; `gone` = the deletion is complete (answer a Status, or the object). `at` = the revision of the change
   * that this write made; absent = it made none, or the store is of the release before
   */
  | { ok: true; code: 200 | 201; object: string; warnings: string[]; gone: boolean; at?: StoreCursor }
  | { ok: false; status: Status; warnings: string[] };

export type GetResult = { ok: true; object: string } | { ok: false; status: Status };

/**
 * Lists and watches go through the object's `fetch` as `http://store/?<these as query>`; the body is the final
 * representation and the Worker hands it on untouched.
 */
export interface CollectionRequest {
  verb: "list" | "watch" | "deletecollection";
  /** "" = all namespaces */
  namespace: string;
  /** raw query values of the client, already checked for form where the form needs no store */
  labelSelector: string;
  fieldSelector: string;
  limit: number;
  continueToken: string;
  resourceVersion: string;
  resourceVersionMatch: string;
  allowWatchBookmarks: boolean;
  /** undefined = not given: a watch from resourceVersion unset or 0 begins with them all the same, as if it were true */
  sendInitialEvents?: boolean | undefined;
  /** seconds, 0 = the server chooses; of a watch that ends at once it is negative */
  timeoutSeconds: number;
  /** group, version and resource that the client asked for (events has two; versions differ in apiVersion) */
  group: string;
  version: string;
  resource: string;
  representation: AnswerForm;
  /** of a resource that says so in its definition */
  servedAt?: ServedAt;
  /** of lists and watches; absent = JSON */
  encoding?: Encoding;
  /** of a watch that goes on: its client has the columns of a Table */
  columnsSent?: true;
  /** of lists: no watch follows, as the server's own readers say; absent = one may (rule 33) */
  unfollowed?: true;
  /** deletecollection only */
  deleteOptions?: DeleteOptionsRequest;
}

/** How lists and watches are written. Refusals are always JSON. */
export type Encoding = "json" | "protobuf";

/** The forms that a body can take. */
export type AnswerForm =
  { as: "object" } | { as: "table"; includeObject: "Metadata" | "Object" | "None"; version: string } | { as: "partial"; version: string };

export interface StoreRpc {
  write(request: WriteRequest): Promise<WriteResult>;
  /** `resourceVersion` "" = newest; "N" = at least N, else 504 */
  get(key: ObjectKey, resourceVersion: string): Promise<GetResult>;
  fetch(request: Request): Promise<Response>;
}

/** What controllers write by: many objects with one call. */
export interface BatchedStore extends Pick<StoreRpc, "write"> {
  /** Each write for itself, as `write` does it; answers in their order. Rejects when one of them gets no answer, whatever became of the others. */
  writeAll(requests: WriteRequest[]): Promise<WriteResult[]>;
}

/** What a namespace still holds of one resource. */
export interface NamespaceRemains {
  objects: number;
  /** [finalizer, objects that it holds]; of very many finalizers only the first */
  finalizers: (readonly [string, number])[];
}

/** Data that are restored into a store, or were brought back with it. */
export interface BeginningAbove {
  /** the newest revision in the data; absent: the store's own */
  head?: number;
  /** of what time they are, in milliseconds since the epoch */
  asOf: number;
}

/** What cron, namespace deletion and the operator ask of a store besides its objects. */
export interface MaintainedStore {
  /** resumes what a crash interrupted and retries what failed */
  maintain(): Promise<void>;
  /** trims the history to its bounds */
  compact(): Promise<void>;
  /** from now on nothing is created in this namespace; persisted when it returns (rule 20). Throws without an answer of the namespaces store. */
  closeNamespace(name: string, uid: string): Promise<void>;
  /** deletes what the namespace holds; answers what is left. Does nothing unless this namespace (this uid) is closed here. */
  emptyNamespace(name: string, uid: string): Promise<NamespaceRemains | "notClosed">;
  /** Begins above every revision that clients of the data can have seen (rule 32); answers where. null = no such revisions are left. See StoreEngine. */
  beginAbove(data: BeginningAbove): Promise<number | null>;
  /** ends every watch with a proper end of body; new ones may follow */
  endWatches(): Promise<void>;
  /** totals since the object started: drains (transactions) and operations */
  counters(): Promise<StoreCounters>;
}

/** What a watch watches; the scope as in upstream's metrics. */
export interface WatchedCollection {
  group: string;
  version: string;
  resource: string;
  scope: "resource" | "namespace" | "cluster";
}

export interface OpenWatches extends WatchedCollection {
  count: number;
}

export interface StoreCounters {
  drains: number;
  operations: number;
  /** watches besides those of Workers, which count their own */
  watchers: number;
  /** the same watches, by what they watch; an object of the release before does not tell them */
  watches?: OpenWatches[];
  /** sockets over which Workers watch; an object of the release before has none */
  sockets?: number;
  revision: number;
  /** objects deleted because their time was over; absent where no object's time ends */
  expired?: number;
}

/** What has been allocated under one CIDR since the store's object started, by scope: "static" = the client named the address. */
export interface CidrAllocations {
  cidr: string;
  total: { static: number; dynamic: number };
  errors: { static: number; dynamic: number };
  /** of the successful ones */
  durations: HistogramValue;
}

/** The node ports that Services hold, and what has been counted of them since the cluster began. */
export interface NodePortAllocations {
  /** numbers that a Service holds, with whatever protocol */
  allocated: number;
  /** numbers of the range that no Service holds */
  available: number;
  total: { static: number; dynamic: number };
  errors: { static: number; dynamic: number };
}

export interface ServicesStoreRpc extends StoreRpc, MaintainedStore {
  /** for metrics */
  allocations(): Promise<CidrAllocations[]>;
  /** for metrics */
  nodePortAllocations(): Promise<NodePortAllocations>;
  /**
   * Makes the cluster's default ServiceCIDR and the Service default/kubernetes. Once they exist it answers at once.
   *
   * @param namespace in which the caller is about to create a Service: what that takes is asked for now
   */
  ensureBootstrapped(namespace?: string): Promise<void>;
}

/** Which store has changed, and up to where: its newest revision when the poke left. */
export interface StoreNews extends StoreCursor {
  /** qualified resource of the store, as `leases.coordination.k8s.io` */
  store: string;
}

/**
 * A poke asks for a pass soon. With `news` the pass reads those stores alone, and a controller that has read so far begins none. A poke that names no
 * store, as that of an object of the release before, is about every store; an object of the release before does not look at `news`.
 */
/** What a poke resolves to that waited. An object of the release before resolves to nothing at once, and its pass may end with it. */
export const READ = "read";
export type PokeAnswer = typeof READ | undefined;

export interface ControllerRpc {
  /**
   * `untilRead`: it answers when the passes are over that had to read what was told, or when an alarm is set for another one. It rejects where that is
   * not sure. Otherwise it answers at once.
   *
   * @returns READ with `untilRead`. Anything else: the object is of the release before, and answers at once
   */
  poke(news?: StoreNews[], untilRead?: true): Promise<unknown>;
}

/** What a collection of objects whose time is over has done. */
export interface Expiry {
  deleted: number;
  /** objects whose time will come, and those that changed meanwhile */
  left: number;
  /** objects whose time is over and for which this call had no time */
  cut: number;
}

/** The store of Events, which have an hour, and that of Leases, among which those of servers run out. */
export interface ExpiringStoreRpc extends StoreRpc, MaintainedStore {
  /** Deletes objects whose time is over, for some seconds at most: the rest is the next call's. An object that changes meanwhile stays. */
  expire(): Promise<Expiry>;
}
