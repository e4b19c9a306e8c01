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
    // an empty list asks to forget all managers
    managedFields: pointer(
      17,
      listOf(ref(ManagedFieldsEntry)),
      "Which manager set which fields. Kept by the server for server-side apply.",
    ),
  },
  { description: "Metadata that every stored object has." },
);

const ShardInfo: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo",
  {
    selector: required(1, string, "The selector of the part."),
  },
  { description: "Which part of a collection a list shows." },
);

export const ListMeta: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta",
  {
    selfLink: plain(1, string, "Legacy field that the server no longer fills."),
    resourceVersion: plain(2, string, "Revision of the list; a watch can begin there."),
    continue: plain(3, string, "Token of the next page; empty on the last one."),
    remainingItemCount: pointer(4, int64, "How many objects follow this page; left out with selectors."),
    shardInfo: pointer(5, ref(ShardInfo), "Which part of the collection the list shows."),
  },
  { description: "Metadata of a list." },
);

export const PartialObjectMetadataSchema: MessageSchema = kind(
  "io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata",
  "The metadata of any object.",
  {
    metadata: plain(1, ref(ObjectMeta), "Metadata of the object."),
  },
);

const StatusCause: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause",
  {
    reason: plain(1, string, "One word in CamelCase."),
    message: plain(2, string, "The same for a human reader."),
    field: plain(3, string, "The field that is at fault, for example spec.ports[0].port."),
  },
  { description: "One reason of several for a failure." },
);

const StatusDetails: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails",
  {
    name: plain(1, string, "Name of the object."),
    group: plain(2, string, "Group of the object."),
    kind: plain(3, string, "Kind or resource of the object."),
    uid: plain(6, string, "UID of the object."),
    causes: plain(4, listOf(ref(StatusCause)), "Reasons of the failure."),
    retryAfterSeconds: plain(5, int32, "Seconds after which the request may be tried again."),
  },
  { description: "More about a failure." },
);

export const StatusSchema: MessageSchema = kind(
  "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
  "The answer to a request that does not return an object.",
  {
    metadata: plain(1, ref(ListMeta), "Metadata; empty."),
    status: plain(2, string, "Success or Failure."),
    message: plain(3, string, "What happened, for a human reader."),
    reason: plain(4, string, "The same as one word in CamelCase, for programs."),
    details: pointer(5, ref(StatusDetails), "More about a failure."),
    code: plain(6, int32, "Code of the HTTP answer."),
  },
);

const Preconditions: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions",
  {
    uid: pointer(1, string, "UID that the object must have."),
    resourceVersion: pointer(2, string, "Revision that the object must have."),
  },
  { description: "What must hold of the stored object for the request to be carried out." },
);

export const DeleteOptionsSchema: MessageSchema = kind(
  "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
  "How an object is to be deleted.",
  {
    gracePeriodSeconds: pointer(1, int64, "Seconds that the object may take to end; 0 = at once. Unset = the kind's own number."),
    preconditions: pointer(2, ref(Preconditions), "What must hold of the object; 409 when it does not."),
    orphanDependents: pointer(3, bool, "Deprecated: whether dependents stay. Excludes propagationPolicy."),
    propagationPolicy: pointer(4, string, "What becomes of dependents: Orphan, Background or Foreground."),
    dryRun: plain(5, listOf(string), "All = do everything but store the result."),
    ignoreStoreReadErrorWithClusterBreakingPotential: pointer(6, bool, "Accepted and without effect: this server can read what it stores."),
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

export const LabelSelectorRequirement: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement",
  {
    key: required(1, string, "Key of the label."),
    operator: required(2, string, "In, NotIn, Exists or DoesNotExist."),
    values: plain(3, listOf(string), "Values to compare with: some for In and NotIn, none for the others."),
  },
  { description: "A condition on one label." },
);

export const LabelSelector: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
  {
    matchLabels: plain(1, mapOf(string), "Labels that an object must have with exactly these values."),
    matchExpressions: plain(2, listOf(ref(LabelSelectorRequirement)), "Requirements on labels."),
  },
  { description: "Selects objects by their labels: all parts must match, and an empty selector matches everything.", atomic: true },
);

export const FieldSelectorRequirement: MessageSchema = message(
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement",
  {
    key: required(1, string, "The field."),
    operator: required(2, string, "In, NotIn, Exists or DoesNotExist."),
    values: plain(3, listOf(string), "Values to compare with: some for In and NotIn, none for the others."),
  },
  { description: "A condition on one field." },
);
