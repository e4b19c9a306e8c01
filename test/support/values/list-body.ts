import type { ListBody } from "../../../src/api/store/list/list-page";
import { concatenated, readProtobuf } from "./protobuf-answers";

/** The list that a body holds, as a client reads it. */
export function readList(body: ListBody): Record<string, unknown> {
  if (body.encoding === "json") return JSON.parse(body.envelope.head + body.rows.join(",") + body.envelope.tail) as Record<string, unknown>;
  const items = body.items(body.rows);
  return readProtobuf(concatenated([body.head(items.length), items, body.tail()]));
}
