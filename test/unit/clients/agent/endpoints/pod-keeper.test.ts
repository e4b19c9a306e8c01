import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../../src/api/meta/kubernetes";
import { ownAnnotation, writtenOwn } from "../../../../../src/api/meta/own-annotation";
import { podFacts } from "../../../../../src/endpoints/sources/pod-facts";
import { ADDRESS, MachineWorld, NODE } from "../../../../support/worlds/machine-world";

const SECOND = 1_000;
const WEB = "- {name: web, port: 8080, labels: {app: web}}";
const CHECKED = "- {name: web, port: 8080, check: {tcp: }}";
const OFF = "info: an endpoint is off until its entry changes";
const IN_PLACE = "error: a Pod of somebody else has the name of an endpoint: the endpoint waits until that Pod is gone";
const DRAINING = "info: the endpoints drain; another Ctrl-C, a second later, ends the agent at once";
const UNUSABLE = "error: the file of endpoints cannot be used; the last good set stays";

/** A machine whose agent runs with this file. */
async function machine(text: string, healthy: number[] = []): Promise<MachineWorld> {
  const world = new MachineWorld();
  world.text = text;
  for (const port of healthy) world.healthy.add(port);
  expect(await world.start()).toBeUndefined();
  await world.pass(15 * SECOND);
  return world;
}

const foreign = (name: string, spec: object = {}): Pod => ({
  metadata: { name, namespace: "default" },
  spec: { nodeName: NODE, containers: [{ name: "c", image: "i" }], ...spec },
});

