import { describe, expect, it, vi } from "vitest";
import { invalid, serviceUnavailable } from "../../../../src/api/meta/status";
import type { WriteResult } from "../../../../src/api/rpc/store";
import { upstreamRow } from "../../../conformance/upstream-row";
import { aPod, aService } from "../../../support/worlds/slice-world";
import { NodeWorld } from "../../../support/worlds/node-world";

const SEC = 1_000;
/** upstream's order of the conditions that it adds */
const NEVER_POSTED = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => `${type} Unknown NodeStatusNeverUpdated`);
const OTHERS_NEVER = NEVER_POSTED.slice(1);

/** Two Nodes of one zone that live, besides those of the test: so no zone is disrupted. */
async function aWorld(): Promise<NodeWorld> {
  const world = new NodeWorld();
  await world.addNode("alive-1", "True");
  await world.addNode("alive-2", "True");
  await world.renew("alive-1", "alive-2");
  return world;
}

const pass = (world: NodeWorld, durationMs: number, ...renewing: string[]): Promise<void> =>
  world.passRenewing(durationMs, "alive-1", "alive-2", ...renewing);

upstreamRow("nodelifecycle: TestMonitorNodeHealthUpdateStatus, TestMonitorNodeHealthUpdateNodeAndPodStatusWithLease", () => {
  it("a Node without a status: Unknown a minute after its creation", async () => {
    const world = await aWorld();
    await world.addNode("n");
    await pass(world, 59 * SEC);
    expect(world.conditions("n")).toEqual([]);
    await pass(world, 11 * SEC);
    expect(world.conditions("n")).toEqual(NEVER_POSTED);
    expect(world.node("n").status?.conditions?.[0]).toMatchObject({
      message: "Kubelet never posted node status.",
      lastHeartbeatTime: world.node("n").metadata?.creationTimestamp,
    });
    expect(world.toldReasons).not.toContain("NodeNotReady n");
  });

  it("a Node without a status whose Lease is renewed: nothing is written", async () => {
    const world = await aWorld();
    await world.addNode("n");
    await pass(world, 300 * SEC, "n");
    expect(world.conditions("n")).toEqual([]);
  });

  it("a Node whose Lease and status stop: Unknown with both reasons, within 60 s of the last renewal", async () => {
    const world = await aWorld();
    await world.addNode("n", "True", {
      conditions: [
        { type: "MemoryPressure", status: "False" },
        { type: "NetworkUnavailable", status: "False" },
      ],
    });
    await pass(world, 100 * SEC, "n");
    await world.renew("n");
    await pass(world, 50 * SEC);
    expect(world.ready("n")).toBe("True");
    await pass(world, 10 * SEC);
    expect(world.conditions("n")).toEqual([
      "Ready Unknown NodeStatusUnknown",
      "MemoryPressure Unknown NodeStatusUnknown",
      "NetworkUnavailable False",
      ...OTHERS_NEVER.filter((one) => !one.startsWith("Memory")),
    ]);
    expect(world.node("n").status?.conditions?.[0]?.message).toBe("Kubelet stopped posting node status.");
    expect(world.toldReasons.filter((one) => one.startsWith("NodeNotReady"))).toEqual(["NodeNotReady n"]);
  });

  it.each(["Lease", "status"])("a Node whose %s alone is renewed: stays Ready", async (what) => {
    const world = await aWorld();
    await world.addNode("n", "True");
    for (let i = 0; i < 20; i++) {
      if (what === "status") await world.setReady("n", "True");
      await pass(world, 10 * SEC, ...(what === "Lease" ? ["n"] : []));
    }
    expect(world.ready("n")).toBe("True");
  });

  it("a Node that is not ready and falls silent: Unknown", async () => {
    const world = await aWorld();
    await world.addNode("n", "False");
    await pass(world, 60 * SEC);
    expect(world.conditions("n")[0]).toBe("Ready Unknown NodeStatusUnknown");
  });

  it("a renewal of an Unknown Node: changes nothing; its status writer makes it Ready", async () => {
    const world = await aWorld();
    await world.addNode("n", "True");
    await pass(world, 60 * SEC);
    await pass(world, 60 * SEC, "n");
    expect(world.ready("n")).toBe("Unknown");
    await world.setReady("n", "True");
    await pass(world, 60 * SEC, "n");
    expect(world.ready("n")).toBe("True");
    expect(world.taints("n")).toEqual([]);
  });

  it("a Node that a person makes Ready without a heartbeat: has the whole grace again", async () => {
    const world = await aWorld();
    await world.addNode("n", "True");
    await pass(world, 70 * SEC);
    await world.setReady("n", "True", false);
    await pass(world, 49 * SEC);
    expect(world.ready("n")).toBe("True");
    await pass(world, 12 * SEC);
    expect(world.ready("n")).toBe("Unknown");
  });

  it("a write that the store cannot make now: made in the next period", async () => {
    const world = await aWorld();
    await world.addNode("n", "True");
    let refused = 0;
    world.fault = (call) =>
      call === "nodes update" && refused++ < 2 ? { ok: false, status: serviceUnavailable("no", 1), warnings: [] } : undefined;
    await pass(world, 75 * SEC);
    expect([refused > 2, world.ready("n")]).toEqual([true, "Unknown"]);
  });
});

