/** The agent of a node as a whole, in virtual time: its Node, its Lease, its beginning and its ends. */
import { expect, it } from "vitest";
import type { Node } from "../../../../src/api/meta/kubernetes";
import { rfc3339Micros } from "../../../../src/api/meta/time";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { type AgentOfTest, AgentWorld, NODE, SimAgent } from "../../../support/worlds/agent-world";
import { WRITE } from "../../../support/worlds/store-world";

const SECOND = 1_000;
const TAINT = "ToBeDeletedByClusterAutoscaler";

function setUp() {
  const world = new AgentWorld();
  const random = seededRandom(7);
  const start = (of?: AgentOfTest): SimAgent => new SimAgent(world, random, of);
  const pass = (seconds: number): Promise<void> => world.scheduler.pass(seconds * SECOND);
  const create = (object: Node) =>
    world.scheduler.run(
      world.nodes.store.write({ verb: "create", namespace: "", object: JSON.stringify(object), options: { ...WRITE, group: "" } }),
    );
  const change = (patch: object) =>
    world.nodes.write({
      verb: "patch",
      key: { namespace: "", name: NODE },
      subresource: "",
      patchType: "merge",
      patch: JSON.stringify(patch),
      options: { ...WRITE, group: "" },
    });
  return { world, start, pass, create, change };
}

it("a first start: the Node is registered and Ready, the Lease is the agent's and the Node's", async () => {
  const { world, start, pass } = setUp();
  const agent = start();
  await pass(1);
  expect(agent.isReady).toBe(true);
  expect(agent.told).toEqual([`start ${NODE} of its uid 192.0.2.1`]);
  expect(world.node?.metadata?.labels).toEqual({ "kubernetes.io/hostname": NODE });
  expect(world.node?.status?.addresses).toEqual([
    { type: "InternalIP", address: "192.0.2.1" },
    { type: "Hostname", address: "host" },
  ]);
  expect(world.ready).toBe("True");
  expect(world.lease?.spec).toMatchObject({ holderIdentity: NODE, leaseDurationSeconds: 40 });
  expect(world.lease?.metadata?.ownerReferences).toEqual([{ apiVersion: "v1", kind: "Node", name: NODE, uid: world.node?.metadata?.uid }]);
  expect(world.lease?.metadata?.annotations?.["servicenet.dev/agent-id"]).toBe(world.folders.get("a")?.get("agent-id")?.trim());
});

it("twenty idle minutes: the Lease is renewed every 10 s and a little, the status written every 5 min, a report sent every 30 s", async () => {
  const { world, start, pass } = setUp();
  start();
  await pass(30);
  const asked = world.reports.length;
  const beats = new Set<string>();
  const renewals = new Set<number>();
  for (let i = 0; i < 120; i++) {
    await pass(10);
    beats.add(world.node?.status?.conditions?.find(({ type }) => type === "Ready")?.lastHeartbeatTime ?? "");
    renewals.add(Date.parse(world.lease?.spec?.renewTime ?? ""));
  }
  const gaps = [...renewals].slice(1).map((atMs, i) => atMs - ([...renewals][i] ?? 0));
  expect(gaps.length).toBeGreaterThan(110);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(10 * SECOND);
  expect(Math.max(...gaps)).toBeLessThan(10.5 * SECOND);
  // Agents that started together do not stay together.
  expect(new Set(gaps).size).toBeGreaterThan(50);
  expect(beats.size).toSatisfy((statuses: number) => statuses >= 4 && statuses <= 6);
  expect(world.reports.length - asked).toSatisfy((reports: number) => reports >= 34 && reports <= 41);
  // No proxy is asked: the agent says that it lives.
  expect(world.reports.at(-1)?.report).toEqual({});
});

