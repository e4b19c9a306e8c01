import { listAnswer } from "../../../src/api/store/list/list-pieces";
import { LIST_BOUNDS, type ListBody } from "../../../src/api/store/list/list-page";
import { concatenated, readProtobuf } from "./protobuf-answers";

const LATER = { nextTurn: () => Promise.resolve() };

/** The list that a body holds whole, as a client reads it. */
export function readList(list: ListBody): Record<string, unknown> {
  const { body } = listAnswer(list, "owner", LATER);
  if (typeof body === "string") return JSON.parse(body) as Record<string, unknown>;
  if (body instanceof Uint8Array) return readProtobuf(body);
  throw new Error("the list comes in pieces");
}

interface Reading {
  /** after each piece */
  between?(): Promise<void>;
  /** waits for a piece */
  waited?<T>(piece: Promise<T>): Promise<T>;
  pieceChars?: number;
}

/** The same of a list that may come in pieces. Rejects when it is broken off. */
export async function readStreamedList(list: ListBody, reading: Reading = {}): Promise<Record<string, unknown>> {
  const { between, waited = (piece) => piece, pieceChars = LIST_BOUNDS.piece } = reading;
  const { body } = listAnswer(list, "owner", LATER, pieceChars);
  if (typeof body === "string" || body instanceof Uint8Array) return readList(list);
  const pieces: Uint8Array[] = [];
  for (let piece = await waited(body.next()); piece; piece = await waited(body.next())) {
    pieces.push(piece);
    await between?.();
  }
  const bytes = concatenated(pieces);
  return list.form.encoding === "protobuf" ? readProtobuf(bytes) : (JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>);
}
