/** Which pools serve a Service: MetalLB's serviceAllocation, without its trap of a match that is empty. */
import { describe, expect, it } from "vitest";
import { balancerErrors, servedServices } from "../../../../src/api/registry/ipam/load-balancer";
import type { AskingService } from "../../../../src/api/rpc/load-balancers";
import { poolsFor } from "../../../../src/pools/load-balancers/selection";

const SERVICE: AskingService = { namespace: "ns", name: "web", uid: "u", labels: { app: "web" }, namespaceLabels: { team: "a" } };

type Annotations = Record<string, string>;

function own(annotations: Annotations): Annotations {
  return Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`servicenet.dev/${name}`, value]));
}

function order(pools: Record<string, Annotations>, service: Partial<AskingService> = {}, isNamed = false): string[] {
  const known = Object.entries(pools).flatMap(([name, annotations]) => {
    const served = servedServices({ metadata: { annotations: own({ "load-balancer": "true", ...annotations }) } });
    const key = name.includes("/") ? `InClusterIPPool/${name}` : `GlobalInClusterIPPool//${name}`;
    return served ? [{ key, served: [served] }] : [];
  });
  return poolsFor(known, { ...SERVICE, ...service }, isNamed).map(({ key }) => key.split("/").slice(1).filter(Boolean).join("/"));
}

describe("pools for a Service", () => {
  it.each<[string, Record<string, Annotations>, string[]]>([
    ["one without the annotation serves nobody", { p: { "load-balancer": "false" } }, []],
    ["one without rules serves all", { p: {} }, ["p"]],
    ["chosen ones come first, then the others", { a: {}, z: { namespaces: "ns" } }, ["z", "a"]],
    [
      "the lower priority comes first, 0 and none last of the chosen",
      { a: { priority: "0" }, b: { priority: "20" }, c: { priority: "3" }, d: { namespaces: "ns" }, e: {} },
      ["c", "b", "a", "d", "e"],
    ],
    ["equal priorities go by name", { b: { priority: "1" }, a: { priority: "1" } }, ["a", "b"]],
    ["of other namespaces", { p: { namespaces: "x, y" } }, []],
    ["a name or a label of the namespace is enough", { p: { namespaces: "x", "namespace-selectors": "team=b; team in (a, c)" } }, ["p"]],
    ["selectors that no namespace matches are for nobody", { p: { "namespace-selectors": "team=b" } }, []],
    ["labels of the Service and its namespace both count", { p: { namespaces: "ns", "service-selectors": "app=db" } }, []],
    ["one of several selectors is enough", { p: { "service-selectors": "app=db;app=web,!old" } }, ["p"]],
    ["what is given on request alone", { p: { "auto-assign": "false" }, q: {} }, ["q"]],
    ["a pool of a namespace serves that one", { "ns/p": {}, "other/q": {} }, ["ns/p"]],
  ])("%s", (_, pools, expected) => {
    expect(order(pools)).toEqual(expected);
  });

  it("a Service that names a pool: gets it on request, but only where it matches", () => {
    const pools = { p: { "auto-assign": "false" }, q: {}, r: { namespaces: "x" } };
    expect(order(pools, { pools: ["p"] }, true)).toEqual(["p"]);
    expect(order(pools, { pools: ["r"] }, true)).toEqual([]);
    expect(order(pools, { pools: ["q", "p"] }, true)).toEqual(["p", "q"]);
  });

  it("labels that nobody has read match no selector", () => {
    expect(order({ p: { "namespace-selectors": "team=a" } }, { namespaceLabels: {} })).toEqual([]);
  });

  it("a stored selector that is none: matches nobody", () => {
    expect(order({ p: { "service-selectors": "a in" }, q: { "service-selectors": "" }, r: { namespaces: "" } })).toEqual([]);
  });
});

describe("the annotations at a write", () => {
  it.each<[string, string, string | undefined]>([
    ["load-balancer", "yes", 'Unsupported value: "yes"'],
    ["load-balancer", "true", undefined],
    ["auto-assign", "", 'Unsupported value: ""'],
    ["priority", "-1", "must be a number from 0 to 2147483647"],
    ["priority", "2147483648", "must be a number from 0 to 2147483647"],
    ["priority", "10", undefined],
    ["namespaces", "", "has an empty entry"],
    ["namespaces", "a,,b", "has an empty entry"],
    ["namespaces", "A", "lowercase RFC 1123 label"],
    ["namespaces", "a, b", undefined],
    ["namespace-selectors", "a in", "a in"],
    ["namespace-selectors", "", "has an empty entry"],
    ["service-selectors", "a=b;", "has an empty entry"],
    ["service-selectors", "a=b,c!=d; e", undefined],
    ["service-selectors", Array.from({ length: 257 }, () => "a").join(";"), "must have at most 256 entries"],
  ])("%s %j: %s", (name, value, problem) => {
    const after = { metadata: { annotations: own({ [name]: value }) } };
    const errors = balancerErrors(after, undefined).map(({ field, body }) => `${field}: ${body}`);
    if (problem === undefined) expect(errors).toEqual([]);
    else expect(errors[0]).toContain(problem);
    // What was there before is not judged again.
    expect(balancerErrors(after, after)).toEqual([]);
  });
});