it("a Node that is there: labels and taints of others stay, the agent's come, its own taint of an earlier leave goes", async () => {
  const { world, start, pass, create } = setUp();
  await create({
    metadata: { name: NODE, labels: { theirs: "1", "topology.kubernetes.io/zone": "old" } },
    spec: {
      taints: [
        { key: "theirs", effect: "NoSchedule" },
        { key: TAINT, value: "servicenet-agent", effect: "NoSchedule" },
      ],
    },
  });
  start({ labels: { "topology.kubernetes.io/zone": "z" } });
  await pass(1);
  expect(world.node?.metadata?.labels).toEqual({ "kubernetes.io/hostname": NODE, theirs: "1", "topology.kubernetes.io/zone": "z" });
  expect(world.node?.spec?.taints).toEqual([{ key: "theirs", effect: "NoSchedule" }]);
  expect(world.ready).toBe("True");
});

it("kill -9 and a restart with the same state: goes on at once", async () => {
  const { start, pass } = setUp();
  const first = start();
  await pass(5);
  first.process.kill();
  const second = start();
  await pass(1);
  expect(second.isReady).toBe(true);
});

it("two processes with one state: the later start goes on, the earlier one ends with code 1 and writes no more", async () => {
  const { world, start, pass } = setUp();
  const first = start();
  await pass(5);
  const second = start();
  await pass(15);
  expect(first.ending?.code).toBe(1);
  expect(first.told.at(-1)).toBe("abandon");
  expect([second.isReady, second.isAlive]).toEqual([true, true]);
  expect(world.writers.at(-1)).toBe(second.name);
});

it("a server that is restored to the Lease of an earlier start: the agent goes on", async () => {
  const { world, start, pass } = setUp();
  const first = start();
  await pass(5);
  const { metadata, spec } = world.lease ?? {};
  first.process.kill();
  const second = start();
  await pass(5);
  const { resourceVersion } = world.lease?.metadata ?? {};
  await world.leases.update({ metadata: { ...metadata, resourceVersion }, spec } as never);
  await pass(40);
  expect([second.isAlive, second.logged]).toEqual([true, []]);
  expect(world.writers).toEqual([first.name, second.name]);
});

it("a state folder that takes no number of a start: the agent goes on, and says so", async () => {
  const { world, start, pass } = setUp();
  const first = start();
  await pass(5);
  first.process.kill();
  world.fileFault = (what) => what === "write";
  const second = start();
  await pass(1);
  expect(second.isReady).toBe(true);
  expect(second.logged).toEqual(['the number of this start cannot be kept {"reason":"EIO: write agent-start"}']);
});

it("a state folder that takes no id: ends with code 1 before anything is written", async () => {
  const { world, start, pass } = setUp();
  world.fileFault = (what) => what === "write";
  const agent = start();
  await pass(1);
  expect(agent.ending).toMatchObject({ code: 1 });
  expect([world.node, world.lease]).toEqual([undefined, undefined]);
});

it("a token file that vanishes for an hour: the agent goes on when it is back", async () => {
  const { world, start, pass } = setUp();
  const agent = start();
  await pass(5);
  world.fileFault = (what) => what === "token";
  await pass(3_600);
  await world.becomeUnknown();
  world.fileFault = () => false;
  await pass(10);
  expect([agent.isAlive, world.ready]).toEqual([true, "True"]);
});

it("a Lease that cannot be renewed: no write of its agent arrives after another agent's first one", async () => {
  for (let phase = 0; phase < 8; phase++) {
    const { world, start, pass } = setUp();
    const first = start();
    await pass(0.1);
    const other = start({ folder: "b" });
    first.process.isLost = ({ body = "" }) => body.includes("servicenet.dev/agent-start");
    await pass(phase);
    // Nearly as long as a request may take. What was given up arrives all the same.
    first.process.latencyMs = 4_900;
    await pass(60);
    expect(other.isReady).toBe(true);
    expect(world.writers).toEqual([first.name, other.name]);
  }
});

