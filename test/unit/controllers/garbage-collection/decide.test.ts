import { describe, expect, it } from "vitest";
import { decideDependent, type OwnerState, ownerState, releasableOwners } from "../../../../src/controllers/garbage-collection/decide";
import { type GraphNode, OwnerGraph } from "../../../../src/controllers/garbage-collection/graph";
import { resolveOwner } from "../../../../src/controllers/garbage-collection/resolve-owner";
import type { OwnerReference } from "../../../../src/api/meta/kubernetes";
import type { ObjectLinks } from "../../../../src/api/rpc/object-links";

const owner = (name: string, blockOwnerDeletion = true): OwnerReference => ({
  apiVersion: "v1",
  kind: "Pod",
  name,
  uid: `uid of ${name}`,
  blockOwnerDeletion,
});

const pod = (name: string, owners: OwnerReference[] = [], rest: Partial<ObjectLinks> = {}): ObjectLinks => ({
  key: { namespace: "ns", name },
  uid: `uid of ${name}`,
  resourceVersion: "7",
  ownerReferences: owners,
  finalizers: [],
  deleting: false,
  ...rest,
});

const foreground: Partial<ObjectLinks> = { deleting: true, finalizers: ["foregroundDeletion"] };

describe("ownerState", () => {
  it.each<[string, ObjectLinks | null, OwnerState]>([
    ["nothing there", null, "absent"],
    ["an object of its name with another uid", pod("o", [], { uid: "other" }), "absent"],
    ["alive", pod("o"), "solid"],
    ["a finalizer without a deletion", pod("o", [], { finalizers: ["foregroundDeletion"] }), "solid"],
    ["deleted with Foreground", pod("o", [], foreground), "waiting"],
    ["deleted with Orphan", pod("o", [], { deleting: true, finalizers: ["orphan"] }), "solid"],
    ["deleted, held by somebody else", pod("o", [], { deleting: true, finalizers: ["example.com/x"] }), "solid"],
  ])("%s: the state of the row", (_, found, want) => {
    expect(ownerState("uid of o", found)).toBe(want);
  });
});

describe("decideDependent", () => {
  const [a, b] = [owner("a"), owner("b")];
  const remove = (propagationPolicy: string): object => ({ action: "delete", propagationPolicy });
  it.each<[string, Partial<ObjectLinks>, OwnerState[], boolean, object]>([
    ["no owners", {}, [], false, { action: "none" }],
    ["one solid", { ownerReferences: [a] }, ["solid"], true, { action: "none" }],
    ["one absent", { ownerReferences: [a] }, ["absent"], false, remove("Background")],
    ["one absent, with dependents", { ownerReferences: [a] }, ["absent"], true, remove("Background")],
    ["all absent", { ownerReferences: [a, b] }, ["absent", "absent"], false, remove("Background")],
    ["one of two is solid", { ownerReferences: [a, b] }, ["absent", "solid"], false, { action: "unlink", remaining: [b] }],
    ["waiting beside solid", { ownerReferences: [a, b] }, ["solid", "waiting"], true, { action: "unlink", remaining: [a] }],
    ["waiting, a leaf", { ownerReferences: [a] }, ["waiting"], false, remove("Background")],
    ["waiting, with dependents", { ownerReferences: [a] }, ["waiting"], true, remove("Foreground")],
    ["waiting and absent, with dependents", { ownerReferences: [a, b] }, ["absent", "waiting"], true, remove("Foreground")],
    ["its own finalizer orphan", { ownerReferences: [a], finalizers: ["orphan"] }, ["absent"], true, remove("Orphan")],
    ["its own foregroundDeletion", { ownerReferences: [a], finalizers: ["foregroundDeletion"] }, ["absent"], true, remove("Foreground")],
    ["deleted already", { ownerReferences: [a], deleting: true }, ["absent"], true, { action: "none" }],
  ])("%s: the action of the row", (_, links, states, hasDependents, want) => {
    expect(decideDependent(pod("d", [], links), states, hasDependents)).toEqual(want);
  });
});

