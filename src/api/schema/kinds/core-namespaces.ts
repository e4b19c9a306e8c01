/**
 * core/v1 Namespace (k8s.io/api core/v1, v0.36).
 */
import { ObjectMeta } from "../meta";
import { enumOf, keyedListOf, kind, listOf, message, plain, ref, required, string, time } from "../dsl";
import type { MessageSchema } from "../types";

const NamespaceSpec: MessageSchema = message(
  "io.k8s.api.core.v1.NamespaceSpec",
  {
    finalizers: plain(1, listOf(string), "Names that must be gone before the Namespace is removed."),
  },
  { description: "What is wanted of a Namespace." },
);

const NamespaceCondition: MessageSchema = message(
  "io.k8s.api.core.v1.NamespaceCondition",
  {
    type: required(1, string, "What the condition speaks of, for example NamespaceContentRemaining."),
    status: required(2, string, "Whether it holds: True, False or Unknown."),
    lastTransitionTime: plain(4, time, "When the status last changed."),
    reason: plain(5, string, "One word in CamelCase for why it changed."),
    message: plain(6, string, "The same for a human reader."),
  },
  { description: "One aspect of how the deletion of a namespace goes." },
);

const NamespaceStatus: MessageSchema = message(
  "io.k8s.api.core.v1.NamespaceStatus",
  {
    phase: plain(1, enumOf("Active", "Terminating"), "Active, or Terminating while its content is being deleted."),
    conditions: plain(2, keyedListOf(NamespaceCondition, "type"), "Conditions of the deletion."),
  },
  { description: "Where a Namespace is in its life." },
);

export const NamespaceSchema: MessageSchema = kind("io.k8s.api.core.v1.Namespace", "A scope for names.", {
  metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
  spec: plain(2, ref(NamespaceSpec), "What is wanted of the Namespace."),
  status: plain(3, ref(NamespaceStatus), "Where the Namespace is in its life."),
});
