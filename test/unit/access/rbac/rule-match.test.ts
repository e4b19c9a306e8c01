import { describe, expect, it } from "vitest";
import { ruleAllows } from "../../../../src/access/rbac/rule-match";
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import type { Attributes } from "../../../../src/access/authorization/attributes";
import type { PolicyRule } from "../../../../src/api/meta/kubernetes";

/** VERB RESOURCE[/SUB][.GROUP] [NAME] */
function asked(text: string): Attributes {
  const [verb = "", what = "", name = ""] = text.split(" ");
  if (what.startsWith("/")) return { kind: "path", verb, path: what };
  const [path = "", group = ""] = what.split(".");
  const [resource = "", subresource = ""] = path.split("/");
  return resourceAttributes({ verb, resource, subresource, group, name });
}

const rule = (verbs: string[], apiGroups: string[], resources: string[], resourceNames?: string[]): PolicyRule => ({
  verbs,
  apiGroups,
  resources,
  ...(resourceNames && { resourceNames }),
});
const urls = (verbs: string[], nonResourceURLs: string[]): PolicyRule => ({ verbs, nonResourceURLs });

const cases: [title: string, rule: PolicyRule, asked: string, allowed: boolean][] = [
  ["verb in the list: allowed", rule(["get", "list"], [""], ["pods"]), "list pods", true],
  ["verb outside the list: not allowed", rule(["get", "list"], [""], ["pods"]), "watch pods", false],
  ["verb *: every verb", rule(["*"], [""], ["pods"]), "escalate pods", true],
  ["no verbs: nothing", rule([], [""], ["pods"]), "get pods", false],
  ["group: only its own resources", rule(["get"], ["apps"], ["pods"]), "get pods", false],
  ["group of the core: not that of others", rule(["get"], [""], ["events"]), "get events.events", false],
  ["group *: every group", rule(["get"], ["*"], ["events"]), "get events.events", true],
  ["no groups: nothing", { verbs: ["get"], resources: ["pods"] }, "get pods", false],
  ["resource *: every resource", rule(["get"], [""], ["*"]), "get pods", true],
  ["resource *: every subresource", rule(["get"], [""], ["*"]), "get pods/status", true],
  ["resource: none of its subresources", rule(["get"], [""], ["pods"]), "get pods/status", false],
  ["subresource: itself", rule(["get"], [""], ["pods/status"]), "get pods/status", true],
  ["subresource: not its resource", rule(["get"], [""], ["pods/status"]), "get pods", false],
  ["*/status: the status of every resource", rule(["get"], [""], ["*/status"]), "get pods/status", true],
  ["*/status: not the resource", rule(["get"], [""], ["*/status"]), "get pods", false],
  ["*/status: no other subresource", rule(["get"], [""], ["*/status"]), "get pods/scale", false],
  ["*/tatus: not the status", rule(["get"], [""], ["*/tatus"]), "get pods/status", false],
  ["pods/*: no pattern", rule(["get"], [""], ["pods/*"]), "get pods/status", false],
  ["*/*: no pattern", rule(["get"], [""], ["*/*"]), "get pods/status", false],
  ["no resources: nothing", rule(["get"], [""], []), "get pods", false],
  ["no names: every name", rule(["get"], [""], ["pods"]), "get pods a", true],
  ["name in the list: allowed", rule(["get"], [""], ["pods"], ["a", "b"]), "get pods b", true],
  ["name outside the list: not allowed", rule(["get"], [""], ["pods"], ["a", "b"]), "get pods c", false],
  ["names: no list of all", rule(["list"], [""], ["pods"], ["a"]), "list pods", false],
  ["names: a list of one name", rule(["list"], [""], ["pods"], ["a"]), "list pods a", true],
  ["names: no create, which has no name", rule(["create"], [""], ["pods"], ["a"]), "create pods", false],
  ["names: * is a name", rule(["get"], [""], ["pods"], ["*"]), "get pods a", false],
  ["path: equal", urls(["get"], ["/metrics"]), "get /metrics", true],
  ["path: not what is below", urls(["get"], ["/metrics"]), "get /metrics/slis", false],
  ["path /healthz/*: what is below", urls(["get"], ["/healthz/*"]), "get /healthz/etcd", true],
  ["path /healthz/*: not the path itself", urls(["get"], ["/healthz/*"]), "get /healthz", false],
  ["path /health*: what begins so", urls(["get"], ["/health*"]), "get /healthz", true],
  ["path with two stars at the end: as one", urls(["get"], ["/api**"]), "get /apis", true],
  ["path with a star in the middle: that very text", urls(["get"], ["/a/*/b"]), "get /a/x/b", false],
  ["path *: every path", urls(["get"], ["*"]), "get /metrics", true],
  ["path: another verb", urls(["get"], ["*"]), "head /metrics", false],
  ["path: no resources", urls(["*"], ["*"]), "get pods", false],
  ["resources: no path", rule(["*"], ["*"], ["*"]), "get /metrics", false],
];

describe("one rule", () => {
  it.each(cases)("%s", (_title, granted, question, allowed) => {
    expect(ruleAllows(granted, asked(question))).toBe(allowed);
  });
});
