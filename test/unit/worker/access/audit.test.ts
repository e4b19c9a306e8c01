import { afterEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import { unauthorized } from "../../../../src/api/meta/status";
import { err } from "../../../../src/core/base/result";
import { ANONYMOUS_CALLER } from "../../../../src/access/identity/user";
import { type Answered, auditedBody, writeAudit } from "../../../../src/worker/access/audit";

const bodies = { AUDIT_POLICY: "writes=Request" } as unknown as Env;

const posted = (text: string, headers: Record<string, string> = { "Content-Length": String(text.length) }): Request =>
  new Request("http://h/api/v1/namespaces/a/services", { method: "POST", body: text, headers });

describe("the body of an audited request", () => {
  it.each<[string, Env, Request, string | undefined]>([
    ["small", bodies, posted("{}"), "{}"],
    ["of 4 KiB", bodies, posted("x".repeat(4_096)), "x".repeat(4_096)],
    ["larger", bodies, posted("x".repeat(4_097)), undefined],
    ["of unknown length", bodies, posted("{}", {}), undefined],
    ["absent", bodies, new Request("http://h/"), undefined],
    ["that the policy does not want", {} as Env, posted("{}"), undefined],
    ["that no log would show", { ...bodies, LOG_LEVEL: "warn" } as Env, posted("{}"), undefined],
  ])("a body that is %s: kept or not", async (_, env, request, kept) => {
    expect(await auditedBody(env, request)).toBe(kept);
  });
});

describe("the record of an audited request", () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each([
    ["is there", () => Promise.resolve('{"a":1}'), { requestObject: '{"a":1}' }],
    ["broke off", () => Promise.reject(new Error("Network connection lost.")), {}],
  ])("its body %s: one line", async (_, body, want) => {
    const lines: string[] = [];
    vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
    vi.spyOn(console, "info").mockImplementation((line: string) => void lines.push(line));
    const request = posted("{}");
    const answered = {
      env: bodies,
      request,
      url: { cluster: "default" },
      response: new Response(null, { status: 401 }),
      admission: {
        asked: resourceAttributes({ verb: "create", resource: "services", namespace: "a" }),
        caller: ANONYMOUS_CALLER,
        access: err(unauthorized()),
      },
      auditId: "one",
      receivedMs: 0,
      body: body(),
    } as unknown as Answered;
    await writeAudit(answered);
    const records = lines.map((line) => (JSON.parse(line) as { record: Record<string, unknown> }).record);
    expect(records).toMatchObject([{ auditID: "one", level: "Request", ...want }]);
    expect("requestObject" in (records[0] ?? {})).toBe("requestObject" in want);
  });
});
