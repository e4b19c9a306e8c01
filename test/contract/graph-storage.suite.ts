import type { GraphNode } from "../../src/controllers/garbage-collection/graph";
import type { GraphStorage } from "../../src/controllers/garbage-collection/ports";
import { type ContractCase, LARGEST, sorted, undone, UNICODE } from "./contract-case";

/** What every GraphStorage does. */
export const graphStorageCases: readonly ContractCase<GraphStorage>[] = [
  {
    name: "nothing at first; a delete of an absent node changes nothing",
    run(storage) {
      storage.nodeDelete("a");
      return [[...storage.nodes()], [...storage.cursors()]];
    },
    want: [[], []],
  },
  {
    name: "nodes: the last one of each id, until it is deleted",
    run(storage) {
      storage.nodePut("1", node("a", true));
      storage.nodePut("2", node("b", true));
      storage.nodePut("1", { ...node("c", false), store: "pods" });
      storage.nodePut("3", node("d", false));
      storage.nodeDelete("3");
      return sorted(storage.nodes());
    },
    want: sorted([node("b", true), { ...node("c", false), store: "pods" }]),
  },
  {
    name: "nodes: empty texts and any character are kept",
    run(storage) {
      storage.nodePut("", node("", false));
      storage.nodePut(UNICODE, node(UNICODE, true));
      return sorted(storage.nodes());
    },
    want: sorted([node("", false), node(UNICODE, true)]),
  },
  {
    name: "one node: as it was put last; undefined = there is none",
    run(storage) {
      storage.nodePut(UNICODE, node("a", true));
      storage.nodePut(UNICODE, node(UNICODE, false));
      storage.nodePut("gone", node("b", true));
      storage.nodeDelete("gone");
      return [storage.nodeGet(UNICODE), storage.nodeGet("gone"), storage.nodeGet("never")];
    },
    want: [node(UNICODE, false), undefined, undefined],
  },
  {
    name: "cursors: the last one of each store",
    run(storage) {
      storage.cursorPut("pods", { incarnation: "x", revision: 1 });
      storage.cursorPut(UNICODE, { incarnation: "", revision: 0 });
      storage.cursorPut("pods", { incarnation: UNICODE, revision: LARGEST });
      return sorted(storage.cursors());
    },
    want: sorted([
      ["pods", { incarnation: UNICODE, revision: LARGEST }],
      [UNICODE, { incarnation: "", revision: 0 }],
    ]),
  },
  {
    name: "a transaction that fails: leaves nodes and cursors as they were; one within another fails alone",
    run(storage) {
      storage.nodePut("1", node("a", true));
      storage.nodePut("2", node("b", true));
      undone(storage, () => {
        storage.nodePut("1", node("c", false));
        storage.nodePut("3", node("d", false));
        storage.nodeDelete("2");
        storage.cursorPut("pods", { incarnation: "x", revision: 1 });
      });
      storage.transaction(() => {
        storage.cursorPut("services", { incarnation: "x", revision: 2 });
        undone(storage, () => storage.cursorPut("services", { incarnation: "x", revision: 3 }));
      });
      return [sorted(storage.nodes()), [...storage.cursors()]];
    },
    want: [sorted([node("a", true), node("b", true)]), [["services", { incarnation: "x", revision: 2 }]]],
  },
  {
    name: "nodes are copies: what is changed outside changes nothing inside",
    run(storage) {
      const put = node("a", true);
      storage.nodePut("1", put);
      for (const each of [put, ...storage.nodes()]) each.links.finalizers.push("late");
      return [...storage.nodes()];
    },
    want: [node("a", true)],
  },
];

function node(name: string, pending: boolean): GraphNode {
  const key = { namespace: "default", name };
  const owner = { apiVersion: "v1", kind: "Service", name: "owner", uid: "u" };
  return {
    ...{ store: "services", key, pending },
    links: { key, uid: `uid of ${name}`, resourceVersion: "7", ownerReferences: [owner], finalizers: ["orphan"], deleting: pending },
  };
}
