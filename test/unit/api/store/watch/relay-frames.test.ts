import { describe, expect, it } from "vitest";
import { readRelayAnswer, readRelayFrame, relayAnswer, relayFrame } from "../../../../../src/api/store/watch/relay-frames";

describe("frames", () => {
  it.each(["start", "through", "live", "last"] as const)("%s: is read as it was made", (kind) => {
    for (const revision of [0, 1, Number.MAX_SAFE_INTEGER]) {
      for (const bytes of [new Uint8Array(), Uint8Array.of(0, 10, 255)]) {
        expect(readRelayFrame(relayFrame({ kind, revision, bytes }).buffer)).toEqual({ kind, revision, bytes });
      }
    }
  });

  it("anything else: is none", () => {
    for (const data of ["text", undefined, new ArrayBuffer(0), new ArrayBuffer(8), Uint8Array.of(4, 0, 0, 0, 0, 0, 0, 0, 0).buffer]) {
      expect(readRelayFrame(data)).toBeUndefined();
    }
  });
});

describe("answers", () => {
  it("a number of bytes: is read as it was made; anything else is none", () => {
    for (const taken of [0, 1, 1e14]) expect(readRelayAnswer(relayAnswer(taken))).toBe(taken);
    for (const data of ["", "-1", "1.5", "1e3", "x", "9".repeat(16), new ArrayBuffer(1)]) expect(readRelayAnswer(data)).toBeUndefined();
  });
});
