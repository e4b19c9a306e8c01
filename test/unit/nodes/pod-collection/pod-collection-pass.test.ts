/** The Pod garbage collector on real stores in virtual time; the cases of upstream's gc_controller_test.go, and those of the deviation. */
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/api/meta/kubernetes";
import { upstreamRow } from "../../../conformance/upstream-row";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { PodWorld, REFUSED } from "../../../support/worlds/pod-world";

const SECOND = 1_000;
const OUT_OF_SERVICE = [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" as const }];
const HELD = { finalizers: ["example.com/held"] };

function collector(terminatedThreshold?: number): PodWorld {
  return new PodWorld("collector", terminatedThreshold === undefined ? {} : { terminatedThreshold });
}

upstreamRow("podgc: TestGCTerminated", () => {
  it.each<[what: string, threshold: number, pods: [name: string, phase: string, reason?: string][], left: string[]]>([
    [
      "threshold 0 disables",
      0,
      [
        ["a", "Failed"],
        ["b", "Succeeded"],
      ],
      ["a", "b"],
    ],
    [
      "threshold 1, two ended, one alive: the older goes",
      1,
      [
        ["a", "Failed"],
        ["b", "Succeeded"],
        ["c", "Running"],
      ],
      ["b", "c"],
    ],
    [
      "Pending, Running and Unknown do not count",
      1,
      [
        ["a", "Failed"],
        ["b", "Unknown"],
        ["c", "Running"],
        ["d", "Pending"],
      ],
      ["a", "b", "c", "d"],
    ],
    [
      "below the threshold: all stay",
      5,
      [
        ["a", "Failed"],
        ["b", "Succeeded"],
      ],
      ["a", "b"],
    ],
    [
      "evicted Pods go first",
      1,
      [
        ["a", "Failed"],
        ["b", "Failed", "Evicted"],
        ["c", "Succeeded", "Evicted"],
      ],
      ["c"],
    ],
    [
      "a Succeeded one with the reason Evicted is not evicted",
      2,
      [
        ["a", "Failed"],
        ["b", "Succeeded", "Evicted"],
        ["c", "Failed", "Evicted"],
      ],
      ["a", "b"],
    ],
  ])("%s", async (_, threshold, pods, left) => {
    const world = collector(threshold);
    await world.node("n", "True");
    for (const [name, phase, reason] of pods) {
      await world.pod(name, "n", phase);
      if (reason) await world.status("pods", name, { reason });
      await world.pass(2 * SECOND);
    }
    await world.pass(60 * SECOND);
    expect(world.pods).toEqual(left);
  });

  it("an ended Pod with a label that looks like the phase of one that lives: counts", async () => {
    const world = collector(1);
    await world.node("n", "True");
    for (const name of ["a", "b"]) {
      await world.pod(name, "n", "Running", {}, { labels: { phase: "Running" } });
      await world.pass(30 * SECOND);
      await world.status("pods", name, { phase: "Succeeded" });
    }
    await world.pass(60 * SECOND);
    expect(world.pods).toEqual(["b"]);
  });

  it("of one age: the first by name goes", async () => {
    const world = collector(1);
    await world.node("n", "True");
    for (const name of ["c", "a", "b"]) await world.pod(name, "n", "Succeeded");
    const created = new Set(world.pods.map((name) => world.object("pods", name)?.metadata?.creationTimestamp));
    expect(created.size).toBe(1);
    await world.pass(60 * SECOND);
    expect(world.pods).toEqual(["c"]);
  });

  it("a Succeeded Pod: stays Succeeded and gets no condition", async () => {
    const world = collector(1);
    await world.node("n", "True");
    await world.pod("a", "n", "Succeeded", {}, HELD);
    await world.pass(2 * SECOND);
    await world.pod("b", "n", "Succeeded");
    await world.pass(60 * SECOND);
    expect(world.object("pods", "a")?.status).toMatchObject({ phase: "Succeeded" });
    expect(world.object("pods", "a")?.status?.conditions).toBeUndefined();
    expect(world.terminating).toEqual(["a"]);
  });
});

upstreamRow("podgc: TestGCOrphaned, TestGCInspectingPatchedPodBeforeDeletion", () => {
  it("40 s in quarantine, then: Failed with the condition, and deleted", async () => {
    const world = collector();
    await world.pod("p", "gone", "Running", {}, HELD);
    await world.pass(39 * SECOND);
    expect(world.terminating).toEqual([]);
    await world.pass(22 * SECOND);
    const { metadata, status } = world.object("pods", "p") ?? {};
    expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 0 });
    expect(status).toMatchObject({ phase: "Failed", observedGeneration: 1 });
    expect(status?.conditions).toMatchObject([
      {
        type: "DisruptionTarget",
        status: "True",
        reason: "DeletionByPodGC",
        message: "PodGC: node no longer exists",
        observedGeneration: 1,
      },
    ]);
    world.takeCalls();
    await world.patch("pods", "p", { metadata: { finalizers: null } });
    expect(world.pods).toEqual([]);
    await world.pass(120 * SECOND);
    expect(world.alarmAt).toBeUndefined();
    expect(world.takeCalls().filter((call) => /patch|delete/.test(call))).toEqual([]);
  });

  it("a Node that comes back within the quarantine: saves them, and a second absence begins anew", async () => {
    const world = collector();
    await world.node("n", "True");
    await world.pod("p", "n");
    await world.pass(30 * SECOND);
    await world.delete("nodes", "n");
    await world.pass(30 * SECOND);
    await world.node("n", "True");
    await world.pass(60 * SECOND);
    expect(world.pods).toEqual(["p"]);
    await world.delete("nodes", "n");
    await world.pass(30 * SECOND);
    expect(world.pods).toEqual(["p"]);
    await world.pass(60 * SECOND);
    expect(world.pods).toEqual([]);
  });

  it("the server is away during the quarantine: a long absence begins it anew, a short one does not", async () => {
    for (const [awaySeconds, goes] of [
      [120, false],
      [15, true],
    ] as const) {
      const world = collector();
      await world.node("n", "True");
      await world.pod("p", "n");
      await world.pass(60 * SECOND);
      await world.delete("nodes", "n");
      await world.pass(10 * SECOND);
      await world.away(awaySeconds * SECOND);
      void world.poke();
      await world.pass(35 * SECOND);
      expect([awaySeconds, world.pods]).toEqual([awaySeconds, goes ? [] : ["p"]]);
      await world.pass(30 * SECOND);
      expect(world.pods).toEqual([]);
    }
  });

  it("a live GET that finds the Node, or fails: no Pod is deleted", async () => {
    const world = collector();
    await world.pod("p", "gone");
    world.fault = (call) => (call === "nodes objectsNamed" ? new Error("down") : undefined);
    await world.pass(120 * SECOND);
    expect(world.pods).toEqual(["p"]);
    world.fault = () => undefined;
    await world.pass(60 * SECOND);
    expect(world.pods).toEqual([]);
  });

  it("a Succeeded Pod: deleted as it is", async () => {
    const world = collector();
    await world.pod("p", "gone", "Succeeded", {}, HELD);
    await world.pass(90 * SECOND);
    expect(world.object("pods", "p")?.status).toMatchObject({ phase: "Succeeded" });
    expect(world.object("pods", "p")?.status?.conditions).toBeUndefined();
    expect(world.terminating).toEqual(["p"]);
  });
});