it("another agent whose Lease is renewed: ends with code 1 within a renewal, and the Node is as it was", async () => {
  const { world, start, pass } = setUp();
  start();
  await pass(5);
  const other = start({ folder: "b", labels: { mine: "b" } });
  await pass(12);
  expect(other.ending).toMatchObject({ code: 1, message: expect.stringContaining(`another agent has the node ${NODE}`) as string });
  expect(other.isReady).toBe(false);
  expect(world.node?.metadata?.labels).toEqual({ "kubernetes.io/hostname": NODE });
});

it("another agent's Lease that stands: is taken when it has stood for its duration, whatever the clocks say", async () => {
  const { start, pass } = setUp();
  const first = start({ aheadMs: 3_600_000 });
  await pass(5);
  first.process.kill();
  const other = start({ folder: "b", aheadMs: -3_600_000 });
  await pass(39);
  expect(other.isReady).toBe(false);
  await pass(4);
  expect(other.isReady).toBe(true);
});

it("another agent's Lease that stands while every fifth look is lost: is taken, and each lost look makes the wait a little longer", async () => {
  const { start, pass } = setUp();
  const first = start();
  await pass(5);
  first.process.kill();
  let looks = 0;
  const other = start({ folder: "b", isLost: (_, what) => what === "request" && ++looks % 5 === 0 });
  await pass(39);
  expect(other.isReady).toBe(false);
  await pass(60);
  expect(other.isReady).toBe(true);
});

it("an agent that slept while another one took its node: ends with code 1 and writes nothing", async () => {
  const { world, start, pass } = setUp();
  const first = start();
  await pass(5);
  first.process.sleep();
  const other = start({ folder: "b" });
  await pass(60);
  expect(other.isReady).toBe(true);
  const { writers } = world;
  expect(writers).toEqual([first.name, other.name]);
  first.process.resume();
  await pass(20);
  expect(first.ending?.code).toBe(1);
  expect(writers).toEqual([first.name, other.name]);
});

it.each([30, 600])(
  "a machine that slept for %i s: the Node that became Unknown is Ready 15 s later, though its watch is mute",
  async (seconds) => {
    const { world, start, pass } = setUp();
    const agent = start();
    await pass(5);
    agent.process.sleep();
    agent.process.isLost = () => true;
    await pass(seconds);
    await world.becomeUnknown();
    await pass(5);
    agent.process.isLost = () => false;
    agent.process.resume();
    await pass(15);
    expect([agent.isAlive, world.ready]).toEqual([true, "True"]);
  },
);

it("a Node that is deleted while the watch is mute: is heard of when its Lease is renewed", async () => {
  const { world, start, pass } = setUp();
  const agent = start();
  await pass(5);
  await world.leases.delete(NODE, {}, "kube-node-lease");
  agent.process.isLost = (_init, _what, path) => path.includes("watch=true");
  await world.deleteNode();
  await pass(12);
  expect(agent.ending).toEqual({ code: 0, message: `the Node ${NODE} is deleted` });
});

it("an outage that changed nothing of the Node: is told to be over with the first answer", async () => {
  const { world, start, pass } = setUp();
  const agent = start();
  await pass(5);
  world.stopServer();
  await pass(30);
  world.startServer();
  world.refuse = (path, method) => (method === "GET" && path === `/api/v1/nodes/${NODE}` ? 503 : undefined);
  await pass(15);
  world.refuse = () => undefined;
  await pass(10);
  expect(agent.logged.filter((line) => line.startsWith("the Node cannot be written")).map((line) => line.includes("over"))).toEqual([
    false,
    true,
  ]);
});

it("a server that is away: nobody takes the node meanwhile, and the Node is Ready 10 s after it is back", async () => {
  const { world, start, pass } = setUp();
  const first = start();
  await pass(5);
  const other = start({ folder: "b" });
  await pass(1);
  world.stopServer();
  await pass(3_600);
  await world.becomeUnknown();
  world.startServer();
  await pass(10);
  expect(world.ready).toBe("True");
  await pass(10);
  expect([first.isAlive, other.ending?.code]).toEqual([true, 1]);
  expect(world.writers).toEqual([first.name]);
  expect(first.told).toHaveLength(1);
  // Once, not every five seconds.
  expect(first.logged.filter((line) => line.startsWith("the Lease of the node cannot be kept {"))).toHaveLength(1);
});

