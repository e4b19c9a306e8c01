import { describe, expect, it } from "vitest";
import { isWritten, LOG_LEVELS, parseLogLevel } from "../../../../src/core/base/log-level";

describe("LOG_LEVEL", () => {
  it.each([
    [undefined, "info"],
    [" ", "info"],
    ["DEBUG", "debug"],
    ["error", "error"],
    ["loud", undefined],
  ])("%j: the least level that is written is %s", (text, level) => {
    expect(parseLogLevel(text)).toBe(level);
  });

  it.each([
    ["debug", ["debug", "info", "warn", "error"]],
    ["", ["info", "warn", "error"]],
    ["loud", ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
  ])("%j: writes the events of %j", (text, levels) => {
    expect(LOG_LEVELS.filter((level) => isWritten(level, text))).toEqual(levels);
  });
});
