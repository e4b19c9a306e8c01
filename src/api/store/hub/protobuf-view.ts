/** The view of a client that reads protobuf: whole objects, or their metadata alone. Rows are stored as JSON and encoded when they are shown. */
import { encodeBase64Bytes } from "../../../core/encoding/base64";
import { parseJson } from "../../../core/encoding/exact-json";
import { bookmarkMetadata, type EventType, INITIAL_EVENTS_BLUEPRINT } from "../../meta/watch-event";
import type { KubeObject } from "../../meta/kubernetes";
import type { Status } from "../../meta/status";
import { apiVersionOf } from "../../meta/type-meta";
import type { ResourceDefinition } from "../../registry/resource";
import type { AnswerForm } from "../../rpc/store";
import type { UncheckedObject } from "../../schema/json/json-value";
import { encodeListHead, encodeListItems, encodeListTail, encodeWatchFrame } from "../../schema/protobuf/encode-protobuf";
import { PartialObjectMetadataSchema, StatusSchema } from "../../schema/meta";
import type { MessageSchema, TypeMeta } from "../../schema/types";
import type { View } from "./view";

/** Tables have no protobuf form. */
export type ProtobufRepresentation = Exclude<AnswerForm, { as: "table" }>;

/** As for `viewOf`. */
export function protobufViewOf(definition: ResourceDefinition, version: string, representation: ProtobufRepresentation): View {
  const { typeMeta, schema } = formOf(definition, version, representation);
  const listType: TypeMeta = { ...typeMeta, kind: `${typeMeta.kind}List` };
  const convert = definition.representationOf?.fromStored;
  const shown = (stored: string): UncheckedObject => {
    const object = parseJson(stored) as UncheckedObject;
    return convert ? { ...convert(object as KubeObject) } : object;
  };
  const frame = (type: EventType, object: UncheckedObject): Uint8Array<ArrayBuffer> => encodeWatchFrame(type, object, schema, typeMeta);
  return {
    id: `protobuf/${typeMeta.apiVersion}/${typeMeta.kind}`,
    list: (meta) => ({
      encoding: "protobuf",
      items: (stored, encoded) => encodeListItems(stored.length, (i) => shown(stored[i] ?? ""), schema, encoded),
      head: (bytes) => encodeListHead({ ...meta }, listType, bytes),
      tail: encodeListTail,
    }),
    event: (type, stored) => frame(type, shown(stored)),
    bookmark: (revision, initialEventsEnd) => {
      const metadata = bookmarkMetadata(String(revision), initialEventsEnd);
      if (metadata.annotations) metadata.annotations[INITIAL_EVENTS_BLUEPRINT] = blueprintOf(listType);
      return frame("BOOKMARK", { metadata });
    },
  };
}

/** The kind and schema in which objects of a resource are shown. */
export function formOf(
  { group, kind, schema }: Pick<ResourceDefinition, "group" | "kind" | "schema">,
  version: string,
  representation: ProtobufRepresentation,
): { typeMeta: TypeMeta; schema: MessageSchema } {
  if (representation.as === "object") return { typeMeta: { apiVersion: apiVersionOf(group, version), kind }, schema };
  const typeMeta = { apiVersion: apiVersionOf("meta.k8s.io", representation.version), kind: "PartialObjectMetadata" };
  return { typeMeta, schema: PartialObjectMetadataSchema };
}

/** An empty list of the kind, from which clients that list through a watch learn the type of the list. */
function blueprintOf(listType: TypeMeta): string {
  return encodeBase64Bytes(Uint8Array.of(...encodeListHead({}, listType, 0), ...encodeListTail()));
}

/** The last frame of a failed watch. */
export function protobufErrorFrame(status: Status): Uint8Array<ArrayBuffer> {
  return encodeWatchFrame("ERROR", { ...status }, StatusSchema, { apiVersion: status.apiVersion, kind: status.kind });
}