describe("cost", () => {
  it("renewals: a look in a grace, which asks the store of Leases and no other, and no row", async () => {
    const world = await aWorld();
    await pass(world, 30 * SEC);
    const before = world.looks;
    const rows = vi.spyOn(world.lifecycleRows, "transaction");
    world.calls = [];
    await pass(world, 400 * SEC);
    expect(world.looks - before).toBe(8);
    expect([world.calls, rows.mock.calls]).toEqual([[], []]);
  });

  it("renewals, and an object that starts anew for each look: it reads the Nodes once, and writes no row", async () => {
    const world = await aWorld();
    await pass(world, 30 * SEC);
    const before = world.looks;
    const rows = vi.spyOn(world.lifecycleRows, "transaction");
    world.calls = [];
    for (let i = 0; i < 40; i++) {
      await pass(world, 10 * SEC);
      world.startLifecycle();
    }
    expect(world.looks - before).toBe(8);
    expect(world.calls).toEqual(
      Array(8)
        .fill("nodes objectsAfter")
        .flatMap((call) => [call, "nodes objectsSince"]),
    );
    expect(rows).not.toHaveBeenCalled();
  });

  it("a Node that is not ready, with its Pods marked: passes of the alarm do not read Pods", async () => {
    const world = await aWorld();
    await world.addNode("n", "True");
    await world.addPod("p", "n");
    await pass(world, 70 * SEC);
    expect(world.podReady("p")).toBe("False");
    await pass(world, 20 * SEC);
    world.calls = [];
    await pass(world, 100 * SEC);
    expect(world.calls.filter((call) => call.startsWith("pods"))).toEqual([]);
  });

  it("a cluster without Nodes that may become Unknown: no alarm", async () => {
    const world = new NodeWorld();
    await world.settle(10 * SEC);
    expect(world.alarm).toBeUndefined();
    await world.addNode("n", "True");
    await world.settle(120 * SEC);
    expect([world.ready("n"), world.alarm]).toEqual(["Unknown", undefined]);
    const looks = world.looks;
    await world.settle(600 * SEC);
    expect(world.looks).toBe(looks);
  });
});

