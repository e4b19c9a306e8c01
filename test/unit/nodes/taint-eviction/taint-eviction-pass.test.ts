/** The taint eviction controller on real stores in virtual time; the cases of upstream's taint_eviction_test.go, and those of sleep and absence. */
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/api/meta/kubernetes";
import type { WriteResult } from "../../../../src/api/rpc/store";
import { upstreamRow } from "../../../conformance/upstream-row";
import { PodWorld, REFUSED } from "../../../support/worlds/pod-world";

type Tolerations = NonNullable<NonNullable<Pod["spec"]>["tolerations"]>;

const SECOND = 1_000;
const A = { key: "testTaint1", value: "test1", effect: "NoExecute" as const };
const B = { key: "testTaint2", value: "test2", effect: "NoExecute" as const };
const MARKED = "Marking for deletion Pod ns/p";
const CANCELLED = "Cancelling deletion of Pod ns/p";
/** Finalizers do without a kubelet: a Pod that is being deleted stays. */
const HELD = { finalizers: ["example.com/held"] };

const tolerating = (taint: typeof A, tolerationSeconds?: number): Tolerations[number] => ({
  ...taint,
  operator: "Equal",
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
});

async function evictor(taints: (typeof A)[], ...tolerations: Tolerations): Promise<PodWorld> {
  const world = new PodWorld("evictor");
  await world.node("n", "True", taints);
  await world.pod("p", "n", "Running", { tolerations }, HELD);
  await world.pass(2 * SECOND);
  return world;
}

const isGoing = (world: PodWorld): boolean => world.terminating.includes("p");

