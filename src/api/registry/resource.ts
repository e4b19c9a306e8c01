/**
 * What a served resource is. Routes, discovery, OpenAPI, stores, tables and selectors read one ResourceDefinition for each resource.
 * A new resource is one entry in `all.ts` and its strategy.
 */
import type { Int64 } from "../../core/encoding/exact-json";
import type { FieldError } from "../meta/field-errors";
import type { DeleteOptions, KubeObject } from "../meta/kubernetes";
import type { ServedAt } from "../../core/net/served-at";
import type { RowCondition } from "../meta/table";
import type { MessageSchema } from "../schema/types";

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

export interface ColumnDefinition {
  name: string;
  type: "string" | "integer" | "date";
  format: "" | "name";
  description: string;
  /** 0 = always shown, 1 = only with -o wide */
  priority: number;
}

export type Cell = string | number | boolean | null;

/** Facts of the running server that strategies may depend on. */
export interface StrategyContext {
  /** milliseconds since the epoch */
  now: number;
  /** configured Service families, primary first */
  serviceFamilies: readonly ("IPv4" | "IPv6")[];
  /** API group of the request: the kind's own, or that of another representation. Absent = a write of the server itself */
  requestGroup?: string;
  /** version of the request; absent as the group */
  requestVersion?: string;
  /** the controller of this server that writes, by its field manager; absent = a client, whatever manager it names */
  controller?: string;
}

/** Stored and wanted object of one change, named so that they cannot be swapped. */
export interface Change<T> {
  after: T;
  before: T;
}

/**
 * A resource's own rules. Order of calls (upstream: registry/rest BeforeCreate, BeforeUpdate):
 * create: defaults -> prepareForCreate -> validate; update: defaults -> prepareForUpdate -> validate + validateUpdate.
 * A method may change its `after` object and nothing else. Rules of metadata that all kinds share are in meta/object-meta.ts.
 */
export interface Strategy<T extends KubeObject> {
  /** messages (without field) why `name` is not a valid name; empty = valid */
  validateName(name: string): string[];
  /** upstream static defaulting of the versioned type, applied to every decoded object */
  defaults(object: T): void;
  /** drops members that clients may not set (status), sets those that the server owns */
  prepareForCreate(object: T, context: StrategyContext): void;
  /** `before` is given on an update: members that are stored already are not validated again */
  validate(object: T, context: StrategyContext, before?: T): FieldError[];
  prepareForUpdate(change: Change<T>, context: StrategyContext): void;
  /** only the rules that need both objects; the caller also runs `validate(after)` */
  validateUpdate(change: Change<T>, context: StrategyContext): FieldError[];
  /** status endpoint: keeps everything but metadata and status as stored */
  prepareForStatusUpdate(change: Change<T>, context: StrategyContext): void;
  validateStatusUpdate(change: Change<T>, context: StrategyContext): FieldError[];
  /** warnings of the status endpoint; absent = none */
  statusWarnings?(object: T): string[];
  /** texts of HTTP Warning headers */
  warnings(object: T, before?: T): string[];
  /** read-time defaulting of stored objects (Service families written by old versions) */
  defaultsOnRead?(object: T): void;
  /** rules of the kind for DELETE; absent = none */
  deletion?: DeletionRules<T>;
}

/** Each rule may be absent; `planDelete` in delete-order.ts has their order. */
export interface DeletionRules<T extends KubeObject> {
  /** why this object may never be deleted (text of the 403), undefined = it may */
  refuse?(object: T): string | undefined;
  /** seconds that the object stays after the first DELETE; absent = 0. `requested` undefined = the client named none */
  graceSeconds?(object: T, requested: Int64 | undefined): Int64;
  /** marks an object whose deletion has begun */
  mark?(object: T): void;
  /** whether something besides metadata.finalizers holds the object */
  held?(object: T): boolean;
  /** nothing can belong to its objects, so a DELETE adds no finalizer of a propagation policy and drops those that are there */
  hasNoDependents?: true;
  /** a failed precondition is told in the words of storage */
  storagePreconditions?: true;
}

/** Documents that the Worker answers by itself. */
export type ObjectAnswer = "token-request";

/** The effect on an object of a document that is created under it. */
export type ActionEffect<T extends KubeObject, D extends KubeObject> =
  /** deletes the object; before that, a write of its own marks it, so that watchers see why it goes */
  | { does: "delete"; options(document: D): DeleteOptions; mark(object: T, now: number): void }
  /** changes the object past the rules of its strategy; `change` returns why it cannot (the reason of a 409) */
  | { does: "change"; validate(document: D): FieldError[]; change(object: T, document: D, now: number): string | undefined }
  /** leaves the object as it is: the answer is the document with more in it, not a Status */
  | { does: "answer"; answer: ObjectAnswer };

