/**
 * core/v1 ConfigMap (k8s.io/api core/v1, v0.36).
 */
import { ObjectMeta } from "../meta";
import { bool, bytes, kind, mapOf, plain, pointer, ref, string } from "../dsl";
import type { MessageSchema } from "../types";

export const ConfigMapSchema: MessageSchema = kind("io.k8s.api.core.v1.ConfigMap", "Configuration that programs read.", {
  metadata: plain(1, ref(ObjectMeta), "Metadata of the ConfigMap."),
  immutable: pointer(4, bool, "true = the data never changes again; only metadata can. It cannot be taken back."),
  data: plain(2, mapOf(string), "Texts, by key: letters, digits, '-', '_' and '.'. A key of binaryData cannot be one of data."),
  binaryData: plain(3, mapOf(bytes), "Bytes in base64, by key."),
});
