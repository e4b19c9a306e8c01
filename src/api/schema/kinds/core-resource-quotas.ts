/**
 * core/v1 ResourceQuota (k8s.io/api core/v1, v0.36).
 */
import { ObjectMeta } from "../meta";
import { enumOf, kind, listOf, mapOf, message, plain, pointer, quantity, ref, required, string } from "../dsl";
import type { MessageSchema } from "../types";

const SCOPE = enumOf(
  "BestEffort",
  "CrossNamespacePodAffinity",
  "NotBestEffort",
  "NotTerminating",
  "PriorityClass",
  "Terminating",
  "VolumeAttributesClass",
);

const ScopedResourceSelectorRequirement: MessageSchema = message(
  "io.k8s.api.core.v1.ScopedResourceSelectorRequirement",
  {
    scopeName: required(1, SCOPE, "Scope that is looked at."),
    operator: required(2, enumOf("DoesNotExist", "Exists", "In", "NotIn"), "In, NotIn, Exists or DoesNotExist."),
    values: plain(3, listOf(string, { listType: "atomic" }), "Values of the scope, for In and NotIn."),
  },
  { description: "A condition on the scope of an object." },
);

const ScopeSelector: MessageSchema = message(
  "io.k8s.api.core.v1.ScopeSelector",
  {
    matchExpressions: plain(1, listOf(ref(ScopedResourceSelectorRequirement), { listType: "atomic" }), "All of them must hold."),
  },
  { description: "Which objects a quota counts, by their scopes.", atomic: true },
);

const ResourceQuotaSpec: MessageSchema = message(
  "io.k8s.api.core.v1.ResourceQuotaSpec",
  {
    hard: plain(1, mapOf(quantity), "Limits, by resource: count/configmaps, services.nodeports, …"),
    scopes: plain(2, listOf(SCOPE, { listType: "atomic" }), "Scopes that an object must have to be counted; unset = any."),
    scopeSelector: pointer(3, ref(ScopeSelector), "The same, with values."),
  },
  { description: "What a namespace may hold." },
);

const ResourceQuotaStatus: MessageSchema = message(
  "io.k8s.api.core.v1.ResourceQuotaStatus",
  {
    hard: plain(1, mapOf(quantity), "Limits that are in force, by resource."),
    used: plain(2, mapOf(quantity), "What the namespace holds, by resource."),
  },
  { description: "What a namespace holds." },
);

export const ResourceQuotaSchema: MessageSchema = kind("io.k8s.api.core.v1.ResourceQuota", "Limits of what a namespace may hold.", {
  metadata: plain(1, ref(ObjectMeta), "Metadata of the ResourceQuota."),
  spec: plain(2, ref(ResourceQuotaSpec), "The limits."),
  status: plain(3, ref(ResourceQuotaStatus), "The limits in force, and what is used."),
});