describe("releasableOwners", () => {
  const names = (...objects: ObjectLinks[]): string[] => {
    const graph = new OwnerGraph(resolveOwner);
    for (const links of objects) Array.from(graph.apply("pods", { type: "put", links }));
    return releasableOwners(graph)
      .map(({ key }) => key.name)
      .sort();
  };
  it.each<[string, ObjectLinks[], string[]]>([
    ["nobody depends on it", [pod("o", [], foreground)], ["o"]],
    ["a blocking dependent", [pod("o", [], foreground), pod("d", [owner("o")])], []],
    ["a dependent that does not block", [pod("o", [], foreground), pod("d", [owner("o", false)])], ["o"]],
    ["a blocking dependent of another uid", [pod("o", [], foreground), pod("d", [{ ...owner("o"), uid: "other" }])], ["o"]],
    ["a dependent in another namespace", [pod("o", [], foreground), pod("d", [owner("o")], { key: { namespace: "x", name: "d" } })], ["o"]],
    ["a chain: the last first", [pod("o", [], foreground), pod("m", [owner("o")], foreground), pod("d", [owner("m")])], []],
    ["the end of a chain", [pod("o", [], foreground), pod("m", [owner("o")], foreground)], ["m"]],
    ["an object that owns itself", [pod("o", [owner("o")], foreground)], ["o"]],
    ["a circle of three, all deleted", ["a b", "b c", "c a"].map(ring), ["a", "b", "c"]],
    ["a circle with somebody outside of it to wait for", [...["a b", "b a"].map(ring), pod("d", [owner("b")])], []],
    ["a circle beside a chain", [...["a b", "b a"].map(ring), pod("o", [owner("a")], foreground)], ["o"]],
    ["a circle that is not deleted everywhere yet", [ring("a b"), pod("b", [owner("a")])], []],
    ["Orphan is not Foreground", [pod("o", [], { deleting: true, finalizers: ["orphan"] })], []],
  ])("%s: released owners as in the row", (_, objects, want) => {
    expect(names(...objects)).toEqual(want);
  });

  it("a chain of 20,000: decided without a deep stack", () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => pod(`p${i}`, i === 0 ? [] : [owner(`p${i - 1}`)], foreground));
    expect(names(...chain)).toEqual(["p19999"]);
  });
});

it("an owner with 1,000 stored dependents: the first that blocks is read, to know that it waits; as many as are asked for otherwise", () => {
  const stored = new Map<string, GraphNode>();
  let reads = 0;
  const graph = new OwnerGraph(resolveOwner, (id) => (reads++, stored.get(id)));
  const dependents = Array.from({ length: 1_000 }, (_, i) => pod(`d${i}`, [owner("o", i > 4)]));
  for (const links of [pod("o", [], foreground), ...dependents]) Array.from(graph.apply("pods", { type: "put", links }));
  const ids = graph.takeTouched();
  for (const id of ids) {
    const node = graph.get(id);
    if (node) stored.set(id, node);
  }
  graph.saved(ids);
  const readBy = (work: () => unknown): unknown[] => {
    reads = 0;
    return [work(), reads];
  };
  const [o] = [...graph.served];
  expect(readBy(() => releasableOwners(graph))).toEqual([[], 6]);
  expect(readBy(() => o && graph.firstDependentsOf(o, 3).map(({ key }) => key.name))).toEqual([["d0", "d1", "d2"], 3]);
  expect(readBy(() => o && graph.firstDependentsOf(o, 5_000).length)).toEqual([1_000, 1_000]);
});

/** `"a b"` = a, which b owns, deleted with Foreground. */
function ring(text: string): ObjectLinks {
  const [name = "", by = ""] = text.split(" ");
  return pod(name, [owner(by)], foreground);
}
