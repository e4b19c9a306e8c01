import { beforeEach, describe, expect, it } from "vitest";
import { ReleasedTokens } from "../../../../src/addresses/alloc/released-tokens";
import { RELEASED_TOKEN_LIFETIME_MS, RELEASED_TOKENS_MAX } from "../../../../src/addresses/rpc/limits";
import { MemoryOwnerStorage } from "../../../support/memory/owner-storage";

let storage: MemoryOwnerStorage;
let tokens: ReleasedTokens;
beforeEach(() => {
  storage = new MemoryOwnerStorage();
  tokens = new ReleasedTokens(storage);
});

/** A drain that remembers tokens; answers how many rows it wrote. */
function drain(nowMs: number, ...added: string[]): number {
  const { writes } = storage;
  for (const token of added) tokens.add(token);
  tokens.save(nowMs);
  return storage.writes - writes;
}

const named = (name: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${name}-${String(i)}`);
const lists = (): number[] => storage.releasedLists().map((list) => list.tokens.length);

describe("ReleasedTokens", () => {
  it("a drain: one row, however many tokens it has, and none without tokens", () => {
    expect([drain(0), drain(0, "a"), drain(1, ...named("b", 40)), drain(2, ...named("c", 500))]).toEqual([0, 1, 1, 1]);
    expect(lists()).toEqual([41, 500]);
  });

  it("a token: remembered at once, after a restart and for 15 minutes, and no longer once its list is over", () => {
    tokens.add("a");
    expect([tokens.has("a", 0), tokens.has("b", 0)]).toEqual([true, false]);
    tokens.save(0);
    tokens = new ReleasedTokens(storage);
    expect([RELEASED_TOKEN_LIFETIME_MS - 1, RELEASED_TOKEN_LIFETIME_MS].map((now) => tokens.has("a", now))).toEqual([true, false]);
    expect(drain(RELEASED_TOKEN_LIFETIME_MS, "b"), "one list goes, one comes").toBe(2);
    expect([tokens.has("a", 0), lists()]).toEqual([false, [1]]);
  });

  it("a repeat: prolongs it, also when its first list goes", () => {
    drain(0, "a", ...named("b", 99));
    drain(1_000, "a");
    drain(RELEASED_TOKEN_LIFETIME_MS + 1, "c");
    expect(tokens.has("a", RELEASED_TOKEN_LIFETIME_MS + 2)).toBe(true);
    expect(tokens.has("b-1", 0)).toBe(false);
  });

  it("a lasting burst: the oldest tokens are forgotten, and rows stay few", () => {
    const rows = Array.from({ length: 220 }, (_, i) => drain(i, ...named(String(i), 500)));
    expect(Math.max(...rows)).toBe(2);
    const remembered = lists().reduce((sum, length) => sum + length, 0);
    expect(remembered).toBeLessThanOrEqual(RELEASED_TOKENS_MAX);
    expect(remembered).toBeGreaterThan(RELEASED_TOKENS_MAX - 501);
    expect([tokens.has("0-0", 0), tokens.has("219-0", 0)]).toEqual([false, true]);
  });

  it("a clock that is set back: a list keeps its later end", () => {
    drain(5_000, "a");
    drain(0, "b");
    expect(tokens.has("b", RELEASED_TOKEN_LIFETIME_MS + 4_999)).toBe(true);
  });

  it("clear: forgets all, on disk too", () => {
    drain(0, "a");
    tokens.clear();
    expect([tokens.has("a", 0), lists()]).toEqual([false, []]);
  });
});
