import { describe, expect, it } from "vitest";
import { send } from "../client";
import { fakeEnv } from "../fake-env";

describe("reviews", () => {
  async function review(path: string, body: unknown, headers: Record<string, string> = {}): Promise<{ code: number; body: unknown }> {
    const init = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers } };
    const response = await send(`http://h/apis/${path}`, init, fakeEnv().env);
    return { code: response.status, body: await response.json() };
  }

  it("SelfSubjectReview: anonymous", async () => {
    expect(await review("authentication.k8s.io/v1/selfsubjectreviews", { metadata: { creationTimestamp: null } })).toEqual({
      code: 201,
      body: {
        kind: "SelfSubjectReview",
        apiVersion: "authentication.k8s.io/v1",
        metadata: { creationTimestamp: null },
        status: { userInfo: { username: "system:anonymous", groups: ["system:unauthenticated"] } },
      },
    });
  });

  it("SelfSubjectAccessReview: allowed", async () => {
    const spec = { resourceAttributes: { namespace: "x", verb: "create", resource: "services" } };
    expect(await review("authorization.k8s.io/v1/selfsubjectaccessreviews", { spec })).toMatchObject({
      code: 201,
      body: { spec, status: { allowed: true } },
    });
    expect(await review("authorization.k8s.io/v1/selfsubjectaccessreviews", { spec: {} })).toMatchObject({ code: 422 });
  });

  it("SelfSubjectRulesReview: everything", async () => {
    expect(await review("authorization.k8s.io/v1/selfsubjectrulesreviews", { spec: { namespace: "x" } })).toMatchObject({
      code: 201,
      body: { status: { resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], incomplete: false } },
    });
  });

  it("LocalSubjectAccessReview of another namespace: refused", async () => {
    const spec = { user: "bob", resourceAttributes: { namespace: "x", verb: "get", resource: "pods" } };
    expect(await review("authorization.k8s.io/v1/namespaces/x/localsubjectaccessreviews", { spec })).toMatchObject({ code: 201 });
    expect(await review("authorization.k8s.io/v1/namespaces/y/localsubjectaccessreviews", { spec })).toMatchObject({ code: 400 });
  });

  it("TokenReview: never valid", async () => {
    expect(await review("authentication.k8s.io/v1/tokenreviews", { spec: { token: "t" } })).toMatchObject({
      code: 201,
      body: { status: { authenticated: false } },
    });
  });

  it("an Accept of Tables alone: 406", async () => {
    const accept = { Accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    expect(await review("authentication.k8s.io/v1/selfsubjectreviews", {}, accept)).toMatchObject({ code: 406 });
  });
});
