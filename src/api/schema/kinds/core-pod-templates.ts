/**
 * core/v1 PodTemplate (k8s.io/api core/v1, v0.36).
 */
import { PodSpec } from "./core-pods";
import { ObjectMeta } from "../meta";
import { kind, message, plain, ref } from "../dsl";
import type { MessageSchema } from "../types";

const PodTemplateSpec: MessageSchema = message(
  "io.k8s.api.core.v1.PodTemplateSpec",
  {
    metadata: plain(1, ref(ObjectMeta), "Metadata of the Pods."),
    spec: plain(2, ref(PodSpec), "What the Pods are to be."),
  },
  { description: "A Pod that is still to be created." },
);

export const PodTemplateSchema: MessageSchema = kind("io.k8s.api.core.v1.PodTemplate", "A kept description of Pods.", {
  metadata: plain(1, ref(ObjectMeta), "Metadata of the PodTemplate."),
  template: plain(2, ref(PodTemplateSpec), "The Pods."),
});
