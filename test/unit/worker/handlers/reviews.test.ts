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
        metadata: { creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string },
        status: { userInfo: { username: "system:anonymous", groups: ["system:unauthenticated"] } },
      },
    });
  });

  it("a review of more than 64 KiB: 413, whatever it asks", async () => {
    const spec = (length: number) => ({ spec: { user: "u".repeat(length), resourceAttributes: { verb: "get", resource: "pods" } } });
    expect(await review("authorization.k8s.io/v1/subjectaccessreviews", spec(60_000))).toMatchObject({ code: 201 });
    for (const path of [
      ...["selfsubjectreviews", "tokenreviews"].map((name) => `authentication.k8s.io/v1/${name}`),
      ...["selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews", "namespaces/x/localsubjectaccessreviews"].map(
        (name) => `authorization.k8s.io/v1/${name}`,
      ),
    ]) {
      const message = "Request entity too large: limit is 65536";
      expect(await review(path, spec(65_536)), path).toMatchObject({ code: 413, body: { reason: "RequestEntityTooLarge", message } });
    }
  });

  it("SelfSubjectAccessReview: allowed", async () => {
    const spec = { resourceAttributes: { namespace: "x", verb: "create", resource: "services" } };
    expect(await review("authorization.k8s.io/v1/selfsubjectaccessreviews", { spec })).toMatchObject({
      code: 201,
      body: { spec, status: { allowed: true } },
    });
  });

  it("SelfSubjectRulesReview: everything", async () => {
    expect(await review("authorization.k8s.io/v1/selfsubjectrulesreviews", { spec: { namespace: "x" } })).toMatchObject({
      code: 201,
      body: {
        metadata: {},
        spec: {},
        status: { resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], incomplete: false },
      },
    });
  });

  it("LocalSubjectAccessReview: has the namespace of the URL", async () => {
    const spec = { user: "bob", resourceAttributes: { namespace: "x", verb: "get", resource: "pods" } };
    const path = "authorization.k8s.io/v1/namespaces/x/localsubjectaccessreviews";
    expect(await review(path, { spec })).toMatchObject({ code: 201, body: { metadata: { namespace: "x" }, spec } });
    expect(await review(path, { metadata: { namespace: "y" }, spec })).toMatchObject({
      code: 400,
      body: { message: "the namespace of the provided object does not match the namespace sent on the request" },
    });
  });

  // The texts are of pkg/apis/authorization/validation in a tree of 1.36.2.
  const self = "selfsubjectaccessreviews";
  const subject = "subjectaccessreviews";
  const local = "namespaces/x/localsubjectaccessreviews";
  const user = "bob";
  const pods = { verb: "get", resource: "pods" };
  const oneOf =
    "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified";
  const named = 'spec.user: Invalid value: "": at least one of user or group must be specified';
  it.each<[string, string, unknown, string]>([
    ["nothing asked", self, { spec: {} }, oneOf],
    ["nothing asked and nobody named", subject, { spec: {} }, `[${oneOf}, ${named}]`],
    ["nobody named", subject, { spec: { resourceAttributes: pods } }, named],
    [
      "both attributes",
      self,
      { spec: { resourceAttributes: pods, nonResourceAttributes: { path: "/" } } },
      'spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: cannot be specified in combination with resourceAttributes',
    ],
    [
      "a name",
      self,
      { metadata: { name: "a" }, spec: { resourceAttributes: pods } },
      'metadata: Invalid value: {"name":"a"}: must be empty',
    ],
    [
      "another namespace than the URL's",
      local,
      { spec: { user, resourceAttributes: { ...pods, namespace: "y" } } },
      'spec.resourceAttributes.namespace: Invalid value: "y": must match metadata.namespace',
    ],
    [
      "a path in a namespace",
      local,
      { spec: { user, nonResourceAttributes: { path: "/", verb: "get" } } },
      'spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: disallowed on this kind of request',
    ],
    [
      "an empty selector",
      self,
      { spec: { resourceAttributes: { ...pods, fieldSelector: {} } } },
      "spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required",
    ],
    [
      "a selector without values",
      self,
      { spec: { resourceAttributes: { ...pods, labelSelector: { requirements: [{ key: "a", operator: "In" }] } } } },
      "spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
    [
      "too many groups",
      subject,
      { spec: { user, groups: Array.from({ length: 1_001 }, (_, i) => `g${String(i)}`), resourceAttributes: pods } },
      "spec.groups: Too many: 1001: must have at most 1000 items",
    ],
    [
      "too many values of extra",
      local,
      {
        spec: {
          user,
          extra: { none: [], some: Array.from({ length: 1_000 }, () => "x") },
          resourceAttributes: { ...pods, namespace: "x" },
        },
      },
      "spec.extra: Too many: 1001: must have at most 1000 items",
    ],
  ])("an access review with %s: 422 in upstream's words, without a kind", async (_, path, body, message) => {
    expect(await review(`authorization.k8s.io/v1/${path}`, body)).toMatchObject({
      code: 422,
      body: { message: `.authorization.k8s.io "" is invalid: ${message}`, details: { group: "authorization.k8s.io" } },
    });
  });

  it("reviews that lack what they ask about: 400", async () => {
    expect(await review("authorization.k8s.io/v1/selfsubjectrulesreviews", { spec: {} })).toMatchObject({
      code: 400,
      body: { message: "no namespace on request" },
    });
    expect(await review("authentication.k8s.io/v1/tokenreviews", { spec: {} })).toMatchObject({
      code: 400,
      body: { message: "token is required for TokenReview in authentication" },
    });
  });

  it("TokenReview: never valid", async () => {
    expect(await review("authentication.k8s.io/v1/tokenreviews", { spec: { token: "t" } })).toMatchObject({
      code: 201,
      body: { spec: { token: "t" }, status: { user: {}, error: "this server issues and accepts no tokens" } },
    });
  });

  it("an Accept of Tables alone: 406", async () => {
    const accept = { Accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    expect(await review("authentication.k8s.io/v1/selfsubjectreviews", {}, accept)).toMatchObject({ code: 406 });
  });
});
