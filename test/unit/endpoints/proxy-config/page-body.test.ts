import { describe, expect, it } from "vitest";
import { pageChunks, pageSize } from "../../../../src/endpoints/proxy-config/page-body";
import type { ProxyConfigPage } from "../../../../src/endpoints/proxy-config/proxy-configs";

const encoder = new TextEncoder();
const KIB = 1024;

/** A page of Services, each in pieces of these lengths. */
function aPage(...services: number[][]): ProxyConfigPage {
  const objects = services.map((lengths) => {
    const pieces = lengths.map((length) => "0".repeat(length));
    return pieces.map((digits, i) =>
      encoder.encode(i === 0 ? `"${digits.slice(1)}` : i === pieces.length - 1 ? `${digits.slice(1)}"` : digits),
    );
  });
  return { revision: 1, isFull: true, services: objects, removed: [encoder.encode("1"), encoder.encode("2")] };
}

const textOf = (chunks: readonly Uint8Array[]) => chunks.map((chunk) => new TextDecoder().decode(chunk)).join("");

describe("body of a page", () => {
  it.each([
    [[]],
    [[[3, 2]]],
    [
      [
        [3, 2],
        [9, 9, 9],
      ],
    ],
  ])("Services of %j bytes: one chunk, a JSON object", (...services) => {
    const page = aPage(...(services.flat() as number[][]));
    const chunks = [...pageChunks(page)];
    expect(chunks).toHaveLength(1);
    const body = JSON.parse(textOf(chunks)) as { isFull: boolean; services: string[]; removed: number[] };
    expect(body.services.map((text) => text.length + 2)).toEqual(
      (services.flat() as number[][]).map((lengths) => lengths.reduce((a, b) => a + b)),
    );
    expect([body.isFull, body.removed]).toEqual([true, [1, 2]]);
    expect(pageSize(page)).toBe(chunks[0]?.length);
  });

  it("large pieces: go out as they are, between the joined ones", () => {
    const page = aPage([100, 2], [200 * KIB, 2], [64 * KIB, 64 * KIB], ...Array.from({ length: 100 }, () => [KIB, KIB]));
    const chunks = [...pageChunks(page)];
    expect(chunks).toContain(page.services[1]?.[0]);
    expect(chunks).toContain(page.services[2]?.[0]);
    expect(chunks).toContain(page.services[2]?.[1]);
    const others = chunks.filter((chunk) => !page.services.flat().includes(chunk));
    expect(Math.max(...others.map(({ length }) => length))).toBeLessThan(66 * KIB);
    expect((JSON.parse(textOf(chunks)) as { services: string[] }).services).toHaveLength(103);
    expect(chunks.reduce((sum, { length }) => sum + length, 0)).toBe(pageSize(page));
  });
});
