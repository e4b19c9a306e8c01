import { describe, expect, it } from "vitest";
import { missingRights } from "../../../../src/access/rbac/covers";
import { missingRightsText } from "../../../../src/access/rbac/rule-text";
import type { PolicyRule } from "../../../../src/api/meta/kubernetes";

/** VERBS GROUPS RESOURCES [NAMES], each joined by commas; "core" is the group "". Or VERBS /PATHS. */
function rule(text: string): PolicyRule {
  const [verbs = "", second = "", resources = "", names = ""] = text.split(" ");
  if (second.startsWith("/") || second === "*") {
    if (resources === "") return { verbs: verbs.split(","), nonResourceURLs: second.split(",") };
  }
  const apiGroups = second.split(",").map((group) => (group === "core" ? "" : group));
  return { verbs: verbs.split(","), apiGroups, resources: resources.split(","), ...(names !== "" && { resourceNames: names.split(",") }) };
}

const cases: [title: string, own: string[], wanted: string[], missing: string][] = [
  ["the same rule: held", ["get core pods"], ["get core pods"], ""],
  ["fewer verbs: held", ["get,list core pods"], ["list core pods"], ""],
  ["rights of several own rules: held", ["get core pods", "list core pods"], ["get,list core pods"], ""],
  ["one more verb: missing", ["get core pods"], ["get,list core pods"], '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'],
  ["verb *: holds every verb", ["* core pods"], ["get,escalate core pods"], ""],
  ["verb * wanted: only * holds it", ["get,list core pods"], ["* core pods"], '{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  ["group *: holds every group", ["get * pods"], ["get core,apps pods"], ""],
  ["group * wanted: only * holds it", ["get core pods"], ["get * pods"], '{APIGroups:["*"], Resources:["pods"], Verbs:["get"]}'],
  ["another group: missing", ["get core pods"], ["get apps pods"], '{APIGroups:["apps"], Resources:["pods"], Verbs:["get"]}'],
  ["resource *: holds subresources", ["get core *"], ["get core pods,pods/status"], ""],
  [
    "resource: not its subresource",
    ["get core pods"],
    ["get core pods/status"],
    '{APIGroups:[""], Resources:["pods/status"], Verbs:["get"]}',
  ],
  ["*/status: holds the status of a resource", ["get core */status"], ["get core pods/status"], ""],
  ["*/status: not the resource", ["get core */status"], ["get core pods"], '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ["*/status wanted: the same holds it", ["get core */status"], ["get core */status"], ""],
  [
    "*/status wanted: no list of statuses",
    ["get core pods/status"],
    ["get core */status"],
    '{APIGroups:[""], Resources:["*/status"], Verbs:["get"]}',
  ],
  ["own rule without names: holds names", ["get core pods"], ["get core pods a,b"], ""],
  ["names in several own rules: held", ["get core pods a", "get core pods b"], ["get core pods a,b"], ""],
  ["own rule with names: does not hold all", ["get core pods a"], ["get core pods"], '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  [
    "another name: missing",
    ["get core pods a"],
    ["get core pods a,b"],
    '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}',
  ],
  [
    "one own rule for each dimension: no right is put together",
    ["get core pods", "list apps pods"],
    ["list core pods"],
    '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}',
  ],
  ["path: held", ["get /metrics"], ["get /metrics"], ""],
  ["path pattern: holds what begins so", ["get /healthz/*"], ["get /healthz/etcd"], ""],
  ["path pattern: holds a narrower pattern", ["get /api*"], ["get /apis/*"], ""],
  ["path *: holds every path", ["* *"], ["get /metrics"], ""],
  ["path: not another", ["get /metrics"], ["get /ranges"], '{NonResourceURLs:["/ranges"], Verbs:["get"]}'],
  ["path pattern wanted: no path holds it", ["get /metrics"], ["get /metrics*"], '{NonResourceURLs:["/metrics*"], Verbs:["get"]}'],
  [
    "paths: each verb a line of its own",
    [],
    ["get,post /a"],
    '{NonResourceURLs:["/a"], Verbs:["get"]}\n{NonResourceURLs:["/a"], Verbs:["post"]}',
  ],
  ["resources *: hold no path", ["* * *"], ["get /metrics"], '{NonResourceURLs:["/metrics"], Verbs:["get"]}'],
  ["nothing wanted: held", [], [], ""],
  [
    "several missing rights: verbs of one resource together, lines sorted",
    ["list core pods"],
    ["get,list,watch core services,pods", "create apps deployments"],
    [
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "watch"]}',
      '{APIGroups:[""], Resources:["services"], Verbs:["get" "list" "watch"]}',
      '{APIGroups:["apps"], Resources:["deployments"], Verbs:["create"]}',
    ].join("\n"),
  ],
];

describe("rights that are not held", () => {
  it.each(cases)("%s", (_title, own, wanted, missing) => {
    expect(missingRightsText(missingRights(own.map(rule), wanted.map(rule)))).toBe(missing);
  });

  it("rule without verbs, groups or resources: grants nothing, so nothing is missing", () => {
    expect(
      missingRights(
        [],
        [
          { verbs: [], apiGroups: [""], resources: ["pods"] },
          { verbs: ["get"], resources: ["pods"] },
        ],
      ),
    ).toEqual([]);
  });

  const many = (prefix: string): string[] => Array.from({ length: 1000 }, (_, i) => `${prefix}${i}`);
  const huge: PolicyRule = { verbs: many("v"), apiGroups: many("g"), resources: many("r"), resourceNames: many("n") };

  it("rule of a trillion rights that one own rule has whole: held", () => {
    expect(missingRights([{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], [huge])).toEqual([]);
  });

  it("rule of a trillion rights that no own rule has whole: missing as it is", () => {
    expect(
      missingRights(
        [
          { ...huge, verbs: many("v").slice(1) },
          { ...huge, verbs: ["v0"] },
        ],
        [huge],
      ),
    ).toEqual([huge]);
  });

  it("ten thousand own rules of one resource against as many rights: ends, and what was not compared is missing", () => {
    const own = Array.from({ length: 10_000 }, (_, i) => rule(`get core pods n${i}`));
    const wanted = Array.from({ length: 5000 }, (_, i) => rule(`get core pods n${i}`));
    const missing = missingRights(own, wanted);
    expect(missing.length).toBeGreaterThan(0);
    expect(missing.length).toBeLessThan(5000);
    expect(missing).not.toContainEqual(wanted[0]);
  });
});
