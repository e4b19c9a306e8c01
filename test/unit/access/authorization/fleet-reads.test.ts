import { describe, expect, it } from "vitest";
import { fleetReadProblem, selectorWithin } from "../../../../src/access/authorization/fleet-reads";
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import { parseLabelSelector } from "../../../../src/api/meta/selector";

const asked = (verb: string, name = "", resource = "clusters", group = "servicenet.dev") =>
  resourceAttributes({ verb, group, resource, name });

describe("a read of Clusters", () => {
  it.each([
    ["a get of an own one", ["blue"], asked("get", "blue"), undefined],
    ["a get of another one", ["blue"], asked("get", "red"), "the credential is for other clusters"],
    ["a list", ["blue"], asked("list"), undefined],
    ["a watch of another one", ["blue"], asked("watch", "red"), "the credential is for other clusters"],
    ["a get by a credential of all", undefined, asked("get", "red"), undefined],
    ["a write of an own one", ["blue"], asked("update", "blue"), undefined],
    ["a get of another kind", ["blue"], asked("get", "red", "services", ""), undefined],
    ["a get of the name in another group", ["blue"], asked("get", "red", "clusters", "example.com"), undefined],
    ["a path", ["blue"], { kind: "path", verb: "get", path: "/clusters/red" } as const, undefined],
  ])("%s: is refused or not", (_, clusters, wanted, problem) => {
    expect(fleetReadProblem({ clusters }, wanted)).toBe(problem);
  });
});

describe("the selector of a client within his clusters", () => {
  const selects = (clusters: string[], selector: string, labels: Record<string, string>): unknown => {
    const parsed = parseLabelSelector(selectorWithin(clusters, selector));
    return parsed.ok ? parsed.value.matches(labels) : parsed.error;
  };
  const named = (name: string, more: Record<string, string> = {}): Record<string, string> => ({
    "kubernetes.io/metadata.name": name,
    ...more,
  });

  it.each([
    [["blue"], "", named("blue"), true],
    [["blue"], " ", named("red"), false],
    [["blue", "green"], "", named("green"), true],
    [["blue"], "team=a", named("blue", { team: "a" }), true],
    [["blue"], "team=a", named("blue"), false],
    [["blue"], "team=a", named("red", { team: "a" }), false],
    [["blue"], "kubernetes.io/metadata.name=red", named("red"), false],
    [["blue"], "", {}, false],
    [[], "", named("blue"), false],
    [[], "", {}, false],
  ])("%j, %j, of %j: %s", (clusters, selector, labels, wanted) => {
    expect(selects(clusters, selector, labels as Record<string, string>)).toBe(wanted);
  });

  it("one that cannot be read: stays as it is", () => {
    expect(selectorWithin(["blue"], "a in (")).toBe("a in (");
  });
});
