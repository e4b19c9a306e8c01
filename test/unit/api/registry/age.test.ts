import { describe, expect, it } from "vitest";
import { ageSince, humanDuration } from "../../../../src/api/registry/age";

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;

describe("humanDuration", () => {
  it.each([
    [0, "0s"],
    [-500, "0s"],
    [-1500, "0s"],
    [-5 * S, "<invalid>"],
    [119 * S + 999, "119s"],
    [120 * S, "2m"],
    [2 * M + 5 * S, "2m5s"],
    [9 * M + 59 * S, "9m59s"],
    [10 * M + 59 * S, "10m"],
    [179 * M, "179m"],
    [3 * H, "3h"],
    [3 * H + 7 * M, "3h7m"],
    [8 * H + 59 * M, "8h"],
    [47 * H, "47h"],
    [48 * H, "2d"],
    [2 * D + 5 * H, "2d5h"],
    [8 * D + 5 * H, "8d"],
    [729 * D, "729d"],
    [730 * D, "2y"],
    [2 * 365 * D + 30 * D, "2y30d"],
    [9 * 365 * D + 30 * D, "9y"],
  ])("%d ms is %s", (ms, want) => {
    expect(humanDuration(ms)).toBe(want);
  });
});

describe("ageSince", () => {
  it("a time: its distance from now", () => {
    expect(ageSince("2026-01-02T03:04:05Z", Date.UTC(2026, 0, 2, 3, 5, 5))).toBe("60s");
    expect(ageSince("2026-01-02T03:04:05.000000Z", Date.UTC(2026, 0, 2, 3, 5, 5))).toBe("60s");
  });

  it.each([undefined, null, "", "yesterday"])("%j: <unknown>", (text) => {
    expect(ageSince(text, 0)).toBe("<unknown>");
  });
});