upstreamRow(
  "tainteviction: TestCreatePod, TestUpdatePod, TestDeletePod, TestCreateNode, TestUpdateNode(+MultipleTaints), TestDeleteNode",
  () => {
    it.each<[what: string, taints: (typeof A)[], tolerations: Tolerations, afterSeconds: number | undefined]>([
      ["no taints", [], [], undefined],
      ["a taint that is not tolerated", [A], [], 0],
      ["a taint of another effect", [{ ...A, effect: "NoSchedule" as "NoExecute" }], [], undefined],
      ["a tolerated one", [A], [tolerating(A)], undefined],
      ["a tolerated one for 100 s", [A], [tolerating(A, 100)], 100],
      ["0 s", [A], [tolerating(A, 0)], 0],
      ["a negative time", [A], [tolerating(A, -5)], 0],
      ["another value", [A], [tolerating({ ...A, value: "other" })], 0],
      ["another effect in the toleration", [A], [{ key: A.key, operator: "Exists", effect: "NoSchedule" }], 0],
      ["every effect of the key", [A], [{ key: A.key, operator: "Exists" }], undefined],
      ["everything", [A, B], [{ operator: "Exists" }], undefined],
      ["two taints, one tolerated", [A, B], [tolerating(A, 100)], 0],
      ["two taints, 100 s and 60 s", [A, B], [tolerating(A, 100), tolerating(B, 60)], 60],
      ["two taints, for ever and 60 s", [A, B], [tolerating(A), tolerating(B, 60)], 60],
      ["two tolerations of one taint: the first counts", [A], [tolerating(A, 100), tolerating(A, 10)], 100],
      ["a time that no server lives to see", [A], [tolerating(A, Number.MAX_SAFE_INTEGER)], undefined],
    ])("%s: %j, %j: goes after %j s", async (_, taints, tolerations, afterSeconds) => {
      const world = await evictor(taints, ...tolerations);
      if (afterSeconds === undefined) {
        await world.pass(400 * SECOND);
        expect(isGoing(world)).toBe(false);
        expect(world.alarmAt === undefined).toBe(true);
        expect(world.takeNotes()).toEqual([]);
        return;
      }
      if (afterSeconds > 0) {
        await world.pass((afterSeconds - 5) * SECOND);
        expect(isGoing(world)).toBe(false);
        await world.pass(6 * SECOND);
      }
      expect(isGoing(world)).toBe(true);
      const { metadata, status } = world.object("pods", "p") ?? {};
      expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
      expect(status).toMatchObject({ phase: "Running" });
      expect(status?.conditions).toMatchObject([
        {
          type: "DisruptionTarget",
          status: "True",
          reason: "DeletionByTaintManager",
          message: "Taint manager: deleting due to NoExecute taint",
          observedGeneration: 1,
        },
      ]);
      expect(world.events).toMatchObject([
        { type: "Normal", reason: "TaintManagerEviction", regarding: { kind: "Pod", name: "p", namespace: "ns" } },
      ]);
      expect(world.takeNotes()).toEqual([MARKED]);
      world.takeCalls();
      await world.pass(400 * SECOND);
      expect(world.takeNotes()).toEqual([]);
      expect(world.takeCalls().filter((call) => /patch|delete/.test(call))).toEqual([]);
      expect(world.alarmAt).toBeUndefined();
    });

    it("the taint comes later: its time counts from there; it goes in time: cancelled", async () => {
      const world = await evictor([], tolerating(A, 100));
      await world.pass(90 * SECOND);
      await world.taint("n", [A]);
      await world.pass(90 * SECOND);
      expect(isGoing(world)).toBe(false);
      await world.taint("n", []);
      await world.pass(120 * SECOND);
      expect(isGoing(world)).toBe(false);
      expect(world.takeNotes()).toEqual([CANCELLED]);
      expect(world.alarmAt).toBeUndefined();
    });

    it("a longer or shorter toleration later: changes nothing", async () => {
      for (const seconds of [10, 300]) {
        const world = await evictor([A], tolerating(A, 100));
        await world.pass(50 * SECOND);
        await world.patch("pods", "p", { spec: { tolerations: [tolerating(A, seconds)] } });
        await world.pass(40 * SECOND);
        expect(isGoing(world)).toBe(false);
        await world.pass(15 * SECOND);
        expect(isGoing(world)).toBe(true);
      }
    });

    it("a toleration for ever later: cancels", async () => {
      const world = await evictor([A], tolerating(A, 100));
      await world.patch("pods", "p", { spec: { tolerations: [tolerating(A)] } });
      await world.pass(200 * SECOND);
      expect(isGoing(world)).toBe(false);
      expect(world.takeNotes()).toEqual([CANCELLED]);
    });

    it("one of two taints goes: the time that was set stays; a second one that is not tolerated comes: at once", async () => {
      const world = await evictor([A, B], tolerating(A, 100), tolerating(B, 60));
      await world.taint("n", [A]);
      await world.pass(55 * SECOND);
      expect(isGoing(world)).toBe(false);
      await world.pass(6 * SECOND);
      expect(isGoing(world)).toBe(true);
      const other = await evictor([A], tolerating(A, 100));
      await other.taint("n", [A, B]);
      await other.pass(2 * SECOND);
      expect(isGoing(other)).toBe(true);
      expect(other.takeNotes()).toEqual([CANCELLED, MARKED]);
    });

    it("comes to a tainted Node: goes; without a Node it stays", async () => {
      const world = new PodWorld("evictor");
      await world.node("n", "True", [A]);
      await world.pod("free", "", "Pending");
      await world.pod("p", "", "Pending", {}, HELD);
      await world.pass(10 * SECOND);
      expect(world.terminating).toEqual([]);
      const binding = { metadata: { name: "p" }, target: { kind: "Node", name: "n" } };
      const options = { dryRun: false, fieldManager: "t", fieldValidation: "Ignore" as const, force: false, group: "", version: "v1" };
      await world.stores.pods.write({
        verb: "act",
        key: { namespace: "ns", name: "p" },
        action: "binding",
        document: JSON.stringify(binding),
        options,
      });
      await world.pass(5 * SECOND);
      expect(world.terminating).toEqual(["p"]);
    });

    it("is deleted by somebody else meanwhile: left alone; another one of its name begins anew", async () => {
      const world = await evictor([A], tolerating(A, 100));
      await world.delete("pods", "p");
      await world.pass(200 * SECOND);
      expect(world.object("pods", "p")?.status?.conditions).toBeUndefined();
      expect(world.takeNotes()).toEqual([]);
      await world.patch("pods", "p", { metadata: { finalizers: null } });
      await world.delete("pods", "p", 0).catch(() => undefined);
      await world.pod("p", "n", "Running", { tolerations: [tolerating(A, 50)] }, HELD);
      await world.pass(45 * SECOND);
      expect(isGoing(world)).toBe(false);
      await world.pass(10 * SECOND);
      expect(isGoing(world)).toBe(true);
    });

    it.each<[string, (pod: Pod) => Pod | null]>([
      ["is gone", () => null],
      ["has another one in its place", (pod) => ({ ...pod, metadata: { ...pod.metadata, uid: "another" } })],
      ["is being deleted", (pod) => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } })],
    ])("%s when its time comes, and the controller has not heard of it: left alone", async (_, now) => {
      const world = await evictor([A], tolerating(A, 100));
      const pod = now(world.object<Pod>("pods", "p") ?? expect.fail("the Pod is there"));
      const answer = [pod && JSON.stringify(pod)] as unknown as WriteResult;
      world.fault = (call) => (call === "pods objectsNamed" ? answer : undefined);
      await world.pass(110 * SECOND);
      expect([isGoing(world), world.takeNotes(), world.alarmAt]).toEqual([false, [], undefined]);
    });

    it("is gone before its time: cancelled", async () => {
      const world = await evictor([A], tolerating(A, 100));
      await world.patch("pods", "p", { metadata: { finalizers: null } });
      await world.delete("pods", "p", 0);
      await world.pass(60 * SECOND);
      expect(world.takeNotes()).toEqual([CANCELLED]);
      expect(world.alarmAt).toBeUndefined();
    });

    it("whose Node is gone: the eviction stands", async () => {
      const world = await evictor([A], tolerating(A, 100));
      await world.delete("nodes", "n");
      await world.pass(95 * SECOND);
      expect(isGoing(world)).toBe(false);
      await world.pass(10 * SECOND);
      expect(isGoing(world)).toBe(true);
    });

    it("a call of the eviction fails: it is made again", async () => {
      for (const lost of ["pods patch p", "pods delete p", "pods objectsNamed", "nodes objectsSince"]) {
        const world = new PodWorld("evictor");
        let left = 3;
        world.fault = (call) => (call === lost && left-- > 0 ? new Error("down") : undefined);
        await world.node("n", "True", [A]);
        await world.pod("p", "n", "Running", {}, HELD);
        await world.pass(30 * SECOND);
        expect([lost, isGoing(world)]).toEqual([lost, true]);
        expect(world.takeNotes()).toEqual([MARKED]);
      }
    });
  },
);