describe("outages", () => {
  it("Leases that cannot be read for 2 minutes: the whole grace begins anew", async () => {
    const world = new NodeWorld();
    const names = await world.crowd(3);
    world.leasesFault = "down";
    await world.settle(120 * SEC);
    world.leasesFault = undefined;
    await world.settle(45 * SEC);
    expect(names.map((name) => world.ready(name))).toEqual(["True", "True", "True"]);
    await world.settle(20 * SEC);
    expect(names.map((name) => world.ready(name))).toEqual(["Unknown", "Unknown", "Unknown"]);
  });

  it("a history of Leases that runs out between two looks: only the silent Node becomes Unknown", async () => {
    const world = new NodeWorld();
    const names = await world.crowd(20);
    await world.addNode("silent", "True");
    await world.renew("silent");
    for (let i = 0; i < 12; i++) {
      const read = world.leases.store.revision;
      await world.renew(...names);
      expect(world.leases.store.floor, "the history begins behind the last look").toBeGreaterThan(read);
      await world.settle(10 * SEC);
    }
    expect(names.filter((name) => world.ready(name) !== "True")).toEqual([]);
    expect(world.ready("silent")).toBe("Unknown");
  });

  it("a disk on which nothing can be written for 2 minutes: the whole grace begins anew", async () => {
    const world = new NodeWorld();
    const names = await world.crowd(3);
    const full = vi.spyOn(world.lifecycleRows, "transaction").mockImplementation(() => {
      throw new Error("SQLITE_FULL");
    });
    await world.settle(120 * SEC);
    full.mockRestore();
    await world.settle(45 * SEC);
    expect(names.map((name) => world.ready(name))).toEqual(["True", "True", "True"]);
    await world.settle(20 * SEC);
    expect(names.map((name) => world.ready(name))).toEqual(["Unknown", "Unknown", "Unknown"]);
  });

  it.each([
    ["pods", 65],
    ["pods update", 65],
    ["nodes objectsNamed", 90],
  ])("calls of %s that hang: another Node that falls silent is Unknown %i s later", async (calls, seconds) => {
    const world = await aWorld();
    for (const name of ["drained", "n"]) await world.addNode(name, "True");
    await pass(world, 20 * SEC, "drained", "n");
    world.fault = (call) => (call.startsWith(calls) ? "silent" : undefined);
    await world.setReady("drained", "False");
    await pass(world, 65 * SEC, "drained");
    if (calls.startsWith("nodes")) world.fault = () => undefined;
    await pass(world, (seconds - 65) * SEC, "drained");
    expect([world.ready("n"), world.ready("alive-1")]).toEqual(["Unknown", "True"]);
  });

  it("Pods whose marking takes minutes: another Node that falls silent becomes Unknown meanwhile, and all Pods lose Ready", async () => {
    const world = await aWorld();
    for (const name of ["rack", "n"]) await world.addNode(name, "True");
    const pods = Array.from({ length: 160 }, (_, i) => `p${i}`);
    for (const name of pods) await world.addPod(name, "rack");
    await pass(world, 20 * SEC, "rack", "n");
    world.callMs = (call) => (call === "pods update" ? 12 * SEC : 1);
    await world.setReady("rack", "False");
    await pass(world, 70 * SEC, "rack");
    const marked = (): number => pods.filter((name) => world.podReady(name) === "False").length;
    expect([world.ready("n"), marked() > 0, marked() < 160]).toEqual(["Unknown", true, true]);
    world.startLifecycle();
    world.poke();
    await pass(world, 120 * SEC, "rack");
    expect(marked()).toBe(160);
  });

  it("Nodes that cannot be read while Pods are marked: one that falls silent becomes Unknown a grace after they can", async () => {
    const world = await aWorld();
    for (const name of ["rack", "n"]) await world.addNode(name, "True");
    for (let i = 0; i < 160; i++) await world.addPod(`p${i}`, "rack");
    await pass(world, 20 * SEC, "rack", "n");
    world.callMs = (call) => (call === "pods update" ? 12 * SEC : 1);
    await world.setReady("rack", "False");
    await pass(world, 10 * SEC, "rack");
    world.fault = (call) => (call === "nodes objectsSince" ? "down" : undefined);
    await pass(world, 20 * SEC, "rack");
    world.fault = () => undefined;
    await pass(world, 75 * SEC, "rack");
    expect([world.ready("n"), world.ready("alive-1")]).toEqual(["Unknown", "True"]);
  });

  it("a renewal at any time: the Node becomes Unknown 50 to 56 s after it", async () => {
    for (let renewedMs = 0; renewedMs < 11 * SEC; renewedMs += 370) {
      const world = await aWorld();
      await world.addNode("n", "True");
      await pass(world, 60 * SEC, "n");
      await world.settle(renewedMs % (10 * SEC));
      await world.renew("n");
      const at = world.scheduler.now;
      while (world.ready("n") !== "Unknown") {
        if ((world.scheduler.now - at) % (10 * SEC) === 0) await world.renew("alive-1", "alive-2");
        await world.settle(500);
      }
      const silentMs = world.scheduler.now - at;
      expect([silentMs > 50 * SEC, silentMs <= 56 * SEC], String(silentMs)).toEqual([true, true]);
    }
  }, 60_000);

  it("a store of Leases that starts after the last renewal: the Node becomes Unknown within 72 s", async () => {
    const world = await aWorld();
    await world.addNode("n", "True");
    await pass(world, 20 * SEC, "n");
    await world.renew("n");
    // Nobody else calls it: so it starts with the look.
    await world.settle(50 * SEC);
    world.restartLeases();
    await world.settle(10 * SEC);
    expect(world.ready("n")).toBe("True");
    await world.settle(12 * SEC);
    expect(world.ready("n")).toBe("Unknown");
  });

  it("a store of Leases that was away for 40 s between two looks: Nodes that renew behind it stay Ready", async () => {
    const world = new NodeWorld();
    const names = await world.crowd(3);
    await world.passRenewing(5 * SEC, ...names);
    const looks = world.looks;
    await world.settle(39 * SEC);
    expect(world.looks - looks, "nobody has noticed").toBeLessThan(2);
    world.restartLeases();
    await world.settle(11 * SEC);
    await world.passRenewing(60 * SEC, ...names);
    expect(names.map((name) => world.ready(name))).toEqual(["True", "True", "True"]);
  });

  it("a store of Leases of the release before: one look in a period, and the Node becomes Unknown within 60 s", async () => {
    const world = await aWorld();
    world.leasesTellTimes = false;
    await world.addNode("n", "True");
    await pass(world, 20 * SEC, "n");
    const looks = world.looks;
    await pass(world, 40 * SEC, "n");
    expect(world.looks - looks).toBe(8);
    await world.renew("n");
    await pass(world, 50 * SEC);
    expect(world.ready("n")).toBe("True");
    await pass(world, 10 * SEC);
    expect([world.ready("n"), world.ready("alive-1")]).toEqual(["Unknown", "True"]);
    world.leasesTellTimes = true;
    await pass(world, 60 * SEC);
    expect(world.ready("alive-1")).toBe("True");
  });

  it("an object that starts again every 7 s: a Node that is silent becomes Unknown all the same", async () => {
    const world = await aWorld();
    await world.addNode("n", "True");
    await world.renew("n");
    for (let i = 0; i < 12; i++) {
      await pass(world, 7 * SEC);
      world.startLifecycle();
    }
    expect([world.ready("n"), world.ready("alive-1")]).toEqual(["Unknown", "True"]);
    expect(world.toldReasons.filter((one) => one.startsWith("RegisteredNode"))).toHaveLength(3);
  });
});

