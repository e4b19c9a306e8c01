/** A list as the bytes of an answer, in pieces where it is large, and the headers that go with it. */
import type { Clock } from "../../../core/base/ports";
import { COMPRESSIBLE_CHARS, COMPRESSIBLE_HEADER } from "./collection-header";
import { FrameBuffer } from "../hub/frame-buffer";
import { LIST_BOUNDS, type ListBody, type ListRest, type ListRows } from "./list-page";
import { SOURCE_HEADER } from "./list-source";
import type { JsonListForm, ProtobufListForm } from "../hub/view";

const encoder = new TextEncoder();

export interface ListAnswer {
  readonly headers: Readonly<Record<string, string>>;
  /** the whole body, or its pieces */
  readonly body: string | Uint8Array | ListPieces;
}

/**
 * The answer of a list; to be sent once.
 * @param source where the rows come from (list-source.ts)
 */
export function listAnswer(list: ListBody, source: string, clock: Pick<Clock, "nextTurn">, pieceChars = LIST_BOUNDS.piece): ListAnswer {
  const { form, rest } = list;
  if (rest) return { headers: headersOf(form, source, rest.chars), body: new ListPieces(list, rest, clock, pieceChars) };
  const { rows, encoded } = list.begun;
  if (form.encoding === "json") {
    const chars = rows.reduce((sum, { length }) => sum + length, 0);
    const { head, tail } = form.envelope;
    return { headers: headersOf(form, source, chars), body: head + rows.map((row) => form.row(row)).join(",") + tail };
  }
  const items = form.items(rows, encoded);
  const whole = new FrameBuffer();
  for (const piece of [form.head(items.length), items, form.tail()]) whole.add(piece);
  return { headers: headersOf(form, source, items.length), body: whole.take() };
}

/** @param size characters or bytes of all rows, about */
function headersOf({ encoding }: ListBody["form"], source: string, size: number): Record<string, string> {
  return {
    "Content-Type": encoding === "protobuf" ? "application/vnd.kubernetes.protobuf" : "application/json",
    "Cache-Control": "no-cache, private",
    [SOURCE_HEADER]: source,
    ...(size > COMPRESSIBLE_CHARS && { [COMPRESSIBLE_HEADER]: String(size) }),
  };
}

/** The body of a large list: each piece is read and made when the client takes it. It ends with its last piece, or is broken off. */
export class ListPieces {
  readonly #pieces: AsyncGenerator<Uint8Array, void>;
  readonly #rest: ListRest;
  #isOver = false;

  constructor({ form, begun }: ListBody, rest: ListRest, clock: Pick<Clock, "nextTurn">, pieceChars: number) {
    this.#rest = rest;
    const isOver = (): boolean => this.#isOver;
    this.#pieces = form.encoding === "json" ? jsonPieces(form, begun, rest, pieceChars) : protobufPieces(form, begun, rest, clock, isOver);
  }

  /** The next bytes; undefined = there are no more. Rejects when the rest cannot be given: what was given is not the whole. */
  async next(): Promise<Uint8Array | undefined> {
    try {
      const { value, done } = await this.#pieces.next();
      if (done !== true) return value;
    } catch (error) {
      this.end();
      throw error;
    }
    if (this.#isOver) throw new Error("the list was broken off");
    this.end();
    return undefined;
  }

  /** Calls `broken` when the list is broken off because it took too long. */
  whenLost(broken: (reason: string) => void): void {
    this.#rest.place?.whenLost((reason) => {
      this.end();
      broken(reason);
    });
  }

  /** The client is gone: nobody needs the rest. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#rest.place?.end();
    // What it holds goes with it.
    void this.#pieces.return().catch(() => undefined);
  }
}

async function* jsonPieces(
  { envelope, row }: JsonListForm,
  begun: ListRows,
  rest: ListRest,
  pieceChars: number,
): AsyncGenerator<Uint8Array, void> {
  let text = envelope.head;
  let separator = "";
  for await (const { rows } of allRows(begun, rest)) {
    for (const [i, stored] of rows.entries()) {
      text += separator + row(stored);
      separator = ",";
      rows[i] = "";
      if (text.length < pieceChars) continue;
      yield encoder.encode(text);
      text = "";
    }
  }
  yield encoder.encode(text + envelope.tail);
}

/**
 * The first bytes say how long the list is: all rows are encoded before. As much of them is kept as there is room for, the rest is read and encoded again
 * when the client takes it. Other work of the object gets its turn between the pieces.
 */
async function* protobufPieces(
  form: ProtobufListForm,
  begun: ListRows,
  rest: ListRest,
  clock: Pick<Clock, "nextTurn">,
  isOver: () => boolean,
): AsyncGenerator<Uint8Array, void> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let isKept = true;
  let keptThrough = rest.after;
  for await (const { rows, encoded, keys } of allRows(begun, rest)) {
    if (isOver()) return;
    const piece = form.items(rows, encoded);
    rows.length = 0;
    bytes += piece.length;
    isKept &&= rest.place?.hold(piece.length) ?? true;
    if (isKept) {
      pieces.push(piece);
      keptThrough = keys.at(-1) ?? keptThrough;
    }
    await clock.nextTurn();
  }
  yield form.head(bytes);
  // A sent piece is let go.
  for (let next = pieces.shift(); next; next = pieces.shift()) {
    yield next;
    rest.place?.release(next.length);
  }
  if (!isKept) for await (const { rows, encoded } of rest.behind(keptThrough)) yield form.items(rows, encoded);
  yield form.tail();
}

async function* allRows(begun: ListRows, rest: ListRest): AsyncGenerator<ListRows, void> {
  yield begun;
  yield* rest.behind(begun.keys.at(-1) ?? rest.after);
}
