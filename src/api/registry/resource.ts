/**
 * What a served resource is. One ResourceDefinition per resource is everything that routes, discovery, OpenAPI, stores,
 * tables and selectors need to know; a new resource costs one entry in `all.ts` and its strategy.
 */
import type { FieldError } from "../meta/field-errors";
import type { DeleteOptions, KubeObject } from "../meta/kubernetes";
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
  /** API group of the request: that of the kind, or of another representation of it. Absent = the server's own write */
  requestGroup?: string;
}

/** Before (stored) and after (wanted) of one change: named, so that they cannot be swapped. */
export interface Change<T> {
  after: T;
  before: T;
}

/**
 * A resource's own rules. Order of calls (upstream: registry/rest BeforeCreate, BeforeUpdate):
 * create: defaults -> prepareForCreate -> validate; update: defaults -> prepareForUpdate -> validate + validateUpdate.
 * Every method may change the `after` object it is given and nothing else. Metadata rules common to all kinds are not here.
 */
export interface Strategy<T extends KubeObject> {
  /** messages (without field) why `name` is not a valid name; empty = valid */
  validateName(name: string): string[];
  /** upstream static defaulting of the versioned type, applied to every decoded object */
  defaults(object: T): void;
  /** drops what clients may not set (status), sets what the server owns */
  prepareForCreate(object: T, context: StrategyContext): void;
  /** `before` is given on an update: what was stored already is not judged again */
  validate(object: T, context: StrategyContext, before?: T): FieldError[];
  prepareForUpdate(change: Change<T>, context: StrategyContext): void;
  /** only the rules that need both objects; `validate(after)` is called besides */
  validateUpdate(change: Change<T>, context: StrategyContext): FieldError[];
  /** status endpoint: keep everything but status (and what 3.1 of the reference allows) as stored */
  prepareForStatusUpdate(change: Change<T>, context: StrategyContext): void;
  validateStatusUpdate(change: Change<T>, context: StrategyContext): FieldError[];
  /** texts of HTTP Warning headers */
  warnings(object: T, before?: T): string[];
  /** read-time defaulting of stored objects (Service families written by old versions) */
  defaultsOnRead?(object: T): void;
  /** what is special about deleting the kind; absent = nothing */
  deletion?: DeletionRules<T>;
}

/** Each rule may be absent; see `planDelete` in delete-order.ts for their order. */
export interface DeletionRules<T extends KubeObject> {
  /** why this object may never be deleted (text of the 403), undefined = it may */
  refuse?(object: T): string | undefined;
  /** seconds that the object stays after DELETE; absent = 0. `requested` undefined = the client named none */
  graceSeconds?(object: T, requested: number | undefined): number;
  /** what an object shows once its deletion has begun */
  mark?(object: T): void;
  /** something besides metadata.finalizers still holds the object */
  held?(object: T): boolean;
}

/** What a document that is created under an object does to it. */
export type ActionEffect<T extends KubeObject, D extends KubeObject> =
  /** deletes the object */
  | { does: "delete"; options(document: D): DeleteOptions }
  /** changes the object around the rules of its strategy; `change` answers why it cannot (the reason of a 409) */
  | { does: "change"; validate(document: D): FieldError[]; change(object: T, document: D, now: number): string | undefined };

/** A create-only subresource: a document of a kind of its own, never stored. */
export interface ActionDefinition<T extends KubeObject = KubeObject, D extends KubeObject = KubeObject> {
  /** of the subresource: binding, eviction */
  name: string;
  /** group, version and kind of the document; documents in other versions of the group are taken too */
  group: string;
  version: string;
  otherVersions: readonly string[];
  kind: string;
  schema: MessageSchema;
  /** one sentence for the API's description */
  says: string;
  /** a collection in which the same documents can be created; the name in the document is that of the object */
  collection?: { resource: string; singular: string };
  effect: ActionEffect<T, D>;
}

export interface ResourceDefinition<T extends KubeObject = KubeObject> {
  /** "" for core */
  group: string;
  /** served versions, preferred first; they differ in nothing but apiVersion */
  versions: readonly string[];
  resource: string;
  /** served while this feature gate is on; the store and its objects are there in any case */
  gate?: "MultiCIDRServiceAllocator";
  singular: string;
  kind: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  verbs: readonly Verb[];
  subresources: readonly ("status" | "finalize")[];
  actions?: readonly ActionDefinition[];
  schema: MessageSchema;
  columns: readonly ColumnDefinition[];
  /** exactly one cell per column (IPAddress upstream prints one more; see docs/compatibility.md) */
  cells(object: T, now: number): Cell[];
  /** values of the selectable fields other than metadata.name and metadata.namespace; a missing key = unsupported label */
  selectableFields(object: T): Record<string, string>;
  /** the labels selectableFields can have, known without an object */
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
  /** set when this is another representation of a resource that has the store (events.k8s.io events are core events) */
  representationOf?: {
    resource: string;
    group: string;
    toStored(object: KubeObject): KubeObject;
    fromStored(object: KubeObject): KubeObject;
  };
}

/**
 * A definition of one kind as a definition of any kind, so that all fit one list. Sound as long as a definition is only
 * given objects that its own schema decoded, which is what routes and stores do.
 */
export function defineResource<T extends KubeObject>(definition: ResourceDefinition<T>): ResourceDefinition {
  return definition as unknown as ResourceDefinition;
}

/** The same for an action, whose objects and documents its own schemas decoded. */
export function defineAction<T extends KubeObject, D extends KubeObject>(action: ActionDefinition<T, D>): ActionDefinition {
  return action as unknown as ActionDefinition;
}
