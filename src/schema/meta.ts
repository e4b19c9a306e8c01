/**
 * meta/v1: metadata, conditions, selectors, Status and request options.
 * Numbers and list kinds: apimachinery pkg/apis/meta/v1 generated.proto, types.go (v0.36).
 */
import {
  bool,
  fieldsV1,
  int32,
  int64,
  keyedListOf,
  kind,
  listOf,
  mapOf,
  message,
  plain,
  pointer,
  ref,
  required,
  string,
  time,
} from "./dsl";
import type { MessageSchema } from "./types";

const OwnerReference: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference",
  {
    apiVersion: required(5, string, "API version of the owner."),
    kind: required(1, string, "Kind of the owner."),
    name: required(3, string, "Name of the owner."),
    uid: required(4, string, "UID of the owner."),
    controller: pointer(6, bool, "Whether this owner is the managing controller; at most one owner is."),
    blockOwnerDeletion: pointer(7, bool, "Whether a foreground deletion of the owner waits for this object."),
  },
  { description: "Names an owner in the same namespace, or a cluster-scoped one.", atomic: true },
);

const ManagedFieldsEntry: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry",
  {
    manager: plain(1, string, "Name of the manager."),
    operation: plain(2, string, "How the fields were set: Apply or Update."),
    apiVersion: plain(3, string, "API version in which the fields are written."),
    time: pointer(4, time, "When the manager last changed this set."),
    fieldsType: plain(6, string, "Format of the set; always FieldsV1."),
    fieldsV1: pointer(7, fieldsV1, "The set of fields as a tree."),
    subresource: plain(8, string, "Subresource through which the fields were set."),
  },
  { description: "The fields that one manager owns." },
);

export const ObjectMeta: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
  {
    name: plain(1, string, "Name of the object, unique among the objects of its kind in a namespace. It cannot be changed."),
    generateName: plain(2, string, "Prefix from which the server makes a unique name when no name is given."),
    namespace: plain(3, string, "Namespace that holds the object; empty for cluster-scoped kinds. It cannot be changed."),
    selfLink: plain(4, string, "Legacy field that the server no longer fills."),
    uid: plain(5, string, "Identifier that the server gives each object; a deleted and recreated object gets a new one."),
    resourceVersion: plain(6, string, "Revision of the object. Send it back with an update to be told of a conflict; treat it as opaque."),
    generation: plain(7, int64, "Number of the desired state, increased by the server when that state changes."),
    creationTimestamp: plain(8, time, "When the server created the object."),
    deletionTimestamp: pointer(
      9,
      time,
      "When the deletion of the object was asked for. Set by the server; the object stays until its finalizers are gone.",
    ),
    deletionGracePeriodSeconds: pointer(10, int64, "Seconds that the object may take to end after its deletion was asked for."),
    labels: plain(11, mapOf(string), "Keys and values to organise and select objects by."),
    annotations: plain(12, mapOf(string), "Keys and values for tools; they cannot be selected by."),
    ownerReferences: plain(
      13,
      keyedListOf(OwnerReference, "uid"),
      "Objects that this one depends on. When all of them are gone, this object is collected.",
    ),
    finalizers: plain(
      14,
      listOf(string, { mergeKey: "set", listType: "set" }),
      "Names of the parties that must act before the object is removed.",
    ),
    managedFields: plain(17, listOf(ref(ManagedFieldsEntry)), "Which manager set which fields. Kept by the server for server-side apply."),
  },
  { description: "Metadata that every stored object has." },
);

const ShardInfo: MessageSchema = message("io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo", {
  selector: required(1, string),
});

export const ListMeta: MessageSchema = message("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta", {
  selfLink: plain(1, string),
  resourceVersion: plain(2, string),
  continue: plain(3, string),
  remainingItemCount: pointer(4, int64),
  shardInfo: pointer(5, ref(ShardInfo)),
});

const StatusCause: MessageSchema = message("io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause", {
  reason: plain(1, string),
  message: plain(2, string),
  field: plain(3, string),
});

const StatusDetails: MessageSchema = message("io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails", {
  name: plain(1, string),
  group: plain(2, string),
  kind: plain(3, string),
  uid: plain(6, string),
  causes: plain(4, listOf(ref(StatusCause))),
  retryAfterSeconds: plain(5, int32),
});

export const StatusSchema: MessageSchema = kind(
  "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
  "The answer to a request that does not return an object.",
  {
    metadata: plain(1, ref(ListMeta)),
    status: plain(2, string),
    message: plain(3, string),
    reason: plain(4, string),
    details: pointer(5, ref(StatusDetails)),
    code: plain(6, int32),
  },
);

const Preconditions: MessageSchema = message("io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions", {
  uid: pointer(1, string),
  resourceVersion: pointer(2, string),
});

export const DeleteOptionsSchema: MessageSchema = kind(
  "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
  "How an object is to be deleted.",
  {
    gracePeriodSeconds: pointer(1, int64),
    preconditions: pointer(2, ref(Preconditions)),
    orphanDependents: pointer(3, bool),
    propagationPolicy: pointer(4, string),
    dryRun: plain(5, listOf(string)),
    ignoreStoreReadErrorWithClusterBreakingPotential: pointer(6, bool),
  },
);

export const Condition: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.Condition",
  {
    type: required(1, string, "What the condition speaks of."),
    status: required(2, string, "Whether it holds: True, False or Unknown."),
    observedGeneration: plain(3, int64, "Generation of the object that the condition was set for."),
    lastTransitionTime: required(4, time, "When the status last changed."),
    reason: required(5, string, "One word in CamelCase for why it changed."),
    message: required(6, string, "The same for a human reader; may be empty."),
  },
  { description: "One aspect of the state of an object." },
);

export const LabelSelectorRequirement: MessageSchema = message("io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement", {
  key: required(1, string),
  operator: required(2, string),
  values: plain(3, listOf(string)),
});

export const LabelSelector: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
  {
    matchLabels: plain(1, mapOf(string), "Labels that an object must have with exactly these values."),
    matchExpressions: plain(2, listOf(ref(LabelSelectorRequirement)), "Requirements on labels."),
  },
  { description: "Selects objects by their labels: all parts must match, and an empty selector matches everything.", atomic: true },
);

export const FieldSelectorRequirement: MessageSchema = message("io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement", {
  key: required(1, string),
  operator: required(2, string),
  values: plain(3, listOf(string)),
});