it("a network that swallows everything: the Node is Ready 10 s after it carries again", async () => {
  const { world, start, pass } = setUp();
  const agent = start();
  await pass(5);
  for (let phase = 0; phase < 10; phase++) {
    agent.process.isLost = () => true;
    await pass(50);
    await world.becomeUnknown();
    await pass(60 + phase * 1.1);
    agent.process.isLost = () => false;
    await pass(10);
    expect(world.ready).toBe("True");
  }
});

it("a Node that became Unknown: is Ready again at once, and says since when", async () => {
  const { world, start, pass } = setUp();
  start();
  await pass(20);
  await world.becomeUnknown();
  await pass(1);
  const ready = world.node?.status?.conditions?.find(({ type }) => type === "Ready");
  expect(ready).toMatchObject({ status: "True", reason: "AgentReady" });
  expect(Date.parse(ready?.lastTransitionTime ?? "")).toBeGreaterThan(world.scheduler.now - 3 * SECOND);
});

it.each([401, 403, 404, 429, 503])("code %i for a while, no object is missing: is retried", async (code) => {
  const { world, start, pass } = setUp();
  world.refuse = () => code;
  const agent = start();
  await pass(120);
  expect([agent.isReady, agent.isAlive]).toEqual([false, true]);
  world.refuse = () => undefined;
  await pass(6);
  expect(agent.isReady).toBe(true);
  world.refuse = (path) => (path.includes("watch=true") ? undefined : code);
  await pass(120);
  world.refuse = () => undefined;
  await pass(10);
  expect([agent.isAlive, world.ready]).toEqual([true, "True"]);
});

it("writes of the Node refused for a minute after the Lease is taken: the Lease is renewed meanwhile, and the agent goes on", async () => {
  const { world, start, pass } = setUp();
  world.refuse = (path, method) => (method === "PUT" && path === `/api/v1/nodes/${NODE}` ? 403 : undefined);
  const agent = start();
  await pass(60);
  expect([agent.isReady, agent.isAlive]).toEqual([false, true]);
  world.refuse = () => undefined;
  await pass(6);
  expect(agent.isReady).toBe(true);
});

it("leave before the Node is taken over: Node and Lease go", async () => {
  const { world, start, pass } = setUp();
  world.refuse = (path, method) => (method === "PUT" && path === `/api/v1/nodes/${NODE}` ? 403 : undefined);
  const agent = start({ leaveAfterMs: 5 * SECOND });
  await pass(10);
  world.refuse = () => undefined;
  agent.ask("leave");
  await pass(12);
  expect(agent.ending).toEqual({ code: 0, message: "stopped" });
  expect([world.node, world.lease]).toEqual([undefined, undefined]);
});

it("a Node that the server refuses for good: ends with code 1 and the server's words", async () => {
  const { world, start, pass } = setUp();
  world.refuse = (_, method) => (method === "POST" ? 422 : undefined);
  const agent = start();
  await pass(1);
  expect(agent.ending).toEqual({ code: 1, message: `the API server refuses the Node ${NODE}: refused` });
});

it("stop: the endpoints drain while the Lease is renewed; Node and Lease stay", async () => {
  const { world, start, pass } = setUp();
  const agent = start({ drainMs: 60 * SECOND });
  await pass(5);
  agent.ask("stop");
  const before = world.lease?.spec?.renewTime ?? "";
  await pass(59);
  expect((world.lease?.spec?.renewTime ?? "") > before).toBe(true);
  expect(agent.ending).toBeUndefined();
  await pass(2);
  expect(agent.ending).toEqual({ code: 0, message: "stopped" });
  expect([world.ready, world.lease?.spec?.holderIdentity]).toEqual(["True", NODE]);
});

