/** The admin API of tokens, on the real object. */
import { env } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { bearerTokens } from "../../../durable-objects/peers/peers";
import { parseToken } from "../../../src/access/authentication/bearer-token";
import { tokensResponse } from "../../../src/worker/system/tokens";
import { wipedAtRest } from "../../support/runtime/at-rest";

const bindings = env as unknown as Env;

// All tests of a runtime share this one object.
beforeAll(wipedAtRest);

interface Answered {
  code: number;
  text: string;
  body: { id: string; token?: string; state: string; message?: string; items?: { id: string }[] } & Record<string, unknown>;
}

async function send(method: string, path: string, body?: unknown): Promise<Answered> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const init = body === undefined ? { method } : { method, body: text, headers: { "Content-Type": "application/json" } };
  const response = await tokensResponse(bindings, new Request(`https://h/admin/tokens${path}`, init), path);
  const answer = await response.text();
  return { code: response.status, text: answer, body: (answer.startsWith("{") ? JSON.parse(answer) : {}) as Answered["body"] };
}

async function judged(token = ""): Promise<string> {
  const { id = "", secret = "" } = parseToken(token) ?? {};
  const verified = await bearerTokens(bindings).verifyToken(id, secret);
  return verified.ok ? "good" : verified.error;
}

describe("the admin API of tokens", () => {
  it("a token from its beginning to its end: each answer says its state, and only two have a text", async () => {
    const asked = { user: "alice", groups: ["dev"], clusters: ["team"], expiresAt: "2999-01-02T03:04:05Z", description: "laptop" };
    const made = await send("POST", "", asked);
    expect([made.code, made.body.kind, made.body.apiVersion, made.body.state]).toEqual([201, "Token", "servicenet.dev/v1", "good"]);
    expect(made.body).toMatchObject(asked);
    expect(await judged(made.body.token)).toBe("good");

    const listed = await send("GET", "");
    expect(listed.code).toBe(200);
    expect(listed.body.items).toEqual([expect.objectContaining({ id: made.body.id, user: "alice" })]);
    expect(listed.text).not.toContain("sn_");

    const rotated = await send("POST", `/${made.body.id}/rotate`, { graceSeconds: 60 });
    expect([rotated.code, await judged(rotated.body.token), await judged(made.body.token)]).toEqual([200, "good", "good"]);
    const again = await send("POST", `/${made.body.id}/rotate`);
    expect([await judged(again.body.token), await judged(rotated.body.token)]).toEqual(["good", "unknown"]);

    const revoked = await send("DELETE", `/${made.body.id}`);
    expect([revoked.code, revoked.body.state, revoked.body.token, await judged(again.body.token)]).toEqual([
      200,
      "revoked",
      undefined,
      "revoked",
    ]);
    const late = await send("POST", `/${made.body.id}/rotate`);
    expect([late.code, late.body.message]).toEqual([
      409,
      `Operation cannot be fulfilled on tokens "${made.body.id}": the token is revoked: make another one`,
    ]);
  });

  it.each<[what: string, body: unknown, code: number, message: string]>([
    ["no body", undefined, 422, 'Token "" is invalid: user: Required value'],
    ["no JSON", "{", 400, "the body is no JSON"],
    ["a list", "[]", 400, "the body is no JSON object"],
    ["a field of another spelling", { user: "a", cluster: "b" }, 400, 'strict decoding error: unknown field "cluster"'],
    ["a user that is a number", { user: 1 }, 400, "user and description must be texts"],
    ["groups that are a text", { user: "a", groups: "b" }, 400, "groups must be a list of texts"],
    ["clusters of another type", { user: "a", clusters: [1] }, 400, "clusters must be a list of names"],
    ["an end that is no time", { user: "a", expiresAt: "soon" }, 400, "expiresAt must be a time"],
    ["an end in the past", { user: "a", expiresAt: "2001-01-01T00:00:00Z" }, 422, "must be in the future"],
    ["the anonymous user", { user: "system:anonymous" }, 422, "no token of this server stands for this name"],
  ])("a creation with %s: is refused", async (_, body, code, message) => {
    const refused = await send("POST", "", body);
    expect([refused.code, refused.body.kind]).toEqual([code, "Status"]);
    expect(refused.body.message).toContain(message);
  });

  it.each([
    ["DELETE", `/${"0".repeat(20)}`, 404],
    ["POST", `/${"0".repeat(20)}/rotate`, 404],
    ["PUT", "", 405],
    ["GET", `/${"0".repeat(20)}`, 405],
    ["GET", `/${"0".repeat(20)}/rotate`, 405],
    ["POST", "/x/revoke", 404],
    ["POST", "/x/rotate/y", 404],
    ["GET", "//", 404],
  ])("%s %s: is %d", async (method, path, code) => {
    expect((await send(method, path)).code).toBe(code);
  });

  it.each([-1, 1.5, "60"])("a grace of %j seconds: is refused", async (graceSeconds) => {
    expect((await send("POST", `/${"0".repeat(20)}/rotate`, { graceSeconds })).code).toBe(400);
  });

  it.each(["application/x-www-form-urlencoded", "text/plain", "application/yaml"])(
    "a body that says it is %s: 415, and no token",
    async (type) => {
      const init = { method: "POST", body: '{"user":"alice"}', headers: { "Content-Type": type } };
      expect((await tokensResponse(bindings, new Request("https://h/admin/tokens", init), "")).status).toBe(415);
      expect((await send("GET", "")).body.items).toEqual([]);
    },
  );
});