upstreamRow("nodelifecycle: TestMonitorNodeHealthMarkPodsNotReady(+Retry)", () => {
  async function withPods(): Promise<NodeWorld> {
    const world = await aWorld();
    await world.addNode("n", "True");
    await world.addPod("there", "n");
    await world.addPod("elsewhere", "alive-1");
    await world.settle();
    return world;
  }

  it("a Node that left Ready: its Pods lose Ready with an event each, and get it back from their writer alone", async () => {
    const world = await withPods();
    await pass(world, 65 * SEC);
    expect([world.podReady("there"), world.podReady("elsewhere")]).toEqual(["False", "True"]);
    expect(world.told.find(({ regarding }) => regarding.name === "there")).toMatchObject({
      type: "Warning",
      reason: "NodeNotReady",
      note: "Node is not ready",
    });
    await world.addPod("there", "n");
    await pass(world, 60 * SEC, "n");
    expect(world.podReady("there")).toBe("True");
  });

  it("its slices: drained", async () => {
    const world = await aWorld();
    await world.addNode("n", "True");
    await world.putService(aService());
    await world.putPod(aPod({ nodeName: "n" }));
    await pass(world, 20 * SEC, "n");
    expect(world.slices[0]?.endpoints[0]?.conditions?.ready).toBe(true);
    await pass(world, 70 * SEC);
    expect(world.slices[0]?.endpoints[0]?.conditions?.ready).toBe(false);
  });

  it("a status writer that sets Ready to False: the Node's Pods lose Ready, too", async () => {
    const world = await withPods();
    await world.setReady("n", "False");
    await world.settle();
    expect(world.podReady("there")).toBe("False");
  });

  it("a Pod that comes to a Node that is not ready: loses Ready", async () => {
    const world = await withPods();
    await world.setReady("n", "False");
    await world.settle();
    await world.addPod("late", "n");
    await world.settle();
    expect(world.podReady("late")).toBe("False");
  });

  it("a Pod that comes to a Node that is not ready, and whose poke is lost: loses Ready with the next cron", async () => {
    const world = await withPods();
    await world.setReady("n", "False");
    await pass(world, 10 * SEC, "n");
    const lost = vi.spyOn(world, "poke").mockReturnValue();
    await world.addPod("late", "n");
    await pass(world, 13 * SEC, "n");
    expect(world.podReady("late")).toBe("True");
    world.ask();
    await pass(world, 2 * SEC, "n");
    expect(world.podReady("late")).toBe("False");
    lost.mockRestore();
  });

  it("a Pod that comes to a Node that is not ready, beyond the history of its store: loses Ready, too", async () => {
    const world = await withPods();
    await world.setReady("n", "False");
    await world.settle();
    world.stopLifecycle();
    await world.addPod("late", "n");
    world.lifecycleRows.cursorPut("pods", { incarnation: "of a store before", revision: 1 });
    world.startLifecycle();
    world.ask();
    await pass(world, 10 * SEC);
    expect(world.podReady("late")).toBe("False");
  });

  describe("a Node that never was Ready and becomes Unknown after the startup grace", () => {
    /** Brings Pod `early` to Node `n`, which has no conditions, and waits until `n` is Unknown. */
    async function becomesUnknown(world: NodeWorld): Promise<void> {
      await world.addNode("n");
      await world.addPod("early", "n");
      await pass(world, 70 * SEC, "read", "bad");
      expect(world.ready("n")).toBe("Unknown");
    }

    /** A history of Pods that the controller cannot continue: it reads the whole list. */
    const endHistory = (world: NodeWorld): void => {
      world.stopLifecycle();
      world.lifecycleRows.cursorPut("pods", { incarnation: "of a store before", revision: 1 });
      world.startLifecycle();
    };

    /** Another Node loses Ready, so the Pods are read; it is Ready again in the end if it `recovers`. */
    async function otherNotReady(world: NodeWorld, name: string, recovers: boolean): Promise<void> {
      await world.addNode(name, "True");
      await world.settle();
      await world.setReady(name, "False");
      await pass(world, 5 * SEC, name);
      if (recovers) await world.setReady(name, "True");
      await pass(world, 5 * SEC, name);
    }

    it.each<[string, (world: NodeWorld) => Promise<void> | void, ((world: NodeWorld) => void)?]>([
      ["in a cluster whose Pods were never read", () => undefined],
      ["in a cluster whose Pods were read before", (world) => otherNotReady(world, "read", true)],
      ["while another Node is not ready", (world) => otherNotReady(world, "bad", false)],
      ["beyond the history of Pods", (world) => otherNotReady(world, "read", true), endHistory],
    ])("%s: Pods that came before keep Ready, and one that comes later loses it", async (_, before, afterBind = () => undefined) => {
      const world = await aWorld();
      await before(world);
      await world.addNode("n");
      await world.addPod("early", "n");
      await pass(world, 20 * SEC, "read", "bad");
      afterBind(world);
      await pass(world, 90 * SEC, "read", "bad");
      expect([world.ready("n"), world.podReady("early")]).toEqual(["Unknown", "True"]);
      await world.addPod("late", "n");
      await pass(world, 5 * SEC, "read", "bad");
      expect([world.podReady("early"), world.podReady("late")]).toEqual(["True", "False"]);
    });

    it("a store of Pods that is down then, and a crash: Pods that came before keep Ready", async () => {
      const world = await aWorld();
      await otherNotReady(world, "read", true);
      world.fault = (call) => (call.startsWith("pods") ? "down" : undefined);
      await becomesUnknown(world);
      world.startLifecycle();
      await pass(world, 10 * SEC, "read");
      world.fault = () => undefined;
      await pass(world, 10 * SEC, "read");
      expect(world.podReady("early")).toBe("True");
    });

    it("a relist long after: a Pod that it has not met loses Ready, and one that came before keeps it", async () => {
      const world = await aWorld();
      await becomesUnknown(world);
      await pass(world, 60 * SEC);
      world.stopLifecycle();
      await world.addPod("late", "n");
      endHistory(world);
      world.ask();
      await pass(world, 10 * SEC);
      expect([world.podReady("early"), world.podReady("late")]).toEqual(["True", "False"]);
    });
  });

  it("a Node that is not ready when it is first met: Pods that came before keep Ready", async () => {
    const world = await withPods();
    await world.setReady("n", "False");
    await world.settle();
    await world.addPod("early", "new");
    await pass(world, 5 * SEC, "n");
    await world.addNode("new", "False");
    await pass(world, 5 * SEC, "n");
    world.stopLifecycle();
    await world.addPod("meanwhile", "newer");
    await world.addNode("newer", "False");
    world.startLifecycle();
    world.poke();
    await pass(world, 5 * SEC, "n");
    await world.addPod("late", "newer");
    await pass(world, 5 * SEC, "n");
    expect(["early", "meanwhile", "late"].map((name) => world.podReady(name))).toEqual(["True", "True", "False"]);
  });

  it("a Pod whose mark is refused: logged once and tried at growing intervals; other Pods keep the Ready that they get back", async () => {
    const world = await withPods();
    await world.addPod("bad", "n");
    await pass(world, 5 * SEC, "n");
    const refusal: WriteResult = { ok: false, status: invalid({ group: "", resource: "pods", kind: "Pod" }, "bad", []), warnings: [] };
    let refused = 0;
    world.fault = (call, object) => {
      if (call !== "pods update" || !object.includes('"name":"bad"')) return undefined;
      refused++;
      return refusal;
    };
    await world.setReady("n", "False");
    await pass(world, 5 * SEC, "n");
    expect([world.podReady("there"), refused]).toEqual(["False", 1]);
    await world.addPod("there", "n");
    await pass(world, 600 * SEC, "n");
    expect(world.podReady("there")).toBe("True");
    expect(refused).toBeLessThan(10);
    expect(world.logged.filter((line) => line.includes("refused a write"))).toHaveLength(1);
    world.fault = () => undefined;
    await pass(world, 310 * SEC, "n");
    expect(world.podReady("bad")).toBe("False");
  });

  it("a store of Pods that is down, and a crash meanwhile: the Pods lose Ready when it is back", async () => {
    const world = await withPods();
    world.fault = (call) => (call.startsWith("pods") ? "down" : undefined);
    await pass(world, 65 * SEC);
    expect([world.ready("n"), world.podReady("there")]).toEqual(["Unknown", "True"]);
    world.startLifecycle();
    await pass(world, 10 * SEC);
    world.fault = () => undefined;
    await pass(world, 10 * SEC);
    expect(world.podReady("there")).toBe("False");
  });
});