it.each(["stop", "leave"] as const)("%s before anything is held: ends at once, and says if a Node should have gone", async (how) => {
  const { world, start, pass } = setUp();
  world.stopServer();
  const agent = start();
  await pass(5);
  agent.ask(how);
  await pass(1);
  expect(agent.ending).toEqual({ code: 0, message: "stopped" });
  expect(agent.told).toEqual([]);
  expect(agent.logged.some((line) => line.startsWith("the Node stays"))).toBe(how === "leave");
});

it("a restart with another address: the Node has the new one", async () => {
  const { world, start, pass } = setUp();
  const first = start();
  await pass(5);
  first.process.kill();
  start({ addresses: ["192.0.2.9"] });
  await pass(2);
  expect(world.node?.status?.addresses).toEqual([
    { type: "InternalIP", address: "192.0.2.9" },
    { type: "Hostname", address: "host" },
  ]);
});

it("leave: the taint comes first, Node and Lease go when endpoints and load balancers have had their time", async () => {
  const { world, start, pass } = setUp();
  const agent = start({ drainMs: 10 * SECOND, leaveAfterMs: 30 * SECOND });
  await pass(5);
  agent.ask("leave");
  await pass(1);
  expect(world.node?.spec?.taints).toMatchObject([{ key: TAINT, effect: "NoSchedule" }]);
  expect(agent.logged.join()).toContain(
    'the Node is tainted and then deleted; another Ctrl-C, a second later, ends the agent at once and leaves the Node {"seconds":30}',
  );
  await pass(27);
  expect(world.node).toBeDefined();
  await pass(4);
  expect([world.node, world.lease]).toEqual([undefined, undefined]);
  expect(agent.ending).toMatchObject({ code: 0 });
});

it("leave when the Lease cannot be renewed: it is won back, and the Node and the Lease go", async () => {
  const { world, start, pass } = setUp();
  const agent = start({ drainMs: 60 * SECOND });
  await pass(5);
  agent.ask("leave");
  await pass(1);
  world.refuse = (path) => (path.includes("/leases") ? 503 : undefined);
  await pass(60);
  world.refuse = () => undefined;
  await pass(12);
  expect([world.node, world.lease, agent.logged.join()]).toEqual([undefined, undefined, expect.not.stringContaining("the Node stays")]);
  expect(agent.ending?.code).toBe(0);
});

it("leave while the server is away: ends all the same, and says that the Node stays", async () => {
  const { world, start, pass } = setUp();
  const agent = start({ leaveAfterMs: 30 * SECOND });
  await pass(5);
  world.stopServer();
  agent.ask("leave");
  await pass(40);
  expect(agent.ending?.code).toBe(0);
  expect(agent.logged.join()).toContain("the Node stays");
});

it("a Node that is deleted, or made anew by somebody else: the endpoints drain, and the agent ends with code 0", async () => {
  for (const isMadeAnew of [false, true]) {
    const { world, start, pass, create } = setUp();
    const agent = start({ drainMs: 60 * SECOND });
    await pass(5);
    await world.deleteNode();
    // The garbage collector.
    await world.leases.delete(NODE, {}, "kube-node-lease");
    if (isMadeAnew) await create({ metadata: { name: NODE } });
    await pass(58);
    expect(agent.told.at(-1)).toBe("stop");
    await pass(4);
    expect(agent.ending).toEqual({ code: 0, message: `the Node ${NODE} is deleted` });
    expect([world.node !== undefined, world.lease]).toEqual([isMadeAnew, undefined]);
  }
});

it("a Lease that somebody deletes: is made again", async () => {
  const { world, start, pass } = setUp();
  const agent = start();
  await pass(5);
  await world.leases.delete(NODE, {}, "kube-node-lease");
  await pass(12);
  expect([agent.isAlive, world.lease?.spec?.holderIdentity]).toEqual([true, NODE]);
});

it("a Lease that somebody else writes without a pause: the one who finds it ends with code 1", async () => {
  const { world, start, pass } = setUp();
  const agent = start();
  await pass(5);
  const { lease } = world;
  await world.leases.update({
    ...lease,
    metadata: { ...lease?.metadata, annotations: {} },
    spec: { ...lease?.spec, renewTime: rfc3339Micros(1) },
  } as never);
  await pass(12);
  expect(agent.ending?.code).toBe(1);
});