describe("sleep and absence", () => {
  it("an object that slept: the deadline stands", async () => {
    const world = await evictor([A], tolerating(A, 100));
    for (let i = 0; i < 9; i++) {
      world.wake();
      await world.pass(10 * SECOND);
    }
    expect(isGoing(world)).toBe(false);
    world.wake();
    await world.pass(15 * SECOND);
    expect(isGoing(world)).toBe(true);
  });

  it("the server was away for long: the whole time counts anew; a Pod whose taint went meanwhile stays", async () => {
    const world = await evictor([A], tolerating(A, 100));
    await world.away(150 * SECOND);
    await world.pass(95 * SECOND);
    expect(isGoing(world)).toBe(false);
    await world.taint("n", []);
    await world.pass(100 * SECOND);
    expect(isGoing(world)).toBe(false);

    const other = await evictor([A], tolerating(A, 100));
    await other.away(150 * SECOND);
    await other.pass(105 * SECOND);
    expect(isGoing(other)).toBe(true);
  });

  it("the server was away for a moment: the deadline stands", async () => {
    const world = await evictor([A], tolerating(A, 100));
    await world.away(20 * SECOND);
    await world.pass(70 * SECOND);
    expect(isGoing(world)).toBe(false);
    await world.pass(15 * SECOND);
    expect(isGoing(world)).toBe(true);
  });
});

