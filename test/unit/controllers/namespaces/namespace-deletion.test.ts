import { describe, expect, it } from "vitest";
import {
  namespaceDeletion,
  type NamespaceDeletionPorts,
  withoutFinalizer,
} from "../../../../src/controllers/namespaces/namespace-deletion";

interface Content {
  resource: string;
  /** objects left after each call of `empty`, the last one for ever */
  left: number[];
  fails?: "close" | "empty";
  isUnused?: boolean;
}

/** Stores that write down what is asked of them. */
function setting(namespaces: string[], contents: Content[]) {
  const log: string[] = [];
  const ports: NamespaceDeletionPorts = {
    clock: { now: () => 0, after: () => () => undefined },
    recorder: { log: (level, event, fields) => log.push(`${level} ${event} ${String(fields?.["namespace"])}`) },
    terminating: () => Promise.resolve(namespaces.map((name) => ({ name, uid: `uid of ${name}` }))),
    content: contents.map(({ resource, left, fails, isUnused = false }) => ({
      group: "",
      resource,
      isUnused: () => Promise.resolve(isUnused),
      close: (name, uid) => {
        log.push(`close ${resource} ${name} ${uid}`);
        return fails === "close" ? Promise.reject(new Error("down")) : Promise.resolve();
      },
      empty: (name, uid) => {
        log.push(`empty ${resource} ${name} ${uid}`);
        return fails === "empty"
          ? Promise.reject(new Error("down"))
          : Promise.resolve({ objects: (left.length > 1 ? left.shift() : left[0]) ?? 0, finalizers: [] });
      },
    })),
    report: ({ name }, { remaining, failures }) => {
      log.push(`report ${name} ${JSON.stringify([...remaining])} ${failures.join()}`);
      return Promise.resolve();
    },
    finalize: ({ name, uid }) => {
      log.push(`finalize ${name} ${uid}`);
      return Promise.resolve();
    },
  };
  return { ports, log };
}

/** One pass, which may be the first of many. */
async function deleteNamespaces(ports: NamespaceDeletionPorts): Promise<{ seen: number; finished: number; failed: number }> {
  let failed = 0;
  const log: NamespaceDeletionPorts["recorder"]["log"] = (level, event, fields) => {
    if (level === "warn") failed++;
    ports.recorder.log(level, event, fields);
  };
  const { left, report } = await namespaceDeletion({ ...ports, recorder: { log } }).run();
  const { done = 0, later = 0 } = report ?? {};
  expect(left).toBe(later > 0);
  return { seen: done + later, finished: done, failed };
}