describe("Pod of an endpoint", () => {
  it("without a check: bound to the node, ready at once, with a named port", async () => {
    const world = await machine(WEB);
    const pod = world.pod("web.n1");
    expect(podFacts(pod ?? {})).toMatchObject({
      ...{ name: "web.n1", namespace: "default", labels: { app: "web" }, ips: [ADDRESS], nodeName: NODE },
      ...{ ready: true, terminating: false, finished: false, ports: [{ name: "web", protocol: "TCP", port: 8080 }] },
    });
    expect(pod?.spec).toMatchObject({ hostNetwork: true, terminationGracePeriodSeconds: 30 });
    expect(pod?.spec?.tolerations?.map(({ key, effect, tolerationSeconds }) => [key, effect, tolerationSeconds])).toEqual([
      ["node.kubernetes.io/not-ready", "NoExecute", undefined],
      ["node.kubernetes.io/unreachable", "NoExecute", undefined],
      ["node.kubernetes.io/disk-pressure", "NoSchedule", undefined],
      ["node.kubernetes.io/memory-pressure", "NoSchedule", undefined],
      ["node.kubernetes.io/pid-pressure", "NoSchedule", undefined],
      ["node.kubernetes.io/unschedulable", "NoSchedule", undefined],
      ["node.kubernetes.io/network-unavailable", "NoSchedule", undefined],
    ]);
    expect(pod?.status).toMatchObject({ phase: "Running", hostIP: ADDRESS, podIP: ADDRESS });
    expect(pod?.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      "Initialized=True",
      "Ready=True",
      "ContainersReady=True",
      "PodScheduled=True",
    ]);
  });

  it("is made and told of with two writes; then the agent is silent", async () => {
    const world = await machine(WEB);
    await world.pass(600 * SECOND);
    expect(world.writes.map((write) => write.replace(/ \{.*/, ""))).toEqual([
      "POST /api/v1/namespaces/default/pods",
      "PATCH /api/v1/namespaces/default/pods/web.n1/status",
    ]);
    expect(world.logged).toEqual([]);
  });

  it("on a node of two families: has the first address of each, in the server's form", async () => {
    const world = new MachineWorld();
    await world.start(["web=80"], ["2001:DB8::1", "10.0.0.1", "10.0.0.2", "2001:db8::2"]);
    await world.pass(60 * SECOND);
    expect(world.pod("web.n1")?.status?.podIPs).toEqual([{ ip: "2001:db8::1" }, { ip: "10.0.0.1" }]);
    expect(world.writes).toHaveLength(2);
  });

  it("after a restart with another address of the node: has the new one", async () => {
    const world = new MachineWorld();
    await world.start(["web=80"], ["10.0.0.1"]);
    await world.pass(15 * SECOND);
    const before = world.pod("web.n1");
    world.crash();
    await world.start(["web=80"], ["10.0.0.2"]);
    await world.pass(15 * SECOND);
    expect(world.pod("web.n1")?.metadata?.uid).toBe(before?.metadata?.uid);
    expect(podFacts(world.pod("web.n1") ?? {})).toMatchObject({ ips: ["10.0.0.2"], ready: true });
  });

  it("with a check: is not ready before its probe, then as its probe says", async () => {
    const world = await machine(CHECKED);
    expect(world.brief).toEqual(["web.n1:8080 not ready"]);
    expect(world.pod("web.n1")?.status?.conditions?.[1]).toMatchObject({
      ...{ type: "Ready", status: "False", reason: "ContainersNotReady", message: "containers with unready status: [web]" },
    });
    const since = world.pod("web.n1")?.status?.conditions?.[1]?.lastTransitionTime;
    world.healthy.add(8080);
    await world.pass(11 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
    expect(world.pod("web.n1")?.status?.conditions?.[1]?.lastTransitionTime).not.toBe(since);
    world.healthy.delete(8080);
    await world.pass(15 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
    await world.pass(16 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 not ready"]);
  });

  it("marked as not ready by somebody else: is told to be ready again, conditions of others stay", async () => {
    const world = await machine(WEB);
    const pod = world.pod("web.n1");
    const conditions = [
      { type: "Ready", status: "False" },
      { type: "example.com/Gate", status: "True" },
    ];
    await world.pods.update({ ...pod, status: { ...pod?.status, conditions } } as Pod, { group: "" }, "status");
    await world.pass(2 * SECOND);
    expect(world.pod("web.n1")?.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      "Initialized=True",
      "Ready=True",
      "ContainersReady=True",
      "PodScheduled=True",
      "example.com/Gate=True",
    ]);
  });
});

describe("changed file", () => {
  it("another label: the Pod stays, labels of others too", async () => {
    const world = await machine(WEB);
    const uid = world.pod("web.n1")?.metadata?.uid;
    await world.userPatches("web.n1", { metadata: { labels: { mine: "x" } } });
    world.text = "- {name: web, port: 8080, labels: {tier: front}}";
    await world.pass(5 * SECOND);
    expect(world.pod("web.n1")?.metadata).toMatchObject({ uid, labels: { mine: "x", tier: "front" } });
    expect(world.pod("web.n1")?.metadata?.labels).not.toHaveProperty("app");
  });

  it("another port: the Pod drains, then there is a new one", async () => {
    const world = await machine(WEB);
    world.text = "- {name: web, port: 9090}";
    await world.pass(5 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready …"]);
    await world.pass(31 * SECOND);
    expect(world.brief).toEqual(["web.n1:9090 ready"]);
  });

  it("an entry less: its Pod drains for the entry's time, its probe goes on", async () => {
    const world = await machine("- {name: web, port: 8080, drainSeconds: 60, check: {tcp: }}", [8080]);
    world.text = "[]";
    await world.pass(10 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready …"]);
    world.healthy.delete(8080);
    await world.pass(40 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 not ready …"]);
    await world.pass(15 * SECOND);
    expect(world.brief).toEqual([]);
  });

  it("another drain time: counts for the Pod that is there", async () => {
    const world = await machine(WEB);
    world.text = "- {name: web, port: 8080, drainSeconds: 3}";
    await world.pass(5 * SECOND);
    world.text = "[]";
    await world.pass(7 * SECOND);
    expect(world.brief).toEqual([]);
  });

  it("another check of a ready Pod: stays ready until the new one has failed", async () => {
    const world = await machine(CHECKED, [8080]);
    world.text = "- {name: web, port: 8080, check: {tcp: {port: 9}}}";
    await world.pass(10 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
    await world.pass(25 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 not ready"]);
  });

  it.each<[what: string, text: string | undefined]>([
    ["faulty", "- {name: web"],
    ["missing", undefined],
    ["empty", ""],
  ])("%s: the last good set stays, which is said once; the next good one counts", async (_, text) => {
    const world = await machine(WEB);
    world.text = text;
    await world.pass(60 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
    expect(world.logged).toEqual([UNUSABLE]);
    world.text = "[]";
    await world.pass(40 * SECOND);
    expect(world.brief).toEqual([]);
    expect(world.logged).toEqual([UNUSABLE, "info: the file of endpoints is good again"]);
  });

  it("good for one look alone, as while an editor writes: does not count", async () => {
    const world = await machine(WEB);
    world.text = "[]";
    await world.pass(1 * SECOND);
    world.text = WEB;
    await world.pass(60 * SECOND);
    expect(world.writes).toHaveLength(2);
  });

  it("has an endpoint of the options: is faulty", async () => {
    const world = new MachineWorld();
    await world.start(["web=80"]);
    world.text = WEB;
    await world.pass(5 * SECOND);
    expect([world.brief, world.logged]).toEqual([["web.n1:80 ready"], [UNUSABLE]]);
  });
});

describe("start of the agent", () => {
  it.each<[what: string, flags: string[], text: string | undefined, error: string]>([
    ["a faulty file that was never good", [], "- {name: 1}", "endpoints.yaml: endpoints[0].name: Invalid value: 1"],
    ["a file that is not there and never was", [], undefined, "endpoints.yaml: no such file"],
    ["a bad option", ["web"], "[]", "--endpoint web: must begin with NAME=PORT"],
    ["an option twice", ["web=80", "web=81"], "[]", "--endpoint web=81: there are two of this name"],
    ["an endpoint in an option and in the file", ["web=80"], WEB, "endpoints.yaml: endpoint default/web is given by --endpoint, too"],
  ])("%s: refused with one line", async (_, flags, text, error) => {
    const world = new MachineWorld();
    world.text = text;
    expect(await world.start(flags)).toContain(error);
  });

  it("again with a faulty file: the last good set counts", async () => {
    const world = await machine(WEB);
    world.crash();
    world.text = "- {";
    expect(await world.start()).toBeUndefined();
    await world.pass(60 * SECOND);
    expect([world.brief, world.logged]).toEqual([["web.n1:8080 ready"], [UNUSABLE]]);
  });

  it("again: takes its Pods over without a write; those that the file has no more drain", async () => {
    const world = await machine(`${CHECKED}\n- {name: old, port: 1}`, [8080]);
    world.crash();
    world.text = CHECKED;
    world.writes.length = 0;
    await world.start();
    await world.pass(40 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
    expect(world.writes.filter((write) => write.includes("web.n1"))).toEqual([]);
  });

  it.each<[what: string, unfinished: string[], hasState: boolean]>([
    ["half of it", ["- {name: web, port: 8080}\n"], true],
    ["nothing yet", [""], true],
    ["more at each look", ["", "- {name: web, port: 8080}\n", "- {name: web, port: 8080}\n- {name: old, p"], true],
    ["half of it, its own state lost", ["- {name: web, port: 8080}\n"], false],
  ])("again while the file is written (%s): nothing drains", async (_, unfinished, hasState) => {
    const world = await machine("- {name: web, port: 8080}\n- {name: old, port: 1}\n");
    world.crash();
    if (!hasState) world.state.clear();
    world.text += "- {name: new, port: 2}\n";
    world.unfinished.push(...unfinished);
    world.writes.length = 0;
    expect(await world.start()).toBeUndefined();
    await world.pass(40 * SECOND);
    expect(world.brief).toEqual(["new.n1:2 ready", "old.n1:1 ready", "web.n1:8080 ready"]);
    expect(world.writes.filter((write) => !write.includes("new"))).toEqual([]);
    expect(world.logged).toEqual([]);
  });

  it("while the file changes at each look: refused with one line, or the last good set counts", async () => {
    const changing = Array.from({ length: 10 }, (_, i) => `- {name: web, port: ${String(i + 1)}}`);
    const world = new MachineWorld();
    world.unfinished.push(...changing);
    expect(await world.start()).toBe("endpoints.yaml: it has changed at each of 10 looks");
    const known = await machine(WEB);
    known.crash();
    known.unfinished.push(...changing);
    expect(await known.start()).toBeUndefined();
    await known.pass(40 * SECOND);
    expect([known.brief, known.logged]).toEqual([["web.n1:8080 ready"], [UNUSABLE, "info: the file of endpoints is good again"]]);
  });

  it("again with lost state: the same", async () => {
    const world = await machine(WEB);
    world.crash();
    world.state.clear();
    world.writes.length = 0;
    await world.start();
    await world.pass(40 * SECOND);
    expect([world.brief, world.writes]).toEqual([["web.n1:8080 ready"], []]);
  });

  it.each([
    ["back", 3_600],
    ["forward", -3_600],
  ])("again with a clock that was set %s: a check begins after its delay at the latest", async (_, aheadSeconds) => {
    const world = new MachineWorld();
    world.aheadMs = aheadSeconds * SECOND;
    world.text = "- {name: web, port: 8080, check: {tcp: , initialDelaySeconds: 20}}";
    world.healthy.add(8080);
    await world.start();
    await world.pass(15 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 not ready"]);
    world.crash();
    world.aheadMs = 0;
    await world.start();
    await world.pass(35 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
  });

  it("with damaged state: says so and goes on", async () => {
    const world = new MachineWorld();
    world.state.set("endpoints.json", "{");
    await world.start(["web=80"]);
    await world.pass(5 * SECOND);
    expect([world.brief, world.logged]).toEqual([["web.n1:80 ready"], ["warn: the state of endpoints is damaged and begins anew"]]);
  });

  it("in the middle of its own drain: the Pod goes, and a new one comes, since the file has it", async () => {
    const world = await machine(WEB);
    void world.keeper?.stop();
    await world.pass(5 * SECOND);
    world.crash();
    await world.start();
    await world.pass(5 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready …"]);
    await world.pass(40 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
  });
});

describe("Pod that a user deletes", () => {
  it("drains, goes and stays off, also after a restart, until its entry changes", async () => {
    const world = await machine(WEB);
    await world.userDeletes("web.n1");
    await world.pass(20 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready …"]);
    await world.pass(60 * SECOND);
    expect([world.brief, world.logged]).toEqual([[], [OFF]]);
    world.crash();
    await world.start();
    await world.pass(60 * SECOND);
    expect(world.brief).toEqual([]);
    world.text = "- {name: web, port: 8080, labels: {app: web, v: '2'}}";
    await world.pass(5 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
  });

  it("is off until its entry has gone and come back", async () => {
    const world = await machine(WEB);
    await world.userDeletes("web.n1", 1);
    await world.pass(10 * SECOND);
    world.text = "[]";
    await world.pass(5 * SECOND);
    world.text = WEB;
    await world.pass(5 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
  });

  it.each([
    ["while it drains", 5],
    ["when it is gone", 60],
  ])("then its entry is another one and the old one again %s: is on, also later", async (_, seconds) => {
    const other = "- {name: web, port: 8080, labels: {app: web, v: '2'}}";
    const world = await machine(WEB);
    await world.userDeletes("web.n1");
    await world.pass(5 * SECOND);
    world.text = other;
    await world.pass(seconds * SECOND);
    world.text = WEB;
    await world.pass(60 * SECOND);
    expect([world.brief, world.logged]).toEqual([["web.n1:8080 ready"], [OFF]]);
    world.text = other;
    await world.pass(5 * SECOND);
    world.text = WEB;
    await world.pass(60 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
  });

  it("when it is not that of its entry yet: nothing is off", async () => {
    const world = await machine(WEB);
    world.hangs = (write) => write.startsWith("PATCH");
    world.text = "- {name: web, port: 8080, labels: {app: web, v: '2'}}";
    await world.pass(2 * SECOND);
    await world.userDeletes("web.n1");
    await world.pass(2 * SECOND);
    world.hangs = () => false;
    world.text = WEB;
    await world.pass(90 * SECOND);
    expect([world.brief, world.logged]).toEqual([["web.n1:8080 ready"], []]);
  });

  it.each<[what: string, grace: number, left: string[]]>([
    ["with a shorter grace: goes after it", 2, []],
    ["with a longer grace: drains as long", 300, ["web.n1:8080 ready …"]],
    ["by force: goes at once and is off", 0, []],
  ])("%s", async (_, grace, left) => {
    const world = await machine(WEB);
    await world.userDeletes("web.n1", grace);
    await world.pass(60 * SECOND);
    expect([world.brief, world.logged]).toEqual([left, [OFF]]);
  });

  it("while the agent is away: the same", async () => {
    const world = await machine(WEB);
    world.crash();
    await world.userDeletes("web.n1");
    await world.start();
    await world.pass(60 * SECOND);
    expect([world.brief, world.logged]).toEqual([[], [OFF]]);
  });

  it("while the disk is full: is off, and that is kept when there is space again", async () => {
    const world = await machine(WEB);
    world.isDiskFull = true;
    await world.userDeletes("web.n1", 1);
    await world.pass(10 * SECOND);
    expect([world.brief, world.logged]).toEqual([[], [OFF, "error: the state of endpoints cannot be saved"]]);
    world.isDiskFull = false;
    await world.userMakes(foreign("other"));
    await world.pass(10 * SECOND);
    world.crash();
    await world.start();
    await world.pass(10 * SECOND);
    expect(world.brief).toEqual(["other: Failed"]);
  });

  it("held by a finalizer: is over after its drain time, and goes with the finalizer", async () => {
    const world = await machine(WEB);
    await world.userPatches("web.n1", { metadata: { finalizers: ["example.com/held"] } });
    await world.userDeletes("web.n1", 2);
    await world.pass(60 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 Succeeded …"]);
    expect(world.writes.length).toBeLessThan(6);
    await world.userPatches("web.n1", { metadata: { finalizers: null } });
    expect(world.brief).toEqual([]);
  });
});

describe("Pod that a controller deletes", () => {
  /** As the controllers do it: a condition first. */
  const disrupted = async (world: MachineWorld, reason: string, phase: string): Promise<void> => {
    const pod = world.pod("web.n1");
    const conditions = [...(pod?.status?.conditions ?? []), { type: "DisruptionTarget", status: "True", reason }];
    await world.pods.update({ ...pod, status: { ...pod?.status, phase, conditions } } as Pod, { group: "" }, "status");
  };

  it("the collector of Pods, after their Node: the endpoint is on", async () => {
    const world = await machine(WEB);
    await disrupted(world, "DeletionByPodGC", "Failed");
    await world.userDeletes("web.n1", 0);
    await world.pass(20 * SECOND);
    expect([world.brief, world.logged]).toEqual([["web.n1:8080 ready"], []]);
  });

  it.each(["EvictionByEvictionAPI", "DeletionByTaintManager"])("%s: drains, goes and stays off, as by a user", async (reason) => {
    const world = await machine(WEB);
    await disrupted(world, reason, "Running");
    await world.userDeletes("web.n1");
    await world.pass(60 * SECOND);
    expect([world.brief, world.logged]).toEqual([[], [OFF]]);
  });
});

describe("Node that is made anew", () => {
  it("has all endpoints: what was off belonged to the Node before", async () => {
    const world = await machine(WEB);
    await world.userDeletes("web.n1", 0);
    await world.pass(5 * SECOND);
    world.crash();
    world.nodeUid = "another";
    await world.start();
    await world.pass(5 * SECOND);
    expect([world.brief, world.logged]).toEqual([["web.n1:8080 ready"], [OFF]]);
  });

  it("keeps what is off since, also after a restart", async () => {
    const world = await machine(WEB);
    world.crash();
    world.nodeUid = "another";
    for (let start = 0; start < 2; start++) {
      await world.start();
      await world.pass(5 * SECOND);
      if (start === 0) await world.userDeletes("web.n1", 0);
      await world.pass(5 * SECOND);
      world.crash();
    }
    expect(world.brief).toEqual([]);
  });
});

describe("Pod of somebody else on the node", () => {
  it("is Failed with a reason, once", async () => {
    const world = await machine("[]");
    await world.userMakes(foreign("nginx"));
    await world.pass(60 * SECOND);
    expect(world.pod("nginx")?.status).toMatchObject({ phase: "Failed", reason: "NodeCannotRunPods" });
    expect(world.writes).toHaveLength(1);
  });

  it("deleted: is finished", async () => {
    const world = await machine("[]");
    world.crash();
    await world.userMakes(foreign("nginx"));
    await world.userDeletes("nginx");
    expect(world.brief).toEqual(["nginx: Pending …"]);
    await world.start();
    await world.pass(5 * SECOND);
    expect(world.brief).toEqual([]);
  });

  it("in the place of an endpoint: the endpoint waits until it is gone", async () => {
    const world = new MachineWorld();
    await world.userMakes(foreign("web.n1"));
    await world.start(["web=80"]);
    await world.pass(10 * SECOND);
    expect(world.brief).toEqual(["web.n1: Failed"]);
    await world.userPatches("web.n1", { metadata: { labels: { a: "b" } } });
    await world.pass(60 * SECOND);
    expect(world.logged).toEqual([IN_PLACE]);
    await world.userDeletes("web.n1");
    await world.pass(5 * SECOND);
    expect(world.brief).toEqual(["web.n1:80 ready"]);
    expect(world.logged).toEqual([IN_PLACE]);
  });

  it("that nobody wants, in the place of an endpoint that is off: nothing is said", async () => {
    const world = await machine(WEB);
    await world.userDeletes("web.n1", 0);
    await world.pass(5 * SECOND);
    await world.userMakes(foreign("web.n1"));
    await world.pass(10 * SECOND);
    expect([world.brief, world.logged]).toEqual([["web.n1: Failed"], [OFF]]);
  });

  it("of another node in the place of an endpoint: is said once, tried on, and no other endpoint waits", async () => {
    const world = new MachineWorld();
    await world.userMakes(foreign("web.n1", { nodeName: "n2" }));
    await world.start(["web=80", "other=81"]);
    await world.pass(60 * SECOND);
    expect(world.brief).toEqual(["other.n1:81 ready", "web.n1: Pending"]);
    expect(world.logged).toEqual(["error: the server refuses a step of the agent"]);
    await world.userDeletes("web.n1", 0);
    await world.pass(5 * SECOND);
    expect(world.brief).toEqual(["other.n1:81 ready", "web.n1:80 ready"]);
  });
});

describe("Pod whose annotations somebody has changed", () => {
  const MAKER = "agent-node";
  const ENTRY = "agent-endpoint";
  const annotated = async (world: MachineWorld, changed: Record<string, string | null>): Promise<void> => {
    const both = Object.entries(changed).map(([name, value]) => writtenOwn(ownAnnotation(name), value));
    await world.userPatches("web.n1", { metadata: { annotations: Object.assign({}, ...both) as object } });
    await world.pass(5 * SECOND);
  };

  it.each<[title: string, changed: Record<string, string | null>]>([
    ["without its node", { [MAKER]: null }],
    ["without its entry", { [ENTRY]: null }],
  ])("%s: is taken over as it is", async (_, changed) => {
    const world = await machine(WEB);
    const before = world.pod("web.n1")?.metadata;
    await annotated(world, changed);
    const after = world.pod("web.n1")?.metadata;
    expect([after?.uid, after?.annotations, world.brief]).toEqual([before?.uid, before?.annotations, ["web.n1:8080 ready"]]);
  });

  it("of an agent of the release before, with the earlier spelling alone: is taken over, and has both", async () => {
    const world = await machine(WEB);
    const annotations = world.pod("web.n1")?.metadata?.annotations;
    await world.userPatches("web.n1", {
      metadata: { annotations: { "servicenet.dev/agent-node": null, "servicenet.dev/agent-endpoint": null } },
    });
    await world.pass(5 * SECOND);
    expect([world.pod("web.n1")?.metadata?.annotations, world.brief]).toEqual([annotations, ["web.n1:8080 ready"]]);
  });

  it("without its node, and its entry is gone: drains and goes", async () => {
    const world = await machine(WEB);
    world.crash();
    await annotated(world, { [MAKER]: null });
    world.text = "[]";
    await world.start();
    await world.pass(60 * SECOND);
    expect(world.brief).toEqual([]);
  });

  it.each<[title: string, changed: Record<string, string | null>]>([
    ["without any", { [MAKER]: null, [ENTRY]: null }],
    ["of another node", { [MAKER]: "n2" }],
    ["with the entry of another name", { [MAKER]: null, [ENTRY]: '{"name":"db","namespace":"default"}' }],
    ["with the entry of another namespace", { [MAKER]: null, [ENTRY]: '{"name":"web","namespace":"other"}' }],
    ["with a damaged entry", { [MAKER]: null, [ENTRY]: "{" }],
  ])("%s: is somebody else's", async (_, changed) => {
    const world = await machine(WEB);
    await annotated(world, changed);
    expect([world.brief, world.logged]).toEqual([["web.n1:8080 Failed"], [IN_PLACE]]);
  });
});

describe("end of the agent", () => {
  it("stop: the Pods are deleted, serve for their drain time, and are gone when it resolves", async () => {
    const world = await machine("- {name: web, port: 8080}\n- {name: fast, port: 1, drainSeconds: 0}");
    let isStopped = false;
    void world.keeper?.stop().then(() => (isStopped = true));
    await world.pass(10 * SECOND);
    expect([world.brief, isStopped]).toEqual([["web.n1:8080 ready …"], false]);
    await world.pass(25 * SECOND);
    expect([world.brief, isStopped]).toEqual([[], true]);
    world.text = CHECKED;
    await world.pass(60 * SECOND);
    expect([world.brief, world.logged]).toEqual([[], [DRAINING]]);
  });

  it("stop: says what drains and for how long; without endpoints nothing, and it ends at once", async () => {
    const many = Array.from({ length: 7 }, (_, i) => `- {name: a${String(i)}, port: ${String(i + 1)}, drainSeconds: ${String(i)}}`);
    const world = await machine(many.join("\n"));
    void world.keeper?.stop();
    expect(world.logged).toEqual([DRAINING]);
    const named = [0, 1, 2, 3, 4].map((i) => `default/a${String(i)}.n1`).join(", ");
    expect(world.fields).toEqual([{ pods: `${named} and 2 more`, seconds: 6 }]);
    const empty = await machine("[]");
    let isStopped = false;
    void empty.keeper?.stop().then(() => (isStopped = true));
    await empty.pass(1);
    expect([isStopped, empty.logged]).toEqual([true, []]);
  });

  it("stop while the server is away: ends after the longest drain time and 10 s, and says so", async () => {
    const world = await machine("- {name: web, port: 8080, drainSeconds: 20}");
    world.stopServer();
    let isStopped = false;
    void world.keeper?.stop().then(() => (isStopped = true));
    await world.pass(29 * SECOND);
    expect(isStopped).toBe(false);
    await world.pass(2 * SECOND);
    expect(isStopped).toBe(true);
    expect(world.logged.at(-1)).toBe("warn: the agent ends before its Pods are gone");
  });

  it("stop without a Pod: resolves, and nothing is written", async () => {
    const world = await machine("[]");
    await world.scheduler.run(world.keeper?.stop() ?? Promise.reject(new Error("no agent")));
    expect(world.writes).toEqual([]);
  });

  it("abandon: no request any more", async () => {
    const world = await machine(CHECKED, [8080]);
    world.keeper?.abandon();
    world.healthy.clear();
    world.text = "[]";
    const { length } = world.asked;
    await world.pass(120 * SECOND);
    expect(world.asked).toHaveLength(length);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
  });
});

describe("server that is away or refuses", () => {
  it("away: probes go on, and what they say is written when it is back", async () => {
    const world = await machine(CHECKED, [8080]);
    world.stopServer();
    world.healthy.clear();
    await world.pass(120 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 ready"]);
    world.startServer();
    await world.pass(10 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 not ready"]);
    expect(world.logged.filter((line) => line.includes("cannot be followed"))).toHaveLength(1);
  });

  it("a watch that is mute: what probes say is written all the same, also over what others have written", async () => {
    const world = await machine(CHECKED, [8080]);
    await world.pass(20 * SECOND);
    world.isWatchMute = true;
    await world.userPatches("web.n1", { metadata: { labels: { more: "1" } } });
    await world.pass(SECOND);
    world.healthy.clear();
    await world.pass(40 * SECOND);
    expect(world.brief).toEqual(["web.n1:8080 not ready"]);
  });

  it("a write that hangs: no other endpoint waits for it", async () => {
    const world = new MachineWorld();
    world.text = "- {name: a, port: 1}\n- {name: b, port: 2, check: {tcp: , periodSeconds: 1, failureThreshold: 1}}";
    world.hangs = (write) => write.includes("a.n1");
    await world.start();
    for (const [isHealthy, brief] of [
      [true, "b.n1:2 ready"],
      [false, "b.n1:2 not ready"],
      [true, "b.n1:2 ready"],
    ] as const) {
      if (isHealthy) world.healthy.add(2);
      else world.healthy.delete(2);
      await world.pass(2 * SECOND);
      expect(world.brief).toEqual([brief]);
    }
    world.hangs = () => false;
    await world.pass(10 * SECOND);
    expect(world.brief).toEqual(["a.n1:1 ready", "b.n1:2 ready"]);
  });

  it("somebody who contradicts every write: about one write a second against it", async () => {
    const world = await machine(WEB);
    world.writes.length = 0;
    for (let at = 0; at < 60 * SECOND; at += 100) {
      const pod = world.pod("web.n1");
      await world.pods.update({ ...pod, status: { ...pod?.status, conditions: [] } } as Pod, { group: "" }, "status");
      await world.pass(100);
    }
    expect(world.writes.length).toBeGreaterThan(30);
    expect(world.writes.length).toBeLessThan(90);
  });

  it.each([401, 403, 429, 500])("%i for a while: tried on", async (code) => {
    const world = new MachineWorld();
    world.refuse = () => code;
    await world.start(["web=80"]);
    await world.pass(60 * SECOND);
    world.refuse = (_, method) => (method === "GET" ? undefined : code);
    await world.pass(60 * SECOND);
    expect(world.brief).toEqual([]);
    expect(world.logged).toEqual(["warn: the node's Pods cannot be followed", "error: the server refuses a step of the agent"]);
    world.refuse = () => undefined;
    await world.pass(10 * SECOND);
    expect(world.brief).toEqual(["web.n1:80 ready"]);
  });
});