it("a proxy that turns late, mute and well again: each change is reported within 5 s, muteness after two periods", async () => {
  const { world, start, pass } = setUp();
  let answer: "healthy" | "late" | "mute" = "healthy";
  const askProxy = () => {
    if (answer === "mute") return Promise.reject(new Error("connection refused"));
    const healthy = answer === "healthy";
    const times = { lastUpdated: "2026-01-01T00:00:00Z", currentTime: "2026-01-01T00:00:04Z" };
    const status = { IPv4: { lastUpdated: "2026-01-01T00:00:00Z", healthy } };
    return Promise.resolve({ code: healthy ? 200 : 503, text: JSON.stringify({ ...times, nodeEligible: true, healthy, status }) });
  };
  const agent = start({ askProxy });
  await pass(2);
  expect(world.reports.at(-1)?.report).toEqual({ IPv4: { healthy: true, appliedAgoMs: 4_000 } });
  answer = "late";
  await pass(5.1);
  expect(world.reports.at(-1)?.report.IPv4?.healthy).toBe(false);
  answer = "healthy";
  await pass(5.1);
  expect(world.reports.at(-1)?.report.IPv4?.healthy).toBe(true);
  answer = "mute";
  await pass(54);
  expect(world.reports.at(-1)?.report.IPv4).toMatchObject({ healthy: true });
  await pass(12);
  expect(world.reports.at(-1)?.report.IPv4?.healthy).toBe(false);
  expect(agent.logged.filter((line) => line.startsWith("the Service proxy gives no answer"))).toHaveLength(1);
});

it("a proxy that hangs: the agent reports in time all the same", async () => {
  const { world, start, pass } = setUp();
  start({ syncPeriodMs: SECOND, askProxy: () => new Promise(() => undefined) });
  await pass(30);
  const times = world.reports.map(({ atMs }) => atMs);
  const gaps = times.slice(1).map((atMs, i) => atMs - (times[i] ?? 0));
  // A node is silent after two periods.
  expect(Math.max(...gaps)).toBeLessThan(1.5 * SECOND);
  expect(times.length).toBeGreaterThan(20);
  expect(world.reports.at(-1)?.report.IPv4?.healthy).toBe(false);
});

it("a report that hangs: the next one has what the proxy said meanwhile", async () => {
  const { world, start, pass } = setUp();
  let healthy = true;
  let asked = 0;
  const times = { lastUpdated: "2026-01-01T00:00:00Z", currentTime: "2026-01-01T00:00:04Z" };
  const askProxy = () => {
    asked++;
    return Promise.resolve({ code: 200, text: JSON.stringify({ ...times, healthy, status: { IPv4: { ...times, healthy } } }) });
  };
  const agent = start({ syncPeriodMs: 6 * SECOND, askProxy });
  await pass(2);
  agent.process.isLost = ({ body = "" }) => body.includes("healthy");
  await pass(6);
  asked = 0;
  await pass(20);
  expect(asked).toBeGreaterThan(18);
  healthy = false;
  agent.process.isLost = () => false;
  await pass(6);
  expect(world.reports.at(-1)?.report.IPv4?.healthy).toBe(false);
});

it("a server that is mute to reports: they are tried at most 5 s apart", async () => {
  const { world, start, pass } = setUp();
  const agent = start();
  await pass(40);
  const begun: number[] = [];
  agent.process.isLost = (_, what, path) => {
    const isLost = what === "request" && path.endsWith("/proxy-health");
    if (isLost) begun.push(world.scheduler.now);
    return isLost;
  };
  await pass(100);
  const gaps = begun.slice(1).map((atMs, i) => atMs - (begun[i] ?? 0));
  expect(gaps.length).toBeGreaterThan(10);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(5 * SECOND);
});