upstreamRow("podgc: TestGCUnscheduledTerminating, TestGCTerminating", () => {
  it("without a Node: are set to Failed, without a condition", async () => {
    const world = collector();
    await world.pod("p", "", "Pending", {}, HELD);
    await world.delete("pods", "p");
    await world.pass(25 * SECOND);
    expect(world.object("pods", "p")?.status).toMatchObject({ phase: "Failed" });
    expect(world.object("pods", "p")?.status?.conditions).toBeUndefined();
  });

  it.each<[what: string, ready: "True" | "False" | "Unknown" | undefined, taints: typeof OUT_OF_SERVICE | undefined, goes: boolean]>([
    ["Ready, out of service", "True", OUT_OF_SERVICE, false],
    ["not Ready", "False", undefined, false],
    ["Ready", "True", undefined, false],
    ["not Ready, out of service", "False", OUT_OF_SERVICE, true],
    ["Unknown, out of service", "Unknown", OUT_OF_SERVICE, true],
    ["never Ready, out of service", undefined, OUT_OF_SERVICE, true],
  ])("on a Node that is %s: %s %j, gone before its grace is over: %j", async (_, ready, taints, goes) => {
    const world = collector();
    await world.node("n", ready, taints);
    await world.pod("p", "n", "Running", { terminationGracePeriodSeconds: 600 });
    await world.pod("stays", "n");
    await world.pass(30 * SECOND);
    await world.delete("pods", "p");
    await world.pass(60 * SECOND);
    expect(world.pods).toEqual(goes ? ["stays"] : ["p", "stays"]);
  });

  it("on a Node whose taint has another effect and no value: are deleted, too", async () => {
    const world = collector();
    await world.node("n", "False", [{ key: "node.kubernetes.io/out-of-service", effect: "NoSchedule" }]);
    await world.pod("p", "n", "Running", { terminationGracePeriodSeconds: 600 });
    await world.delete("pods", "p");
    await world.pass(30 * SECOND);
    expect(world.pods).toEqual([]);
  });

  it("on a Node whose Ready nobody has ever written: stay, as its agent may renew its Lease; go when Ready is Unknown", async () => {
    const world = collector();
    await world.node("n");
    await world.pod("p", "n");
    await world.delete("pods", "p");
    await world.pass(300 * SECOND);
    expect(world.terminating).toEqual(["p"]);
    await world.ready("n", "Unknown");
    await world.pass(21 * SECOND);
    expect(world.pods).toEqual([]);
  });

  it("on a Node whose Ready becomes Unknown: go when their grace is over; one that is not being deleted stays", async () => {
    const world = collector();
    await world.node("n", "True");
    await world.pod("p", "n");
    await world.pod("stays", "n");
    await world.delete("pods", "p");
    await world.pass(50 * SECOND);
    expect(world.terminating).toEqual(["p"]);
    await world.ready("n", "Unknown");
    await world.pass(21 * SECOND);
    expect(world.pods).toEqual(["stays"]);
  });

  it("a Node that speaks again in time: keeps its Pods to itself", async () => {
    const world = collector();
    await world.node("n", "Unknown");
    await world.pod("p", "n");
    await world.delete("pods", "p");
    await world.pass(20 * SECOND);
    await world.ready("n", "True");
    await world.pass(120 * SECOND);
    expect(world.terminating).toEqual(["p"]);
    expect(world.alarmAt).toBeUndefined();
  });
});

