import { describe, expect, it } from "vitest";
import { parseDuration } from "../../../../../src/worker/http/read/duration";

describe("parseDuration", () => {
  it.each([
    { text: "32s", ms: 32_000 },
    { text: "1m30s", ms: 90_000 },
    { text: "1.5h", ms: 5_400_000 },
    { text: "250ms", ms: 250 },
    { text: "0", ms: 0 },
    { text: "-1s", ms: -1000 },
    { text: ".5s", ms: 500 },
  ])("$text: $ms ms", ({ text, ms }) => {
    expect(parseDuration(text)).toEqual({ ok: true, ms });
  });

  it.each([
    { text: "invalid", message: 'time: invalid duration "invalid"' },
    { text: "30", message: 'time: missing unit in duration "30"' },
    { text: "30y", message: 'time: unknown unit "y" in duration "30y"' },
    { text: "s", message: 'time: invalid duration "s"' },
    { text: "-", message: 'time: invalid duration "-"' },
  ])("$text: refused in Go's words", ({ text, message }) => {
    expect(parseDuration(text)).toEqual({ ok: false, message });
  });
});
