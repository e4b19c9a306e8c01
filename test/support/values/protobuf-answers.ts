/** Answers of the server as clients that ask for protobuf read them: each becomes the JSON that it stands for. */
import { apiVersionOf } from "../../../src/api/meta/type-meta";
import { definitions } from "../../../src/api/registry/all";
import { decodeProtobuf } from "../../../src/api/schema/protobuf/decode-protobuf";
import { kind, listOf, message, plain, ref } from "../../../src/api/schema/dsl";
import { ListMeta, PartialObjectMetadataSchema, StatusSchema } from "../../../src/api/schema/meta";
import type { MessageSchema } from "../../../src/api/schema/types";
import { REVIEWS } from "../../../src/worker/routing/review-kinds";
import { readMessage } from "./wire-message";

export const PROTOBUF = "application/vnd.kubernetes.protobuf";

type JsonObject = Record<string, unknown>;

export interface ProtobufEvent {
  type: string;
  object: JsonObject;
}

const ANYTHING = message("t.Anything", {});
const NONE = new Uint8Array();
const utf8 = new TextDecoder();

function schemaOf(apiVersion: string, name: string): MessageSchema {
  if (name === "Status") return StatusSchema;
  if (name === "PartialObjectMetadata") return PartialObjectMetadataSchema;
  const found = [...definitions, ...REVIEWS.map((review) => ({ ...review, versions: [review.version] }))].find(
    ({ group, versions, kind: known }) => known === name && versions.some((version) => apiVersionOf(group, version) === apiVersion),
  );
  if (found) return found.schema;
  if (!name.endsWith("List")) throw new Error(`no schema of ${apiVersion} ${name}`);
  const item = schemaOf(apiVersion, name.slice(0, -"List".length));
  return kind(`${item.name}List`, "", { metadata: plain(1, ref(ListMeta)), items: plain(2, listOf(ref(item))) });
}

/** An object, a list or a Status in its envelope. Throws on anything else. */
export function readProtobuf(body: Uint8Array): JsonObject {
  const any = decodeProtobuf(body, ANYTHING);
  if (!any.ok) throw new Error(any.error.cause);
  const { apiVersion, kind: name } = any.value.typeMeta;
  const decoded = decodeProtobuf(body, schemaOf(apiVersion, name));
  if (!decoded.ok) throw new Error(decoded.error.cause);
  return { kind: name, apiVersion, ...(name.endsWith("List") ? { items: [] } : {}), ...(decoded.value.value as JsonObject) };
}

/** The event of a frame, without the length that stands before it. */
export function readEvent(event: Uint8Array): ProtobufEvent {
  const parts = readMessage(event);
  const [object = NONE] = readMessage(parts.bytes(2)[0] ?? NONE).bytes(1);
  return { type: utf8.decode(parts.bytes(1)[0]), object: readProtobuf(object) };
}

/** The events of whole frames, and the bytes behind the last whole one. */
export function readFrames(bytes: Uint8Array): { events: ProtobufEvent[]; rest: Uint8Array } {
  const events: ProtobufEvent[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at + 4 <= bytes.length) {
    const end = at + 4 + view.getUint32(at);
    if (end > bytes.length) break;
    events.push(readEvent(bytes.subarray(at + 4, end)));
    at = end;
  }
  return { events, rest: bytes.subarray(at) };
}

export function concatenated(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The body of an answer, whatever the form that the server chose. */
export async function readAnswer(response: Response): Promise<unknown> {
  if (response.headers.get("Content-Type") !== PROTOBUF) return response.json();
  return readProtobuf(new Uint8Array(await response.arrayBuffer()));
}
