import { describe, expect, it } from "vitest";
import { resourceAttributes, type ResourceAttributes } from "../../../../src/access/authorization/attributes";
import { type Audited, auditRecord } from "../../../../src/access/audit/audit-record";
import { redactedUri } from "../../../../src/access/audit/redacted-uri";

const PLANTED = "eyJhbGciOiJIUzI1NiJ9.planted-secret.c2ln";

const audited: Audited = {
  auditId: "0b9f",
  level: "Metadata",
  cluster: "blue",
  caller: {
    user: { name: "ann", uid: "7", groups: ["ops"], extra: {} },
    clusters: undefined,
    credential: "token:abc",
  },
  attributes: resourceAttributes({ verb: "create", resource: "services", namespace: "default", name: "web" }),
  requestUri: "/api/v1/namespaces/default/services?fieldManager=kubectl",
  userAgent: "kubectl/v1.36.2",
  sourceIp: "192.0.2.1",
  code: 201,
  receivedMs: 1_700_000_000_000,
  endedMs: 1_700_000_000_012,
  annotations: { "authorization.k8s.io/decision": "allow" },
};

describe("auditRecord", () => {
  it("a create: who, what, outcome and latency, in the form of upstream's Event", () => {
    expect(auditRecord(audited)).toEqual({
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: "Metadata",
      auditID: "0b9f",
      stage: "ResponseComplete",
      requestURI: "/api/v1/namespaces/default/services?fieldManager=kubectl",
      verb: "create",
      user: { username: "ann", uid: "7", groups: ["ops"] },
      sourceIPs: ["192.0.2.1"],
      userAgent: "kubectl/v1.36.2",
      objectRef: { resource: "services", namespace: "default", name: "web", apiVersion: "v1" },
      responseStatus: { metadata: {}, code: 201 },
      requestReceivedTimestamp: "2023-11-14T22:13:20.000Z",
      stageTimestamp: "2023-11-14T22:13:20.012Z",
      annotations: {
        "authorization.k8s.io/decision": "allow",
        "servicenet.dev/cluster": "blue",
        "servicenet.dev/credential": "token:abc",
        "servicenet.dev/latency-ms": "12",
      },
    });
  });

  it("a user who acts as another one: both are named", () => {
    const root = { name: "root", uid: "", groups: [], extra: {} };
    const { user, impersonatedUser } = auditRecord({ ...audited, caller: { ...audited.caller, impersonator: root } });
    expect([user, impersonatedUser?.username]).toEqual([{ username: "root" }, "ann"]);
  });

  it("a refusal of a path: its status, and no object", () => {
    const record = auditRecord({ ...audited, attributes: { kind: "path", verb: "get", path: "/metrics" }, code: 403, reason: "Forbidden" });
    expect([record.responseStatus, record.objectRef]).toEqual([
      { metadata: {}, code: 403, status: "Failure", reason: "Forbidden" },
      undefined,
    ]);
  });

  it.each<[level: "Metadata" | "Request", of: Partial<ResourceAttributes>, over: Partial<Audited>, hasBody: boolean]>([
    ["Metadata", {}, {}, false],
    ["Request", {}, {}, true],
    ["Request", {}, { isConfidential: true }, false],
    ["Request", { resource: "secrets" }, {}, false],
    ["Request", { resource: "configmaps" }, {}, false],
    ["Request", { resource: "tokenreviews", group: "authentication.k8s.io" }, {}, false],
    ["Request", { resource: "serviceaccounts", subresource: "token" }, {}, false],
    ["Request", {}, { attributes: { kind: "path", verb: "post", path: "/check" } }, false],
  ])("body at level %s of %j %j: %j", (level, of, over, hasBody) => {
    const attributes = resourceAttributes({ verb: "create", resource: "services", ...of });
    const record = auditRecord({ ...audited, level, attributes, body: '{"spec":{}}', ...over });
    expect(record.requestObject !== undefined).toBe(hasBody);
  });

  it("a long body, user agent or id: cut", () => {
    const long = "x".repeat(100_000);
    const record = auditRecord({
      ...audited,
      level: "Request",
      body: long,
      userAgent: long,
      auditId: long,
      requestUri: `/${long}?${long}`,
    });
    expect(JSON.stringify(record).length).toBeLessThan(10_000);
  });

  it("a secret in every place where a credential may stand: not in the record", () => {
    const extra = { token: [PLANTED] };
    const record = auditRecord({
      ...audited,
      level: "Request",
      caller: { ...audited.caller, user: { ...audited.caller.user, extra } },
      attributes: resourceAttributes({ verb: "create", resource: "secrets" }),
      requestUri: `/api/v1/x/${PLANTED}?access_token=${PLANTED}&%74oken=${PLANTED}&a=${PLANTED}&${PLANTED}`,
      body: `{"stringData":{"a":"${PLANTED}"}}`,
    });
    expect(JSON.stringify(record)).not.toContain("planted-secret");
  });
});

describe("redactedUri", () => {
  it.each([
    ["/api/v1/services?watch=true&timeout=5s", "/api/v1/services?watch=true&timeout=5s"],
    ["/api?access_token=plain", "/api?access_token=REDACTED"],
    ["/api?Token=plain&x=1", "/api?Token=REDACTED&x=1"],
    ["/api?%61ccess%5Ftoken=plain", "/api?%61ccess%5Ftoken=REDACTED"],
    ["/api?%zz=plain", "/api?%zz=REDACTED"],
    ["/api?token", "/api?REDACTED"],
    ["/api?a=1=2", "/api?a=1=2"],
    ["/api", "/api"],
  ])("%s: %s", (uri, want) => {
    expect(redactedUri(uri)).toBe(want);
  });

  it("tokens one after the other: each is gone", () => {
    expect(redactedUri(`/a?${PLANTED}&${PLANTED}&a=${PLANTED}&b=${PLANTED}`)).toBe("/a?REDACTED&REDACTED&a=REDACTED&b=REDACTED");
  });
});