upstreamRow("nodelifecycle: TestApplyNoExecuteTaints, TestSwapUnreachableNotReadyTaints, TestTaintsNodeByCondition", () => {
  it("conditions and spec.unschedulable: NoSchedule taints that come and go; foreign taints stay", async () => {
    const world = await aWorld();
    const conditions = ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"].map((type) => ({ type, status: "True" }));
    const foreign = { key: "dedicated", effect: "NoSchedule" };
    await world.addNode("n", "False", { conditions, unschedulable: true, taints: [foreign] });
    await pass(world, 2 * SEC);
    const scheduling = ["disk-pressure", "memory-pressure", "network-unavailable", "not-ready", "pid-pressure", "unschedulable"];
    expect(world.taints("n").filter((one) => one.endsWith(":NoSchedule"))).toEqual(
      ["dedicated", ...scheduling].map((key) => `${key}:NoSchedule`),
    );
    await world.patch("nodes", "n", { spec: { unschedulable: false } });
    await world.setReady("n", "True");
    await pass(world, 5 * SEC);
    expect(world.taints("n")).toContain("memory-pressure:NoSchedule");
    expect(world.taints("n").filter((one) => /unschedulable|not-ready/.test(one))).toEqual([]);
  });

  it("Nodes of one zone that are not ready: a NoExecute taint every 10 s", async () => {
    const world = await aWorld();
    for (const name of ["a", "b"]) await world.addNode(name, "True");
    await world.settle();
    for (const name of ["a", "b"]) await world.setReady(name, "False");
    const tainted = (): number => ["a", "b"].filter((name) => world.taints(name).includes("not-ready:NoExecute")).length;
    await pass(world, 3 * SEC, "a", "b");
    expect(tainted()).toBe(1);
    await pass(world, 5 * SEC, "a", "b");
    expect(tainted()).toBe(1);
    await pass(world, 5 * SEC, "a", "b");
    expect(tainted()).toBe(2);
  });

  it("a Node that goes from not ready to Unknown: its taints follow at once, and Ready removes them", async () => {
    const world = await aWorld();
    await world.addNode("n", "True");
    await world.settle();
    await world.setReady("n", "False");
    await pass(world, 5 * SEC);
    expect(world.taints("n")).toEqual(["not-ready:NoExecute", "not-ready:NoSchedule"]);
    await pass(world, 60 * SEC);
    expect(world.taints("n")).toEqual(["unreachable:NoExecute", "unreachable:NoSchedule"]);
    await world.setReady("n", "True");
    await pass(world, 5 * SEC);
    expect(world.taints("n")).toEqual([]);
  });

  it("a new Node: has an event, and loses NoExecute taints from an earlier time", async () => {
    const world = new NodeWorld();
    const taints = [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }];
    await world.addNode("n", undefined, { taints });
    await world.settle();
    expect([world.taints("n"), world.toldReasons]).toEqual([[], ["RegisteredNode n"]]);
    await world.delete("nodes", "n");
    await world.settle();
    expect(world.toldReasons).toEqual(["RegisteredNode n", "RemovingNode n"]);
  });

  it("all zones fully disrupted: NoExecute taints go and others stay; when the first Node is back, every Node has the whole grace", async () => {
    const world = new NodeWorld();
    for (const name of ["a", "b", "c"]) await world.addNode(name, "True");
    await world.passRenewing(10 * SEC, "a", "b", "c");
    await world.passRenewing(65 * SEC, "b", "c");
    expect(world.taints("a")).toEqual(["unreachable:NoExecute", "unreachable:NoSchedule"]);
    await world.settle(65 * SEC);
    for (const name of ["a", "b", "c"]) expect(world.taints(name)).toEqual(["unreachable:NoSchedule"]);
    await world.settle(300 * SEC);
    for (const name of ["a", "b", "c"]) expect(world.taints(name)).toEqual(["unreachable:NoSchedule"]);
    await world.setReady("b", "True");
    await world.passRenewing(30 * SEC, "b");
    expect([...world.taints("a"), ...world.taints("c")].filter((one) => one.endsWith("NoExecute"))).toHaveLength(2);
  });
});
