import { expect, it } from "vitest";
import type { ListBody, ListRows } from "../../../../../src/api/store/list/list-page";
import { listAnswer, ListPieces } from "../../../../../src/api/store/list/list-pieces";
import { StreamedLists } from "../../../../../src/api/store/list/streamed-lists";
import { HistoryLost } from "../../../../../src/api/store/state/snapshot";

type Encoding = ListBody["form"]["encoding"];

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text) as Uint8Array<ArrayBuffer>;
const decoder = new TextDecoder();
const ROW = "x".repeat(1_000);
const HELD = 1_000;
const PAGE = 250;

const keyOf = (i: number) => `k${String(i).padStart(5, "0")}`;
const items = (count: number) => Array.from({ length: count }, (_, i) => `${i}${ROW}`);

/** A list of `count` rows of a kilobyte: its first thousand are held, the others come in pages. `read` has the first row of each page that was read. */
class AList {
  readonly read: number[] = [];
  readonly list: ListBody;

  constructor(encoding: Encoding, count: number, place?: StreamedLists) {
    const page = (from: number, to: number): ListRows => {
      const of = Array.from({ length: to - from }, (_, i) => from + i);
      return { rows: of.map((i) => `${i}${ROW}`), keys: of.map(keyOf), revisions: of };
    };
    const { read } = this;
    async function* behind(key: string): AsyncGenerator<ListRows, void> {
      for (let from = key === "" ? 0 : Number(key.slice(1)) + 1; from < count; from += PAGE) {
        read.push(from);
        yield await Promise.resolve(page(from, Math.min(count, from + PAGE)));
      }
    }
    const begun = page(0, Math.min(HELD, count));
    const form: ListBody["form"] =
      encoding === "json"
        ? { encoding, envelope: { head: "[", tail: "]" }, row: (stored) => stored }
        : {
            encoding,
            items: (rows) => bytesOf(rows.map((row) => `${row};`).join("")),
            head: (bytes) => bytesOf(`${bytes}:`),
            tail: () => bytesOf("end"),
          };
    const its = place?.begin();
    const rest = { chars: count * 1_000, after: "", behind, isThere: () => true, ...(its && { place: its }) };
    this.list = { form, begun, ...(count > HELD && { rest }) };
  }

  answer(nextTurn = () => Promise.resolve()): ReturnType<typeof listAnswer> {
    return listAnswer(this.list, "owner", { nextTurn }, 256 * 1024);
  }

  pieces(nextTurn?: () => Promise<void>): ListPieces {
    const { body } = this.answer(nextTurn);
    if (body instanceof ListPieces) return body;
    throw new Error("the list is one body");
  }
}

async function textsOf(pieces: ListPieces): Promise<string[]> {
  const texts: string[] = [];
  for (let next = await pieces.next(); next; next = await pieces.next()) texts.push(decoder.decode(next));
  return texts;
}

function protobufText(count: number): string {
  const text = items(count)
    .map((row) => `${row};`)
    .join("");
  return `${text.length}:${text}end`;
}

const aClock = () => {
  const clock = { now: () => clock.at, at: 0 };
  return clock;
};

it.each([0, 1, 100, 1_000])("a list of %i rows of a kilobyte: one body", (count) => {
  expect(new AList("json", count).answer().body).toBe(`[${items(count).join(",")}]`);
  expect(decoder.decode(new AList("protobuf", count).answer().body as Uint8Array)).toBe(protobufText(count));
});

it("a list of two megabytes: comes in pieces, each page of it is read when its turn comes", async () => {
  const json = new AList("json", 2_000);
  const pieces = json.pieces();
  const first = await pieces.next();
  expect(json.read, "the first piece is of the rows that are held").toEqual([]);
  const texts = [decoder.decode(first), ...(await textsOf(pieces))];
  expect([texts.join(""), texts.length, json.read]).toEqual([`[${items(2_000).join(",")}]`, 8, [1_000, 1_250, 1_500, 1_750]]);
  expect(json.list.begun.rows.filter(Boolean)).toEqual([]);
});

