/**
 * core/v1 Binding: puts a Pod on a node (k8s.io/api core/v1, v0.36).
 */
import { ObjectReference } from "./core-references";
import { ObjectMeta } from "../meta";
import { kind, plain, ref, required } from "../dsl";
import type { MessageSchema } from "../types";

export const BindingSchema: MessageSchema = kind("io.k8s.api.core.v1.Binding", "Puts a Pod on a node.", {
  metadata: plain(1, ref(ObjectMeta), "The name is that of the Pod; labels and annotations are added to those of the Pod."),
  target: required(2, ref(ObjectReference), "The node."),
});
