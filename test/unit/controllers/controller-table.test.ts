import { describe, expect, it } from "vitest";
import { ControllerTable } from "../../../src/controllers/controller-table";

const table = new ControllerTable<"nodes" | "leases", string, string>({
  nodes: { follows: ["nodes"], upstream: "node-lifecycle-controller", make: (setting) => `nodes of ${setting}` },
  leases: { follows: ["nodes", "leases.coordination.k8s.io"], hearsCreations: true, make: (setting) => `leases of ${setting}` },
});

describe("ControllerTable", () => {
  it("names: those of the entries, in their order", () => {
    expect(table.names).toEqual(["nodes", "leases"]);
  });

  it.each([
    ["nodes", ["nodes", "leases"]],
    ["leases.coordination.k8s.io", ["leases"]],
    ["leases", []],
  ])("changes of %s: ask %j", (resource, names) => {
    expect(table.followersOf(resource)).toEqual(names);
  });

  it("creations: only those ask that say so", () => {
    expect(table.names.filter((name) => table.hearsCreations(name))).toEqual(["leases"]);
  });

  it.each([
    [["*"], [], ["node-lifecycle-controller", "service-cidr-controller"]],
    [["*", "-node-lifecycle-controller"], ["nodes"], ["service-cidr-controller"]],
    [["service-cidr-controller"], ["nodes"], ["service-cidr-controller"]],
  ])("the list %j: switches off %j; %j run, and whoever has no upstream name always", (list, off, running) => {
    expect(table.off(list)).toEqual(off);
    expect(table.running(list)).toEqual(running);
  });

  it.each([
    ["default/controllers/nodes", "nodes of c"],
    ["a~2/controllers/leases", "leases of c"],
  ])("object %s: makes the controller of that name", (object, brain) => {
    expect(table.make(object, "c")).toBe(brain);
  });

  it.each(["default/controllers/pods", "default/controllers/", "nodes/controllers"])("object %s: throws", (object) => {
    expect(() => table.make(object, "c")).toThrow(`no controller ${object}`);
  });
});