/** A create-only subresource: a document of a kind of its own, never stored. */
export interface ActionDefinition<T extends KubeObject = KubeObject, D extends KubeObject = KubeObject> {
  /** name of the subresource: binding, eviction */
  name: string;
  /** group, version and kind of the document; documents in other versions of the group are taken too */
  group: string;
  version: string;
  otherVersions: readonly string[];
  kind: string;
  schema: MessageSchema;
  /** one sentence for the API's description */
  description: string;
  /** a collection in which the same documents can be created; the name in the document is that of the object */
  collection?: { resource: string; singular: string };
  effect: ActionEffect<T, D>;
}

/** A subresource that hands requests of any method on, with whatever path stands behind it (upstream: rest.Connecter). */
export interface ConnectDefinition {
  name: "proxy";
  /** kind of its options, in the group and version of the resource */
  kind: string;
  /** one sentence for the API's description: what the parameter `path` says */
  pathDescription: string;
}

export type ObjectView = "proxy-config";

export type ObjectReport = "proxy-health";

export interface ResourceDefinition<T extends KubeObject = KubeObject> {
  /** "" for core */
  group: string;
  /** served versions, preferred first; they differ in nothing but apiVersion. A version of another form is a definition of its own */
  versions: readonly string[];
  resource: string;
  /** served while this feature gate is on; the store and its objects exist in any case */
  gate?: "MultiCIDRServiceAllocator";
  /** Served in the cluster `default` alone, which is the root of all clusters; others have neither the kind nor its store. */
  atRoot?: true;
  /** Most updates only say that the holder lives: what they change is kept in memory alone while nobody reads it (rule 33). */
  renewed?: true;
  /** The objects hold what only few may read. No copy leaves their store, and only a server that is out of others' reach serves them. */
  confidential?: true;
  /** version -> the warning of every answer to a request in that version (upstream: the types' prerelease lifecycle) */
  deprecations?: Readonly<Record<string, string>>;
  singular: string;
  kind: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  verbs: readonly Verb[];
  subresources: readonly ("status" | "finalize")[];
  actions?: readonly ActionDefinition[];
  connects?: readonly ConnectDefinition[];
  /** read-only documents under an object that are this server's own: no Kubernetes objects, so that neither discovery nor OpenAPI has them */
  views?: readonly ObjectView[];
  /** documents that are sent about an object, each in place of the one before; this server's own, as views are */
  reports?: readonly ObjectReport[];
  schema: MessageSchema;
  columns: readonly ColumnDefinition[];
  /** exactly one cell for each column (upstream's IPAddress has one more; see docs/compatibility.md) */
  cells(object: T, now: number): Cell[];
  /** what the row of an object says beside its cells; absent = no row says anything */
  rowConditions?(object: T): RowCondition[];
  /** values of the selectable fields other than metadata.name and metadata.namespace; a missing key = unsupported label */
  selectableFields(object: T): Record<string, string>;
  /** the labels that selectableFields can return */
  fieldLabels: readonly string[];
  /** text of the 400 for an unknown field label */
  unknownFieldLabel(label: string): string;
  strategy: Strategy<T>;
  /** PUT of a missing name creates it */
  allowCreateOnUpdate: boolean;
  /** PUT without resourceVersion is accepted */
  allowUnconditionalUpdate: boolean;
  /** DELETE answers the object instead of a Status */
  returnsDeletedObject: boolean;
  /** metadata.generation: 1 on create, +1 when anything outside metadata and status (or, with "labels", a label) changes */
  generation: "none" | "spec" | "specAndLabels";
  /** `generateName` gets its random suffix (false for IPAddress) */
  generatesNameSuffix: boolean;
  /** objects that exist from the store's first moment (namespaces default, kube-system, …) */
  initialObjects: readonly T[];
  /** set when the objects are stored as those of another resource (events.k8s.io events are core events), or in the form of another version */
  representationOf?: {
    resource: string;
    group: string;
    /** of a namespaced resource whose stored objects have no namespace: the one that all are in */
    shownIn?: string;
    /** `fromStored` says how the reader reaches something on this server */
    saysAddress?: true;
    toStored(object: KubeObject): KubeObject;
    /** @param at absent = nobody knows */
    fromStored(object: KubeObject, at?: ServedAt): KubeObject;
  };
}

/**
 * A definition of one kind as a definition of any kind, so that all fit one list. Sound as long as a definition only gets
 * objects that its own schema decoded; routes and stores ensure that.
 */
export function defineResource<T extends KubeObject>(definition: ResourceDefinition<T>): ResourceDefinition {
  return definition as unknown as ResourceDefinition;
}

/** The same for an action: its own schemas decode its objects and documents. */
export function defineAction<T extends KubeObject, D extends KubeObject>(action: ActionDefinition<T, D>): ActionDefinition {
  return action as unknown as ActionDefinition;
}
