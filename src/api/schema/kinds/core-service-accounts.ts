/**
 * core/v1 ServiceAccount (k8s.io/api core/v1, v0.36).
 */
import { LocalObjectReference, ObjectReference } from "./core-references";
import { ObjectMeta } from "../meta";
import { bool, keyedListOf, kind, listOf, plain, pointer, ref } from "../dsl";
import type { MessageSchema } from "../types";

export const ServiceAccountSchema: MessageSchema = kind(
  "io.k8s.api.core.v1.ServiceAccount",
  "A name by which programs in Pods are known.",
  {
    metadata: plain(1, ref(ObjectMeta), "Metadata of the ServiceAccount."),
    secrets: plain(2, keyedListOf(ObjectReference, "name"), "Secrets that Pods of this account may use."),
    imagePullSecrets: plain(3, listOf(ref(LocalObjectReference)), "Secrets with which the images of its Pods are pulled."),
    automountServiceAccountToken: pointer(4, bool, "Whether its Pods get a token by default; a Pod may say otherwise."),
  },
);
