import { describe, expect, it } from "vitest";
import { nodeHealthQuestion } from "../../../../src/proxy-health/rules/health-question";

describe("question for the health of a node", () => {
  it.each([
    ["/nodes/n1/healthz", { node: "n1", path: "/healthz" }],
    ["/nodes/n%2F1/livez", { node: "n%2F1", path: "/livez" }],
    ["/nodes/services/services/services/services", { node: "services", namespace: "services", service: "services" }],
    ["/nodes/targets/healthz", { node: "targets", path: "/healthz" }],
    ["/nodes/targets", undefined],
    ["/nodes/n1", undefined],
    ["/nodes//healthz", undefined],
    ["/nodes/n1/healthz/", undefined],
    ["/nodes/n1/healthz/etcd", undefined],
    ["/nodes/n1/readyz", undefined],
    ["/nodes/n1/services/default", undefined],
    ["/nodes/n1/services//web", undefined],
    ["/nodes/n1/services/default/", undefined],
    ["/nodes/n1/services/default/web/healthz", undefined],
    ["nodes/n1/healthz", undefined],
    ["//nodes/n1/healthz", undefined],
    ["/healthz", undefined],
    ["/api/v1/nodes/n1/healthz", undefined],
    ["/clusters/blue/nodes/n1/healthz", undefined],
  ])("%s: %o", (path, question) => {
    expect(nodeHealthQuestion(path)).toEqual(question);
  });
});
