/**
 * One description per API message. Decoding (unknown and duplicate fields), protobuf request bodies, OpenAPI v3,
 * strategic-merge keys and server-side apply all read it, so each field is described once.
 */

/** How a message field behaves when absent or zero in a protobuf body. Go's encoder writes zero values of plain fields. */
export type Presence =
  /** plain Go field with omitempty: a zero value is dropped from JSON */
  | "plain"
  /** Go pointer: kept whenever present, zero included */
  | "pointer"
  /** plain Go field without omitempty: always in JSON */
  | "always";

export type FieldType =
  | { kind: "string"; format?: string; enum?: readonly string[] }
  | { kind: "int32" }
  | { kind: "int64" }
  | { kind: "bool" }
  /** Go's []byte: padded base64 in JSON, in its one normal form */
  | { kind: "bytes" }
  /** metav1.Time: RFC 3339 in JSON, whole seconds */
  | { kind: "time" }
  /** metav1.MicroTime: RFC 3339 with six digits */
  | { kind: "microTime" }
  | { kind: "intOrString" }
  | { kind: "quantity" }
  /** FieldsV1: any JSON object, JSON bytes in protobuf */
  | { kind: "fieldsV1" }
  | { kind: "message"; message: () => MessageSchema }
  | { kind: "list"; of: FieldType; list?: ListSemantics }
  | { kind: "map"; of: FieldType; atomic?: boolean };

export interface ListSemantics {
  /** strategic merge: the merge key, or "set" for a set of primitives */
  mergeKey?: string;
  retainKeys?: boolean;
  /** server-side apply: keys of an associative list; "set"; absent = atomic */
  listType?: "map" | "set" | "atomic";
  listMapKeys?: readonly string[];
}

export interface Field {
  /** JSON name */
  name: string;
  /** protobuf field number; 0 = never on the wire in protobuf */
  number: number;
  type: FieldType;
  presence: Presence;
  /** OpenAPI "required" */
  required?: boolean;
  default?: unknown;
  description?: string;
  /** no object keeps it: it counts for itself in the size of a document */
  isTransient?: boolean;
  /** protobuf only: the nested message's fields stand inline in JSON (Volume.volumeSource) */
  inline?: boolean;
}

export interface MessageSchema {
  /** OpenAPI component name, for example `io.k8s.api.core.v1.ServiceSpec`. */
  name: string;
  description?: string;
  fields: readonly Field[];
  /** JSON member name -> field, built once: the own fields and, in place of an inline field, the fields of its message */
  byName: ReadonlyMap<string, Field>;
  /** protobuf field number -> field (inline fields stand here themselves) */
  byNumber: ReadonlyMap<number, Field>;
  /** scalars that stand in JSON even when nobody set them, with their zero value */
  zeros: readonly (readonly [name: string, zero: unknown])[];
  /** members that every stored value has besides, and the fewest characters that their values take */
  stored: readonly (readonly [name: string, characters: number])[];
  /** the message also carries kind and apiVersion (API kinds and their lists); they are never among `fields` */
  isKind?: boolean;
  /** server-side apply treats the whole message as one leaf (`x-kubernetes-map-type: atomic`) */
  atomic?: boolean;
}

/** The two members that name a type; "" when the document has none. */
export interface TypeMeta {
  apiVersion: string;
  kind: string;
}

/**
 * Why a document is not a value of its schema. `cause` is upstream's text after `cannot be handled as a Service: `;
 * `typeMeta` is what could be read of the document's kind and apiVersion.
 */
export interface DecodeError {
  /** "size": 413, and `cause` is the whole message */
  reason: "syntax" | "type" | "limit" | "size";
  cause: string;
  typeMeta: TypeMeta;
}
