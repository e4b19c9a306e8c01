/**
 * policy/v1 Eviction: asks for a Pod to leave its node (k8s.io/api policy/v1, v0.36).
 */
import { DeleteOptionsSchema, ObjectMeta } from "../meta";
import { kind, plain, pointer, ref } from "../dsl";
import type { MessageSchema } from "../types";

export const EvictionSchema: MessageSchema = kind("io.k8s.api.policy.v1.Eviction", "Asks for a Pod to leave its node.", {
  metadata: plain(1, ref(ObjectMeta), "The name and namespace are those of the Pod."),
  deleteOptions: pointer(2, ref(DeleteOptionsSchema), "How the Pod is to be deleted."),
});
