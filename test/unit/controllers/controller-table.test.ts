import { describe, expect, it } from "vitest";
import type { ChangeFilter } from "../../../src/api/store/feeds/follower-pokes";
import { type ControllerConfig, ControllerTable, decidesByRoles } from "../../../src/controllers/controller-table";

const bound: ChangeFilter = ({ after }) => after !== undefined;
const ROLES: ControllerConfig = { authorizationModes: ["Node", "RBAC"], rootCertificates: "" };
const NO_ROLES: ControllerConfig = { authorizationModes: ["AlwaysAllow"], rootCertificates: "" };
const table = new ControllerTable<"nodes" | "leases" | "pods", string, string>({
  nodes: { follows: ["nodes"], upstream: "node-lifecycle-controller", make: (setting) => `nodes of ${setting}` },
  leases: { follows: ["nodes", "leases.coordination.k8s.io"], hearsCreations: true, make: (setting) => `leases of ${setting}` },
  pods: {
    runsWith: decidesByRoles,
    upstream: "pod-garbage-collector-controller",
    follows: ["pods"],
    filters: { pods: bound },
    make: (setting) => `pods of ${setting}`,
  },
});

describe("ControllerTable", () => {
  it("names: those of the entries, in their order", () => {
    expect(table.names).toEqual(["nodes", "leases", "pods"]);
  });

  it.each([
    ["nodes", ["nodes", "leases"]],
    ["leases.coordination.k8s.io", ["leases"]],
    ["leases", []],
  ])("changes of %s: ask %j", (resource, names) => {
    expect(table.followersOf(resource)).toEqual(names);
  });

  it("creations: only those ask that say so, and those whose filter met one", () => {
    const hearing = (createdOnly: boolean, met: readonly ChangeFilter[]): string[] =>
      table.names.filter((name) => table.hears(name, name, createdOnly, new Set(met)));
    expect(hearing(true, [])).toEqual(["leases"]);
    expect(hearing(false, [])).toEqual(["nodes", "leases"]);
    expect(hearing(true, [bound])).toEqual(["leases", "pods"]);
    expect([table.filtersOf("pods"), table.filtersOf("nodes")]).toEqual([[bound], []]);
  });

  it.each([
    [["*"], [], ["node-lifecycle-controller", "pod-garbage-collector-controller", "service-cidr-controller"]],
    [["*", "-node-lifecycle-controller"], ["nodes"], ["pod-garbage-collector-controller", "service-cidr-controller"]],
    [["service-cidr-controller"], ["nodes", "pods"], ["service-cidr-controller"]],
  ])("the list %j: switches off %j; %j run, and whoever has no upstream name always", (list, off, running) => {
    expect(table.off(list)).toEqual(off);
    expect(table.running(list, ROLES)).toEqual(running);
    expect(table.names.filter((name) => table.isOn(name, list, ROLES))).toEqual(table.names.filter((name) => !off.includes(name)));
  });

  it("a configuration that has no work for a controller: it does not run, whatever the list says", () => {
    expect(table.names.filter((name) => table.runsWith(name, NO_ROLES))).toEqual(["nodes", "leases"]);
    expect(table.isOn("pods", ["*"], NO_ROLES)).toBe(false);
    expect(table.running(["*"], NO_ROLES)).toEqual(["node-lifecycle-controller", "service-cidr-controller"]);
    expect(table.off(["*"])).toEqual([]);
  });

  it.each([
    ["default/controllers/nodes", "nodes of c"],
    ["a~2/controllers/leases", "leases of c"],
  ])("object %s: makes the controller of that name", (object, brain) => {
    expect(table.make(object, "c")).toBe(brain);
  });

  it.each(["default/controllers/services", "default/controllers/", "nodes/controllers"])("object %s: throws", (object) => {
    expect(() => table.make(object, "c")).toThrow(`no controller ${object}`);
  });
});