describe("an eviction that is refused", () => {
  it("is told and logged once, and tried again after minutes", async () => {
    for (const refused of ["pods patch p", "pods delete p"]) {
      const world = new PodWorld("evictor");
      world.fault = (call) => (call === refused ? REFUSED : undefined);
      await world.node("n", "True", [A]);
      await world.pod("p", "n", "Running", {}, HELD);
      await world.pass(3_600 * SECOND);
      expect(world.takeNotes()).toEqual([MARKED]);
      expect(world.logs).toEqual([
        [
          "a controller was refused a write",
          { write: expect.stringMatching(/^pod ns\/p of uid /) as string, code: 422, reason: "Invalid", message: "no" },
        ],
      ]);
      expect(world.takeCalls().filter((call) => call === refused).length).toBeLessThanOrEqual(12);
      expect(world.passes).toBeLessThanOrEqual(20);
      world.fault = () => undefined;
      await world.pass(601 * SECOND);
      expect(isGoing(world)).toBe(true);
      expect(world.takeNotes()).toEqual([]);
    }
  });
});

describe("evictions that wait beside others", () => {
  it("an eviction that always fails: the others keep their times", async () => {
    for (const answer of [new Error("down"), REFUSED]) {
      const world = await evictor([A], tolerating(A, 100));
      world.fault = (call) => (call === "pods delete q" ? answer : undefined);
      await world.pod("q", "n", "Running", {}, HELD);
      await world.pass(95 * SECOND);
      expect(isGoing(world)).toBe(false);
      await world.pass(40 * SECOND);
      expect(isGoing(world)).toBe(true);
    }
  });

  it("a pass of 40 s, in which another eviction becomes due: that eviction follows", async () => {
    const world = await evictor([A], tolerating(A, 100));
    await world.pass(95 * SECOND);
    world.duration = (call) => (/ q$/.test(call) ? 20 * SECOND : 1);
    await world.pod("q", "n", "Running", {}, HELD);
    await world.pass(30 * SECOND);
    expect(isGoing(world)).toBe(false);
    await world.pass(15 * SECOND);
    expect(world.terminating).toEqual(["p", "q"]);
  });

  it("a crash late in a long pass: the others keep their times", async () => {
    const world = await evictor([A], tolerating(A, 100));
    world.duration = (call) => (/ q\d+$/.test(call) ? 10 * SECOND : 1);
    for (let i = 0; i < 70; i++) await world.pod(`q${i}`, "n", "Running", {}, HELD);
    await world.pass(45 * SECOND);
    await world.away(10 * SECOND);
    void world.poke();
    await world.pass(70 * SECOND);
    expect(isGoing(world)).toBe(true);
  });
});

describe("the cost", () => {
  it("without a tainted Node: Pods are not read, whatever they do, and there is no alarm", async () => {
    const world = new PodWorld("evictor");
    await world.node("n", "True");
    for (let i = 0; i < 10; i++) {
      await world.pod(`p${i}`, "n");
      await world.pass(SECOND);
    }
    await world.pass(60 * SECOND);
    expect(world.takeCalls().filter((call) => call.startsWith("pods"))).toEqual([]);
    expect(world.alarmAt).toBeUndefined();
  });

  it("a toleration of an hour: one look five minutes before its end, then one every 30 s", async () => {
    const world = await evictor([A], tolerating(A, 3_600));
    const { passes } = world;
    await world.pass(3_290 * SECOND);
    expect(world.passes).toBe(passes);
    await world.pass(300 * SECOND);
    expect(isGoing(world)).toBe(false);
    expect(world.passes - passes).toBe(10);
    await world.pass(10 * SECOND);
    expect(isGoing(world)).toBe(true);
  });

  it("with a tainted Node: a status of a Pod asks for no pass", async () => {
    const world = await evictor([A], tolerating(A));
    await world.pass(60 * SECOND);
    const { passes } = world;
    for (let i = 0; i < 20; i++) {
      await world.status("pods", "p", { podIP: `10.0.0.${i}` });
      await world.ready("n", i % 2 === 0 ? "False" : "True");
      await world.pass(SECOND);
    }
    expect(world.passes).toBe(passes);
  });
});
