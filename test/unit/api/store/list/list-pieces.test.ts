import { expect, it } from "vitest";
import type { ListBody } from "../../../../../src/api/store/list/list-page";
import { listAnswer } from "../../../../../src/api/store/list/list-pieces";

const bytesOf = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
const decoder = new TextDecoder();
const ROW = "x".repeat(1_000);

function aList(encoding: ListBody["encoding"], count: number): ListBody {
  const rows = Array.from({ length: count }, (_, i) => `${i}${ROW}`);
  if (encoding === "json") return { encoding, keys: [], envelope: { head: "[", tail: "]" }, rows };
  return {
    encoding,
    keys: [],
    rows,
    items: (some) => bytesOf(some.map((row) => `${row};`).join("")),
    head: (bytes) => bytesOf(`${bytes}:`),
    tail: () => bytesOf("end"),
  };
}

/** What an answer of the list has: its body in pieces, its headers, how many turns it left to others, and which rows are still held. */
async function answered(list: ListBody, isGone = (_turns: number) => false) {
  let turns = 0;
  const clock = { nextTurn: () => Promise.resolve(void turns++) };
  const { headers, body } = listAnswer(list, "owner", clock, () => isGone(turns));
  const pieces: string[] = [];
  if (typeof body === "string") pieces.push(body);
  else if (body instanceof Uint8Array) pieces.push(decoder.decode(body));
  else for await (const piece of body) pieces.push(decoder.decode(piece));
  return { headers, pieces, turns, held: list.rows.filter(Boolean).length };
}

const items = (count: number) => Array.from({ length: count }, (_, i) => `${i}${ROW}`);

it.each([0, 1, 100, 1_000])("a list of %i rows of a kilobyte: one body", async (count) => {
  const json = await answered(aList("json", count));
  expect(json.pieces).toEqual([`[${items(count).join(",")}]`]);
  const text = items(count)
    .map((row) => `${row};`)
    .join("");
  expect((await answered(aList("protobuf", count))).pieces).toEqual([`${text.length}:${text}end`]);
});

it("a list of two megabytes: comes in pieces, and its rows go with them", async () => {
  const json = await answered(aList("json", 2_000));
  expect([json.pieces.join(""), json.pieces.length, json.held]).toEqual([`[${items(2_000).join(",")}]`, 8, 0]);
  const text = items(2_000)
    .map((row) => `${row};`)
    .join("");
  const protobuf = await answered(aList("protobuf", 2_000));
  expect([protobuf.pieces.join(""), protobuf.turns, protobuf.held]).toEqual([`${text.length}:${text}end`, 8, 0]);
});

it("a client that leaves: no further row is encoded", async () => {
  const { turns, held } = await answered(aList("protobuf", 2_000), (after) => after === 2);
  expect(turns).toBe(2);
  expect(held).toBeGreaterThan(1_000);
});

it.each([
  ["json", 100, undefined],
  ["json", 200, "200490"],
  ["protobuf", 200, "200690"],
] as const)("headers of %s, %i rows: type, source, and what there is to compress", async (encoding, count, compressible) => {
  const { headers } = await answered(aList(encoding, count));
  expect(headers).toEqual({
    "Content-Type": encoding === "json" ? "application/json" : "application/vnd.kubernetes.protobuf",
    "Cache-Control": "no-cache, private",
    "Servicenet-Source": "owner",
    ...(compressible && { "x-servicenet-compressible": compressible }),
  });
});
