import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { TokensRpc } from "../../../../src/access/authentication/rpc";
import { err } from "../../../../src/core/base/result";
import { tokensResponse } from "../../../../src/worker/system/tokens";
import { fakeEnv } from "../fake-env";

/** What the admin API of tokens answers over an object with these methods. */
async function answer(object: Partial<TokensRpc>, method: string, path: string, body?: object) {
  const { env } = fakeEnv({}, { CREDENTIAL_STORE: { idFromName: (name: string) => name, get: () => object } as never });
  const init = { method, ...(body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }) };
  const response = await tokensResponse(env, new Request(`https://h/admin/tokens${path}`, init), path);
  return { code: response.status, body: (await response.json()) as { reason?: string; message?: string } };
}

describe("tokens", () => {
  beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => undefined));
  afterEach(() => void vi.restoreAllMocks());

  it.each<[string, string, object?]>([
    ["GET", ""],
    ["POST", "", { user: "bob" }],
    ["POST", "/a/rotate", {}],
    ["DELETE", "/a"],
  ])("%s %s while the object does not answer: 503", async (method, path, body) => {
    const lost = () => Promise.reject(new Error("Network connection lost."));
    const object = { listTokens: lost, createToken: lost, rotateToken: lost, revokeToken: lost };
    expect(await answer(object, method, path, body)).toMatchObject({ code: 503, body: { reason: "ServiceUnavailable" } });
  });

  it.each([
    [{ agentNamespaces: "a" }, "agentNamespaces must be a list of names"],
    [{ agentLabels: [1] }, "agentLabels must be a list of KEY or KEY=VALUE"],
  ])("a new token with %j: 400, and none is made", async (body, message) => {
    expect(await answer({}, "POST", "", { user: "bob", ...body })).toMatchObject({ code: 400, body: { message } });
  });

  it("one token more than there may be: 403", async () => {
    const object: Partial<TokensRpc> = { createToken: () => Promise.resolve(err({ reason: "full", max: 3 })) };
    expect(await answer(object, "POST", "", { user: "bob" })).toMatchObject({
      code: 403,
      body: { reason: "Forbidden", message: "tokens is forbidden: exceeded the limit of 3 tokens: revoke those that nobody needs" },
    });
  });

  it("a rotation with a body that is no object: 400, and nothing is rotated", async () => {
    expect(await answer({}, "POST", "/a/rotate", [])).toMatchObject({ code: 400 });
  });
});
