/**
 * core/v1 Secret (k8s.io/api core/v1, v0.36).
 */
import { ObjectMeta } from "../meta";
import { bool, bytes, kind, mapOf, plain, pointer, ref, string } from "../dsl";
import type { MessageSchema } from "../types";

export const SecretSchema: MessageSchema = kind("io.k8s.api.core.v1.Secret", "Bytes that only few may read. At most 1 MiB.", {
  metadata: plain(1, ref(ObjectMeta), "Metadata of the Secret."),
  immutable: pointer(5, bool, "true = the data never changes again; only metadata can. It cannot be taken back."),
  data: plain(2, mapOf(bytes), "Bytes in base64, by key: letters, digits, '-', '_' and '.'."),
  stringData: plain(4, mapOf(string), "Texts that a write puts into data, over what stands there. No answer shows it.", {
    isTransient: true,
  }),
  type: plain(3, string, "What the data is, for programs: Opaque unless set. It cannot be changed."),
});
