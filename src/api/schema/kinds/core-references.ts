/**
 * core/v1: the references that several kinds share (k8s.io/api core/v1, v0.36).
 */
import { enumOf, listOf, message, plain, pointer, ref, required, string } from "../dsl";
import type { MessageSchema } from "../types";

export const ObjectReference: MessageSchema = message(
  "io.k8s.api.core.v1.ObjectReference",
  {
    kind: plain(1, string, "Kind of the object."),
    namespace: plain(2, string, "Namespace of the object."),
    name: plain(3, string, "Name of the object."),
    uid: plain(4, string, "UID of the object."),
    apiVersion: plain(5, string, "API version of the object."),
    resourceVersion: plain(6, string, "Revision of the object that is meant."),
    fieldPath: plain(7, string, "Part of the object that is meant."),
  },
  { description: "Names another object.", atomic: true },
);

export const LocalObjectReference: MessageSchema = message(
  "io.k8s.api.core.v1.LocalObjectReference",
  {
    name: plain(1, string, "Name of the object.", { default: "" }),
  },
  { description: "Names an object in the same namespace.", atomic: true },
);

export const TypedLocalObjectReference: MessageSchema = message(
  "io.k8s.api.core.v1.TypedLocalObjectReference",
  {
    apiGroup: pointer(1, string, "Group of the kind; unset = core."),
    kind: required(2, string, "Kind of the object."),
    name: required(3, string, "Name of the object."),
  },
  { description: "Names an object of any kind in the same namespace.", atomic: true },
);

const NodeSelectorRequirement: MessageSchema = message(
  "io.k8s.api.core.v1.NodeSelectorRequirement",
  {
    key: required(1, string, "Key of the label."),
    operator: required(2, enumOf("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"), "In, NotIn, Exists, DoesNotExist, Gt or Lt."),
    values: plain(3, listOf(string), "Values to compare with: none for Exists and DoesNotExist, one for Gt and Lt."),
  },
  { description: "A condition on one label or field of a node." },
);

export const NodeSelectorTerm: MessageSchema = message(
  "io.k8s.api.core.v1.NodeSelectorTerm",
  {
    matchExpressions: plain(1, listOf(ref(NodeSelectorRequirement)), "Conditions on labels."),
    matchFields: plain(2, listOf(ref(NodeSelectorRequirement)), "Conditions on fields."),
  },
  { description: "Conditions that must all hold; a term without any selects nothing.", atomic: true },
);

export const NodeSelector: MessageSchema = message(
  "io.k8s.api.core.v1.NodeSelector",
  {
    nodeSelectorTerms: required(1, listOf(ref(NodeSelectorTerm)), "Terms of which one must hold."),
  },
  { description: "Selects nodes.", atomic: true },
);
