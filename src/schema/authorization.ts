/**
 * authorization.k8s.io/v1: access reviews, created and answered but never stored (k8s.io/api authorization/v1, v0.36).
 */
import { FieldSelectorRequirement, LabelSelectorRequirement, ObjectMeta } from "./meta";
import { bool, kind, listOf, mapOf, message, plain, pointer, ref, required, string } from "./dsl";
import type { MessageSchema } from "./types";

const FieldSelectorAttributes: MessageSchema = message("io.k8s.api.authorization.v1.FieldSelectorAttributes", {
  rawSelector: plain(1, string),
  requirements: plain(2, listOf(ref(FieldSelectorRequirement))),
});

const LabelSelectorAttributes: MessageSchema = message("io.k8s.api.authorization.v1.LabelSelectorAttributes", {
  rawSelector: plain(1, string),
  requirements: plain(2, listOf(ref(LabelSelectorRequirement))),
});

const ResourceAttributes: MessageSchema = message("io.k8s.api.authorization.v1.ResourceAttributes", {
  namespace: plain(1, string),
  verb: plain(2, string),
  group: plain(3, string),
  version: plain(4, string),
  resource: plain(5, string),
  subresource: plain(6, string),
  name: plain(7, string),
  fieldSelector: pointer(8, ref(FieldSelectorAttributes)),
  labelSelector: pointer(9, ref(LabelSelectorAttributes)),
});

const NonResourceAttributes: MessageSchema = message("io.k8s.api.authorization.v1.NonResourceAttributes", {
  path: plain(1, string),
  verb: plain(2, string),
});

const SelfSubjectAccessReviewSpec: MessageSchema = message("io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec", {
  resourceAttributes: pointer(1, ref(ResourceAttributes)),
  nonResourceAttributes: pointer(2, ref(NonResourceAttributes)),
});

const SubjectAccessReviewStatus: MessageSchema = message("io.k8s.api.authorization.v1.SubjectAccessReviewStatus", {
  allowed: required(1, bool),
  denied: plain(4, bool),
  reason: plain(2, string),
  evaluationError: plain(3, string),
});

export const SelfSubjectAccessReviewSchema: MessageSchema = kind(
  "io.k8s.api.authorization.v1.SelfSubjectAccessReview",
  "Asks whether the caller may do something.",
  {
    metadata: plain(1, ref(ObjectMeta)),
    spec: required(2, ref(SelfSubjectAccessReviewSpec)),
    status: plain(3, ref(SubjectAccessReviewStatus)),
  },
);

const SelfSubjectRulesReviewSpec: MessageSchema = message("io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec", {
  namespace: plain(1, string),
});

const ResourceRule: MessageSchema = message("io.k8s.api.authorization.v1.ResourceRule", {
  verbs: required(1, listOf(string)),
  apiGroups: plain(2, listOf(string)),
  resources: plain(3, listOf(string)),
  resourceNames: plain(4, listOf(string)),
});

const NonResourceRule: MessageSchema = message("io.k8s.api.authorization.v1.NonResourceRule", {
  verbs: required(1, listOf(string)),
  nonResourceURLs: plain(2, listOf(string)),
});

const SubjectRulesReviewStatus: MessageSchema = message("io.k8s.api.authorization.v1.SubjectRulesReviewStatus", {
  resourceRules: required(1, listOf(ref(ResourceRule))),
  nonResourceRules: required(2, listOf(ref(NonResourceRule))),
  incomplete: required(3, bool),
  evaluationError: plain(4, string),
});

export const SelfSubjectRulesReviewSchema: MessageSchema = kind(
  "io.k8s.api.authorization.v1.SelfSubjectRulesReview",
  "Asks what the caller may do in a namespace.",
  {
    metadata: plain(1, ref(ObjectMeta)),
    spec: required(2, ref(SelfSubjectRulesReviewSpec)),
    status: plain(3, ref(SubjectRulesReviewStatus)),
  },
);

const SubjectAccessReviewSpec: MessageSchema = message("io.k8s.api.authorization.v1.SubjectAccessReviewSpec", {
  resourceAttributes: pointer(1, ref(ResourceAttributes)),
  nonResourceAttributes: pointer(2, ref(NonResourceAttributes)),
  user: plain(3, string),
  groups: plain(4, listOf(string)),
  extra: plain(5, mapOf(listOf(string))),
  uid: plain(6, string),
});

export const SubjectAccessReviewSchema: MessageSchema = kind(
  "io.k8s.api.authorization.v1.SubjectAccessReview",
  "Asks whether a user may do something.",
  {
    metadata: plain(1, ref(ObjectMeta)),
    spec: required(2, ref(SubjectAccessReviewSpec)),
    status: plain(3, ref(SubjectAccessReviewStatus)),
  },
);

export const LocalSubjectAccessReviewSchema: MessageSchema = kind(
  "io.k8s.api.authorization.v1.LocalSubjectAccessReview",
  "Asks whether a user may do something in a namespace.",
  {
    metadata: plain(1, ref(ObjectMeta)),
    spec: required(2, ref(SubjectAccessReviewSpec)),
    status: plain(3, ref(SubjectAccessReviewStatus)),
  },
);