describe("the pass", () => {
  it("a status of a living Pod: asks for no pass, and the next pass does not parse it", async () => {
    const world = collector();
    await world.node("n", "True");
    await world.pod("p", "n");
    await world.pass(60 * SECOND);
    const { passes } = world;
    world.takeCalls();
    for (let i = 0; i < 20; i++) {
      await world.status("pods", "p", { podIP: `10.0.0.${i}` });
      await world.pass(5 * SECOND);
    }
    expect(world.passes).toBe(passes);
    expect(world.takeCalls()).toEqual([]);
    expect(world.alarmAt).toBeUndefined();
  });

  it("many changes that may give the collector work: one pass in 20 s", async () => {
    const world = collector();
    await world.node("n", "True");
    await world.pass(60 * SECOND);
    world.takeCalls();
    for (let i = 0; i < 60; i++) {
      await world.pod(`p${i}`, "n");
      await world.pass(SECOND);
    }
    expect(world.takeCalls().filter((call) => call === "nodes objectsSince").length).toBeLessThanOrEqual(4);
  });

  it("many changes while a deletion fails: one pass in 20 s, and its own repetitions", async () => {
    const world = collector();
    await world.node("n", "Unknown");
    await world.pod("bad", "n", "Running", { terminationGracePeriodSeconds: 1 });
    world.fault = (call) => (call === "pods patch bad" ? new Error("down") : undefined);
    await world.delete("pods", "bad");
    await world.pass(100 * SECOND);
    const { passes } = world;
    world.takeCalls();
    for (let i = 0; i < 60; i++) {
      await world.pod(`p${i}`, "n");
      await world.pass(SECOND);
    }
    expect(world.takeCalls().filter((call) => call === "nodes objectsSince").length).toBeLessThanOrEqual(6);
    expect(world.passes).toBeGreaterThan(passes);
  });

  it("a deletion that is refused: is logged once, and tried again after minutes; others go meanwhile", async () => {
    const world = collector();
    await world.node("n", "Unknown");
    for (const name of ["bad", "good"]) await world.pod(name, "n", "Running", { terminationGracePeriodSeconds: 1 });
    world.fault = (call) => (call === "pods patch bad" ? REFUSED : undefined);
    for (const name of ["bad", "good"]) await world.delete("pods", name);
    await world.pass(60 * SECOND);
    expect(world.pods).toEqual(["bad"]);
    await world.pass(3_600 * SECOND);
    expect(world.logs.filter(([message]) => message.includes("refused"))).toEqual([
      [
        "a controller was refused a write",
        { write: expect.stringMatching(/^pod ns\/bad of uid /) as string, code: 422, reason: "Invalid", message: "no" },
      ],
    ]);
    expect(world.takeCalls().filter((call) => call === "pods patch bad").length).toBeLessThanOrEqual(12);
    expect(world.passes).toBeLessThanOrEqual(25);
    world.fault = () => undefined;
    await world.pass(601 * SECOND);
    expect(world.pods).toEqual([]);
  });

  it("another Pod of its name, between the look and the deletion: stays", async () => {
    const world = collector();
    await world.node("n", "Unknown");
    await world.pod("p", "n", "Running", { terminationGracePeriodSeconds: 1 });
    await world.delete("pods", "p");
    let isReplaced = false;
    world.fault = (call) => {
      if (call === "pods patch p" && !isReplaced) {
        isReplaced = true;
        const { store } = world.stores.pods;
        const options = { dryRun: false, preconditions: {}, propagationPolicy: "" as const, gracePeriodSeconds: 0 };
        void store.write({ verb: "delete", key: { namespace: "ns", name: "p" }, options });
        void world.pod("p", "n");
      }
      return undefined;
    };
    await world.pass(120 * SECOND);
    expect(isReplaced).toBe(true);
    expect(world.pods).toEqual(["p"]);
    expect(world.object<Pod>("pods", "p")?.metadata?.deletionTimestamp).toBeUndefined();
  });

  it("failed calls, a restart and a history that is too short: every Pod is deleted in the end", async () => {
    const world = new PodWorld("collector", { historyEntries: 3 });
    await world.node("n", "Unknown");
    const random = seededRandom(7);
    world.fault = () => (random.below(3) === 0 ? new Error("down") : undefined);
    for (let i = 0; i < 8; i++) {
      await world.pod(`p${i}`, i % 2 === 0 ? "n" : "gone");
      if (i % 2 === 0) await world.delete("pods", `p${i}`);
      if (i % 3 === 0) world.wake();
      await world.pass(10 * SECOND);
    }
    for (let i = 0; i < 40 && world.pods.length > 0; i++) {
      void world.poke();
      await world.pass(20 * SECOND);
    }
    expect(world.pods).toEqual([]);
  });
});
