import { describe, expect, it } from "vitest";
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import { AGENTS, type User } from "../../../../src/access/identity/user";
import { agentLimitErrors, type AgentLimits, extraOfLimits } from "../../../../src/access/identity/agent-limits";
import { restrictNodeWrite } from "../../../../src/access/nodes/restrict-node-write";
import type { Pod } from "../../../../src/api/meta/kubernetes";

const agent = (limits: AgentLimits): User => ({ name: "servicenet:agent:n", uid: "", groups: [AGENTS], extra: extraOfLimits(limits) });
const pod = (namespace: string, labels: Record<string, string> = {}): Pod =>
  ({ metadata: { name: "p", namespace, labels }, spec: { nodeName: "n", containers: [] } }) as unknown as Pod;
const wrongNamespace = 'the token of node "n" is not for pods in the namespace "other"';
const wrongLabel = (label: string): string => `the token of node "n" is not for pods with the label "${label}"`;

it.each<[string, AgentLimits, Pod, string | undefined]>([
  ["without limits: anywhere, with any label", {}, pod("other", { app: "web" }), undefined],
  ["in its namespace", { agentNamespaces: ["a", "b"] }, pod("b", { app: "web" }), undefined],
  ["in another namespace", { agentNamespaces: ["a", "b"] }, pod("other"), wrongNamespace],
  ["without labels", { agentLabels: ["app=web"] }, pod("other"), undefined],
  ["with its label", { agentLabels: ["app=web", "tier"] }, pod("other", { app: "web", tier: "front" }), undefined],
  ["with another value", { agentLabels: ["app=web"] }, pod("other", { app: "db" }), wrongLabel("app=db")],
  ["with another label beside its own", { agentLabels: ["app=web"] }, pod("other", { app: "web", role: "x" }), wrongLabel("role=x")],
  ["with a label that only begins as its own", { agentLabels: ["app"] }, pod("other", { "app.x": "web" }), wrongLabel("app.x=web")],
  ["with an empty value where one is named", { agentLabels: ["app=web"] }, pod("other", { app: "" }), wrongLabel("app=")],
  ["with the empty value that is named", { agentLabels: ["app="] }, pod("other", { app: "" }), undefined],
  ["within both", { agentNamespaces: ["a"], agentLabels: ["app"] }, pod("a", { app: "x" }), undefined],
])("a Pod that an agent writes, %s", (_, limits, written, problem) => {
  const asked = (verb: string, subresource = "") =>
    resourceAttributes({ verb, resource: "pods", namespace: written.metadata?.namespace ?? "", name: "p", subresource });
  const user = agent(limits);
  expect(restrictNodeWrite(user, asked("create"), undefined, written)).toBe(problem);
  expect(restrictNodeWrite(user, asked("patch"), pod(written.metadata?.namespace ?? ""), written)).toBe(problem);
});

describe("a Pod that stands outside the limits of its token: the agent takes it neither over nor away", () => {
  const user = agent({ agentNamespaces: ["a"], agentLabels: ["app=web"] });
  const own = pod("a", { app: "web" });

  it.each<[string, Pod, string]>([
    ["another namespace", pod("other", { app: "web" }), wrongNamespace],
    ["another label", pod("a", { app: "db" }), wrongLabel("app=db")],
    ["a label beside its own", pod("a", { app: "web", role: "x" }), wrongLabel("role=x")],
  ])("%s", (_, stored, problem) => {
    const asked = (verb: string, subresource = "") =>
      resourceAttributes({ verb, resource: "pods", namespace: "x", name: "p", subresource });
    const within = { ...stored, metadata: { ...stored.metadata, labels: { app: "web" } } } as Pod;
    expect(restrictNodeWrite(user, asked("delete"), stored)).toBe(problem);
    expect(restrictNodeWrite(user, asked("deletecollection"), stored)).toBe(problem);
    expect(restrictNodeWrite(user, asked("update"), stored, within)).toBe(problem);
    expect(restrictNodeWrite(user, asked("patch"), stored, within)).toBe(problem);
    expect(restrictNodeWrite(user, asked("patch", "status"), stored, stored)).toBe(problem);
    expect(restrictNodeWrite(user, asked("create", "eviction"), stored)).toBe(problem);
  });

  it("one within them: all of these, for as long as it stays within", () => {
    const asked = (verb: string, subresource = "") =>
      resourceAttributes({ verb, resource: "pods", namespace: "a", name: "p", subresource });
    for (const verb of ["delete", "deletecollection"]) expect(restrictNodeWrite(user, asked(verb), own)).toBeUndefined();
    expect(restrictNodeWrite(user, asked("patch", "status"), own, own)).toBeUndefined();
    expect(restrictNodeWrite(user, asked("create", "eviction"), own)).toBeUndefined();
    expect(restrictNodeWrite(user, asked("patch"), own, pod("a", { app: "db" }))).toBe(wrongLabel("app=db"));
  });
});

it.each<[string, AgentLimits, string[]]>([
  ["none", {}, []],
  ["namespaces and labels", { agentNamespaces: ["a"], agentLabels: ["app", "example.com/app=web", "app="] }, []],
  ["no namespace", { agentNamespaces: [] }, ["agentNamespaces"]],
  ["no label", { agentLabels: [] }, ["agentLabels"]],
  ["a namespace that is none", { agentNamespaces: ["a", "B"] }, ["agentNamespaces[1]"]],
  ["labels that are none", { agentLabels: ["a b", "a=b c", "=b"] }, ["agentLabels[0]", "agentLabels[1]", "agentLabels[2]"]],
  ["too many", { agentLabels: Array.from({ length: 101 }, (_, i) => `l${i}`) }, ["agentLabels"]],
])("limits that are asked for, %s", (_, limits, fields) => {
  expect([...new Set(agentLimitErrors(limits).map(({ field }) => field))]).toEqual(fields);
});
