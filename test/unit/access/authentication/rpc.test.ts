import { describe, expect, it } from "vitest";
import { type TokensRpc, verifyTokensOf } from "../../../../src/access/authentication/rpc";
import { err } from "../../../../src/core/base/result";

const TOKENS = ["a", "b"].map((id) => ({ id, secret: `secret of ${id}` }));
const UNKNOWN = TOKENS.map(() => err("unknown" as const));

/** Stubs of an object whose `verifyTokens` rejects with `error`; `calls` = the method of each call. */
function stubs(error?: Error): { object: () => Pick<TokensRpc, "verifyToken" | "verifyTokens">; calls: string[] } {
  const calls: string[] = [];
  const object = () => ({
    verifyToken: (id: string) => (calls.push(`verifyToken ${id}`), Promise.resolve(err("unknown" as const))),
    verifyTokens: () => {
      calls.push("verifyTokens");
      return error ? Promise.reject(error) : Promise.resolve(UNKNOWN);
    },
  });
  return { object, calls };
}

const missing = (method: string): Error => new TypeError(`The RPC receiver does not implement the method "${method}".`);

describe("tokens of one call", () => {
  it("an object that checks them together: one call", async () => {
    const { object, calls } = stubs();
    expect(await verifyTokensOf(object, TOKENS)).toEqual(UNKNOWN);
    expect(calls).toEqual(["verifyTokens"]);
  });

  it("an object of a release without that call: each is checked for itself", async () => {
    const { object, calls } = stubs(missing("verifyTokens"));
    expect(await verifyTokensOf(object, TOKENS)).toEqual(UNKNOWN);
    expect(calls).toEqual(["verifyTokens", "verifyToken a", "verifyToken b"]);
  });

  it.each([new Error("Network connection lost."), missing("listTokens")])("%s: rejects, and no token is checked again", async (error) => {
    const { object, calls } = stubs(error);
    await expect(verifyTokensOf(object, TOKENS)).rejects.toBe(error);
    expect(calls).toEqual(["verifyTokens"]);
  });
});
