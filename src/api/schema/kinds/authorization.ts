/**
 * authorization.k8s.io/v1: access reviews; created and answered, never stored (k8s.io/api authorization/v1, v0.36).
 */
import { FieldSelectorRequirement, LabelSelectorRequirement, ObjectMeta } from "../meta";
import { bool, kind, listOf, mapOf, message, plain, pointer, ref, required, string } from "../dsl";
import type { MessageSchema } from "../types";

const FieldSelectorAttributes: MessageSchema = message(
  "io.k8s.api.authorization.v1.FieldSelectorAttributes",
  {
    rawSelector: plain(1, string, "The selector as text; excludes requirements."),
    requirements: plain(2, listOf(ref(FieldSelectorRequirement)), "The selector as conditions that all hold."),
  },
  { description: "The field selector of a request." },
);

const LabelSelectorAttributes: MessageSchema = message(
  "io.k8s.api.authorization.v1.LabelSelectorAttributes",
  {
    rawSelector: plain(1, string, "The selector as text; excludes requirements."),
    requirements: plain(2, listOf(ref(LabelSelectorRequirement)), "The selector as conditions that all hold."),
  },
  { description: "The label selector of a request." },
);

const ResourceAttributes: MessageSchema = message(
  "io.k8s.api.authorization.v1.ResourceAttributes",
  {
    namespace: plain(1, string, "Namespace of the objects; empty = all, or none for cluster-scoped kinds."),
    verb: plain(2, string, "What is to be done: get, list, watch, create, update, patch, delete, …; * = everything."),
    group: plain(3, string, "Group of the resource; * = every group."),
    version: plain(4, string, "Version of the group; * = every version."),
    resource: plain(5, string, "The resource; * = every one."),
    subresource: plain(6, string, "Subresource, when one is meant."),
    name: plain(7, string, "Name of the object; empty = all."),
    fieldSelector: pointer(8, ref(FieldSelectorAttributes), "Field selector that narrows the request."),
    labelSelector: pointer(9, ref(LabelSelectorAttributes), "Label selector that narrows the request."),
  },
  { description: "What is to be done with which objects." },
);

const NonResourceAttributes: MessageSchema = message(
  "io.k8s.api.authorization.v1.NonResourceAttributes",
  {
    path: plain(1, string, "Path of the URL."),
    verb: plain(2, string, "Method of the request in lower case."),
  },
  { description: "What is to be done with which path." },
);

const SelfSubjectAccessReviewSpec: MessageSchema = message(
  "io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec",
  {
    resourceAttributes: pointer(1, ref(ResourceAttributes), "A request for objects."),
    nonResourceAttributes: pointer(2, ref(NonResourceAttributes), "A request for a path."),
  },
  { description: "What the sender wants to do; exactly one member is set." },
);

const SubjectAccessReviewStatus: MessageSchema = message(
  "io.k8s.api.authorization.v1.SubjectAccessReviewStatus",
  {
    allowed: required(1, bool, "Whether the request would be let through."),
    denied: plain(4, bool, "Whether it would be refused whatever others say."),
    reason: plain(2, string, "Why, for a human reader."),
    evaluationError: plain(3, string, "What went wrong while it was decided."),
  },
  { description: "Whether it is allowed." },
);

export const SelfSubjectAccessReviewSchema: MessageSchema = kind(
  "io.k8s.api.authorization.v1.SelfSubjectAccessReview",
  "Asks whether the caller may do something.",
  {
    metadata: plain(1, ref(ObjectMeta), "Metadata; not stored."),
    spec: required(2, ref(SelfSubjectAccessReviewSpec), "What the sender wants to do."),
    status: plain(3, ref(SubjectAccessReviewStatus), "The answer; filled by the server."),
  },
);

const SelfSubjectRulesReviewSpec: MessageSchema = message(
  "io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec",
  {
    namespace: plain(1, string, "The namespace."),
  },
  { description: "Where the sender's rules are asked for." },
);

const ResourceRule: MessageSchema = message(
  "io.k8s.api.authorization.v1.ResourceRule",
  {
    verbs: required(1, listOf(string), "What may be done; * = everything."),
    apiGroups: plain(2, listOf(string), "Groups of the resources; * = every group."),
    resources: plain(3, listOf(string), "The resources; * = every one."),
    resourceNames: plain(4, listOf(string), "Names of the objects; empty = all."),
  },
  { description: "What may be done with which objects." },
);

const NonResourceRule: MessageSchema = message(
  "io.k8s.api.authorization.v1.NonResourceRule",
  {
    verbs: required(1, listOf(string), "Methods in lower case; * = every one."),
    nonResourceURLs: plain(2, listOf(string), "The paths; a * at the end stands for the rest."),
  },
  { description: "What may be done with which paths." },
);

const SubjectRulesReviewStatus: MessageSchema = message(
  "io.k8s.api.authorization.v1.SubjectRulesReviewStatus",
  {
    resourceRules: required(1, listOf(ref(ResourceRule)), "What may be done with objects."),
    nonResourceRules: required(2, listOf(ref(NonResourceRule)), "What may be done with paths."),
    incomplete: required(3, bool, "Whether rules may be missing from the lists."),
    evaluationError: plain(4, string, "What went wrong while they were made."),
  },
  { description: "What a user may do." },
);

export const SelfSubjectRulesReviewSchema: MessageSchema = kind(
  "io.k8s.api.authorization.v1.SelfSubjectRulesReview",
  "Asks what the caller may do in a namespace.",
  {
    metadata: plain(1, ref(ObjectMeta), "Metadata; not stored."),
    spec: required(2, ref(SelfSubjectRulesReviewSpec), "Where the rules are asked for."),
    status: plain(3, ref(SubjectRulesReviewStatus), "The answer; filled by the server."),
  },
);

const SubjectAccessReviewSpec: MessageSchema = message(
  "io.k8s.api.authorization.v1.SubjectAccessReviewSpec",
  {
    resourceAttributes: pointer(1, ref(ResourceAttributes), "A request for objects."),
    nonResourceAttributes: pointer(2, ref(NonResourceAttributes), "A request for a path."),
    user: plain(3, string, "Name of the user."),
    groups: plain(4, listOf(string), "Groups of the user."),
    extra: plain(5, mapOf(listOf(string)), "More facts about the user."),
    uid: plain(6, string, "Identifier of the user."),
  },
  { description: "Who wants to do what; exactly one of the two kinds of attributes is set." },
);

export const SubjectAccessReviewSchema: MessageSchema = kind(
  "io.k8s.api.authorization.v1.SubjectAccessReview",
  "Asks whether a user may do something.",
  {
    metadata: plain(1, ref(ObjectMeta), "Metadata; not stored."),
    spec: required(2, ref(SubjectAccessReviewSpec), "Who wants to do what."),
    status: plain(3, ref(SubjectAccessReviewStatus), "The answer; filled by the server."),
  },
);

export const LocalSubjectAccessReviewSchema: MessageSchema = kind(
  "io.k8s.api.authorization.v1.LocalSubjectAccessReview",
  "Asks whether a user may do something in a namespace.",
  {
    metadata: plain(1, ref(ObjectMeta), "Metadata; not stored."),
    spec: required(2, ref(SubjectAccessReviewSpec), "Who wants to do what in the namespace."),
    status: plain(3, ref(SubjectAccessReviewStatus), "The answer; filled by the server."),
  },
);