it("in protobuf: its pages are read before its first byte, in a turn each, and once", async () => {
  let turns = 0;
  const list = new AList("protobuf", 2_000, new StreamedLists(aClock(), 0));
  const texts = await textsOf(list.pieces(() => Promise.resolve(void turns++)));
  expect([texts.join(""), turns, list.read]).toEqual([protobufText(2_000), 5, [1_000, 1_250, 1_500, 1_750]]);
});

it.each([
  ["nothing", 0, [1_000, 1_250, 1_500, 1_750, 0, 250, 500, 750, 1_000, 1_250, 1_500, 1_750]],
  ["the beginning", 1_300_000, [1_000, 1_250, 1_500, 1_750, 1_250, 1_500, 1_750]],
] as const)("in protobuf, with room for %s: the same bytes, what found no room is read again", async (_, room, read) => {
  const lists = new StreamedLists(aClock(), 0, room);
  const list = new AList("protobuf", 2_000, lists);
  expect((await textsOf(list.pieces())).join("")).toBe(protobufText(2_000));
  expect(list.read).toEqual(read);
  // What the list has held is there for the next one.
  expect(lists.begin()?.hold(room)).toBe(true);
});

it("a client that leaves: no further row is encoded, and the place is free", async () => {
  const lists = new StreamedLists(aClock(), 1);
  const list = new AList("protobuf", 2_000, lists);
  let turns = 0;
  const pieces: ListPieces = list.pieces(async () => {
    if (++turns === 2) pieces.end();
    await Promise.resolve();
  });
  await expect(pieces.next()).rejects.toThrow("broken off");
  expect([turns, list.read, lists.size]).toEqual([2, [1_000, 1_250], 0]);
});

it("a page that cannot be read: the list is broken off, and its place is free", async () => {
  const lists = new StreamedLists(aClock(), 1);
  const { list } = new AList("json", 2_000, lists);
  async function* behind(): AsyncGenerator<ListRows, void> {
    yield await Promise.resolve({ rows: [ROW], keys: [keyOf(1_000)], revisions: [1] });
    throw new HistoryLost(7);
  }
  const rest = list.rest && { ...list.rest, behind };
  const pieces = listAnswer({ ...list, ...(rest && { rest }) }, "owner", { nextTurn: () => Promise.resolve() }).body as ListPieces;
  await expect(textsOf(pieces)).rejects.toThrow(HistoryLost);
  expect(lists.size).toBe(0);
});

it("too many lists: the next one finds no place; the one that began first loses its own after a minute, however much its client takes", async () => {
  const clock = aClock();
  const lists = new StreamedLists(clock, 2);
  const slow = new AList("json", 2_000, lists).pieces();
  clock.at = 1;
  const next = new AList("json", 2_000, lists).pieces();
  const broken: string[] = [];
  slow.whenLost((reason) => broken.push(`slow: ${reason}`));
  next.whenLost((reason) => broken.push(`next: ${reason}`));
  clock.at = 59_999;
  await slow.next();
  expect(lists.begin()).toBeUndefined();
  clock.at = 60_000;
  expect(lists.begin()).toBeDefined();
  expect(broken).toEqual(["slow: the list took too long, and another one waits"]);
  await expect(slow.next()).rejects.toThrow("broken off");
  expect(lists.begin(), "the next one has a millisecond left").toBeUndefined();
  expect((await textsOf(next)).at(-1)).toMatch(/x\]$/);
  expect(lists.size).toBe(1);
});

it("a list that has ended: gives its place back once", () => {
  const lists = new StreamedLists(aClock(), 1);
  const first = lists.begin();
  first?.end();
  expect(lists.begin()).toBeDefined();
  first?.end();
  expect([lists.size, lists.begin(), first?.hold(1)]).toEqual([1, undefined, false]);
});

it.each([
  ["json", 100, undefined],
  ["json", 200, "200490"],
  ["json", 2_000, "2000000"],
  ["protobuf", 200, "200690"],
] as const)("headers of %s, %i rows: type, source, and what there is to compress", (encoding, count, compressible) => {
  expect(new AList(encoding, count).answer().headers).toEqual({
    "Content-Type": encoding === "json" ? "application/json" : "application/vnd.kubernetes.protobuf",
    "Cache-Control": "no-cache, private",
    "Servicenet-Source": "owner",
    ...(compressible && { "x-servicenet-compressible": compressible }),
  });
});