describe("a pass", () => {
  it("order: closed in every store, emptied in every store, reported, finalized", async () => {
    const { ports, log } = setting(
      ["a"],
      [
        { resource: "leases", left: [0] },
        { resource: "services", left: [0] },
      ],
    );
    expect(await deleteNamespaces(ports)).toMatchObject({ seen: 1, finished: 1, failed: 0 });
    expect(log).toEqual([
      "close leases a uid of a",
      "close services a uid of a",
      "empty leases a uid of a",
      "empty services a uid of a",
      "report a [] ",
      "finalize a uid of a",
    ]);
  });

  it("namespace: ordered deletion (1.34): the rest stays until the last Pod is gone", async () => {
    const { ports, log } = setting(
      ["a"],
      [
        { resource: "leases", left: [0] },
        { resource: "pods", left: [1, 0] },
      ],
    );
    expect(await deleteNamespaces(ports)).toMatchObject({ seen: 1, finished: 0, failed: 0 });
    expect(log.splice(0)).toEqual(["close leases a uid of a", "close pods a uid of a", "empty pods a uid of a", 'report a [["pods.",1]] ']);
    expect(await deleteNamespaces(ports)).toMatchObject({ seen: 1, finished: 1, failed: 0 });
    expect(log.slice(2)).toEqual(["empty pods a uid of a", "empty leases a uid of a", "report a [] ", "finalize a uid of a"]);
  });

  it("a store of Pods that cannot be emptied: the rest stays", async () => {
    const { ports, log } = setting(
      ["a"],
      [
        { resource: "leases", left: [0] },
        { resource: "pods", left: [0], fails: "empty" },
      ],
    );
    expect(await deleteNamespaces(ports)).toMatchObject({ seen: 1, finished: 0, failed: 1 });
    expect(log).not.toContain("empty leases a uid of a");
    expect(log).toContain("report a [] pods.: down");
  });

  it("a store that has not closed the namespace: counts as not empty", async () => {
    const { ports, log } = setting(["a"], [{ resource: "leases", left: [0] }]);
    ports.content = ports.content.map((content) => ({ ...content, empty: () => Promise.resolve("notClosed") }));
    expect(await deleteNamespaces(ports)).toMatchObject({ seen: 1, finished: 0, failed: 0 });
    expect(log.filter((line) => line.startsWith("finalize"))).toEqual([]);
  });

  it("a store that nobody ever wrote to: is neither closed nor emptied, so nothing makes it", async () => {
    const { ports, log } = setting(
      ["one"],
      [
        { resource: "leases", left: [0], isUnused: true },
        { resource: "pods", left: [0], isUnused: true },
        { resource: "services", left: [0] },
      ],
    );
    await deleteNamespaces(ports);
    expect(log).toEqual(["close services one uid of one", "empty services one uid of one", "report one [] ", "finalize one uid of one"]);
  });

  it("held objects: the namespace is finalized in a later pass", async () => {
    const { ports, log } = setting(
      ["a"],
      [
        { resource: "leases", left: [0] },
        { resource: "services", left: [2, 0] },
      ],
    );
    expect(await deleteNamespaces(ports)).toMatchObject({ seen: 1, finished: 0, failed: 0 });
    expect(log.filter((line) => line.startsWith("finalize"))).toEqual([]);
    expect(await deleteNamespaces(ports)).toMatchObject({ seen: 1, finished: 1, failed: 0 });
  });

  it.each(["close", "empty"] as const)(
    "a store that fails to %s: its namespaces are not finalized, each with a log line",
    async (fails) => {
      const { ports, log } = setting(
        ["a", "b"],
        [
          { resource: "leases", left: [0], fails },
          { resource: "services", left: [0] },
        ],
      );
      expect(await deleteNamespaces(ports)).toMatchObject({ seen: 2, finished: 0, failed: 2 });
      expect(log.filter((line) => line.startsWith("finalize"))).toEqual([]);
      if (fails === "close") expect(log.some((line) => line.startsWith("empty"))).toBe(false);
      expect(log.filter((line) => line.startsWith("warn"))).toEqual([
        "warn a namespace was not emptied yet a",
        "warn a namespace was not emptied yet b",
      ]);
    },
  );

  it("a namespace that cannot be finalized: the others are", async () => {
    const { ports } = setting(["a", "b"], [{ resource: "leases", left: [0] }]);
    const finalize = ports.finalize;
    ports.finalize = (namespace) => (namespace.name === "a" ? Promise.reject(new Error("conflict")) : finalize(namespace));
    expect(await deleteNamespaces(ports)).toMatchObject({ seen: 2, finished: 1, failed: 1 });
  });

  it("no namespace: no call", async () => {
    const { ports, log } = setting([], [{ resource: "leases", left: [0] }]);
    expect([await deleteNamespaces(ports), log]).toEqual([{ seen: 0, finished: 0, failed: 0 }, []]);
  });
});

describe("withoutFinalizer", () => {
  it("finalizer kubernetes: removed, everything else stays; without it: undefined", () => {
    const metadata = { name: "a", labels: { x: "y" }, finalizers: ["example.com/own"] };
    const namespace = { metadata, spec: { finalizers: ["example.com/x", "kubernetes"] }, status: { phase: "Terminating" } };
    expect(withoutFinalizer(namespace)).toEqual({ ...namespace, spec: { finalizers: ["example.com/x"] } });
    expect(namespace.spec.finalizers).toHaveLength(2);
    expect(withoutFinalizer({ metadata, spec: { finalizers: ["example.com/x"] } })).toBeUndefined();
    expect(withoutFinalizer({ metadata })).toBeUndefined();
  });
});
