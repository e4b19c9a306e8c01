/** The rule of EndpointSlices, in whole checks: what they show is what the Pods are. */
import { describe, expect, it } from "vitest";
import type { EndpointSlice, Pod } from "../../../../src/api/meta/kubernetes";
import { checkCluster, type CheckReport } from "../../../../src/tools/check/check-cluster";
import { observedNode, observedService } from "../../../../src/tools/check/observed";
import { type CheckedCluster, healthy, sourceOf } from "../../../support/worlds/checked-cluster";
import { quickClock } from "../../../support/worlds/quick-clock";
import { aNode, aPod, aService } from "../../../support/worlds/slice-world";

const LABELS = { "kubernetes.io/service-name": "s", "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" };

function endpoint(name: string, ip: string, more: Partial<EndpointSlice["endpoints"][number]> = {}): EndpointSlice["endpoints"][number] {
  return {
    addresses: [ip],
    conditions: { ready: true, serving: true, terminating: false },
    targetRef: { kind: "Pod", namespace: "ns", name, uid: `uid of ${name}` },
    nodeName: "n1",
    zone: "z1",
    ...more,
  };
}

function slice(name: string, endpoints: EndpointSlice["endpoints"], labels: Record<string, string> = LABELS): EndpointSlice {
  const ports = [{ name: "http", protocol: "TCP", port: 8080 }];
  return { metadata: { namespace: "ns", name, labels }, addressType: "IPv4", endpoints, ports };
}

type World = CheckedCluster & { pods: Pod[]; endpointSlices: EndpointSlice[] };

/** Service `s` with the Pods a and b, each in a slice of its own. */
function cluster(): World {
  const whole = healthy();
  const service = observedService(aService({ type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"] }));
  return {
    ...whole,
    services: [...whole.services, service],
    surroundings: { nodes: [observedNode(aNode("n1", "z1"))], advertised: [] },
    pods: [aPod({ name: "a", ips: ["10.0.0.1"] }), aPod({ name: "b", ips: ["10.0.0.2"] })],
    endpointSlices: [slice("s-1", [endpoint("a", "10.0.0.1")]), slice("s-2", [endpoint("b", "10.0.0.2")])],
  };
}

async function checked(damage: (cluster: World) => void): Promise<CheckReport> {
  const damaged = cluster();
  damage(damaged);
  return checkCluster(
    sourceOf(() => damaged),
    quickClock(),
  );
}

const A = "10.0.0.1 of Pod a (uid of a), ports http=8080/TCP, node n1, zone z1, ready, serving";

describe("slices against Pods", () => {
  it.each<[string, (c: World) => void, string[]]>([
    ["that agree", () => undefined, []],
    ["one endpoint in two slices", (c) => c.endpointSlices.push(slice("s-3", [endpoint("a", "10.0.0.1")])), []],
    ["an endpoint without hints, one with hints", (c) => Object.assign(c.endpointSlices[0]?.endpoints[0] ?? {}, { hints: {} }), []],
    ["a Pod that has ended", (c) => c.pods.push(aPod({ name: "c", ips: ["10.0.0.3"], phase: "Succeeded" })), []],
    ["a Pod that no Service selects", (c) => c.pods.push(aPod({ name: "c", ips: ["10.0.0.3"], labels: { app: "c" } })), []],
    ["a Pod on a Node that is not there", (c) => c.pods.push(aPod({ name: "c", ips: ["10.0.0.3"], nodeName: "gone" })), []],
    ["a Pod with an address that no slice may have", (c) => c.pods.push(aPod({ name: "c", ips: ["169.254.0.1"] })), []],
    [
      "a slice of somebody else",
      (c) =>
        c.endpointSlices.push(slice("own", [endpoint("x", "10.9.9.9")], { ...LABELS, "endpointslice.kubernetes.io/managed-by": "me" })),
      [],
    ],
    [
      "a slice of a Service without a selector",
      (c) => c.endpointSlices.push(slice("t-1", [endpoint("x", "10.9.9.9")], { ...LABELS, "kubernetes.io/service-name": "t" })),
      [],
    ],
    ["a slice with nulls for lists", (c) => c.endpointSlices.push({ ...slice("s-3", []), endpoints: null, ports: null } as never), []],
    ["a missing endpoint", (c) => void c.endpointSlices[0]?.endpoints.pop(), [`ns/s lacks the endpoint ${A}`]],
    ["a surplus endpoint", (c) => void c.pods.shift(), [`ns/s has the endpoint ${A}: no Pod is that`]],
    [
      "a Pod that is not ready any more",
      (c) => (c.pods[0] = aPod({ name: "a", ips: ["10.0.0.1"], ready: false })),
      [`ns/s has the endpoint ${A}: no Pod is that`, `ns/s lacks the endpoint ${A.replace("ready, serving", "not ready")}`],
    ],
    [
      "a Pod of the same name and address, created anew",
      (c) => Object.assign(c.pods[0]?.metadata ?? {}, { uid: "another" }),
      [`ns/s has the endpoint ${A}: no Pod is that`, `ns/s lacks the endpoint ${A.replace("uid of a", "another")}`],
    ],
    [
      "a Node in another zone",
      (c) => (c.surroundings = { ...c.surroundings, nodes: [observedNode(aNode("n1", "z2"))] }),
      ["has", "has", "lacks", "lacks"].map((verb) => `ns/s ${verb} the endpoint`),
    ],
    ["no slice", (c) => (c.endpointSlices = []), ["ns/s has no EndpointSlice of endpointslice-controller.k8s.io"]],
  ])("%s: the check says what is missing and what is too much", async (_, damage, want) => {
    const { wrong, notices, unchecked } = await checked(damage);
    const messages = wrong.map(({ message }) => message).sort();
    expect(messages).toHaveLength(want.length);
    want.forEach((text, i) => expect(messages[i]).toContain(text));
    for (const { rule, objects } of wrong) expect([rule, objects]).toEqual(["slice", ["Service ns/s"]]);
    expect([notices, unchecked]).toEqual([[], []]);
  });

  it.each<[string, Parameters<typeof aPod>[0], Parameters<typeof aService>[0], string]>([
    ["a named port", { ports: [{ name: "web", containerPort: 80 }] }, {}, "ports http=80/TCP"],
    ["a named port of a sidecar", { sidecarPorts: [{ name: "web", containerPort: 81 }] }, {}, "ports http=81/TCP"],
    ["a named port of an init container", { initPorts: [{ name: "web", containerPort: 82 }] }, {}, "no ports"],
    ["a port of another protocol", { ports: [{ name: "web", protocol: "UDP", containerPort: 80 }] }, {}, "no ports"],
    ["a terminating Pod", { terminating: true }, {}, "not ready, serving, terminating"],
    ["publishNotReadyAddresses", { ready: false, nodeName: "gone" }, { publishNotReadyAddresses: true }, "node gone, ready"],
    ["a hostname of this Service", { hostname: "h", subdomain: "s" }, {}, "hostname h, ready"],
  ])("%s: is in the endpoint", async (_, pod, spec, want) => {
    const target = { name: "http", protocol: "TCP", port: 80, targetPort: "web" };
    const { wrong } = await checked((c) => {
      const none = { clusterIP: "None", clusterIPs: ["None"], ports: [target] };
      c.services[2] = observedService(aService({ ...none, ...spec }));
      c.pods = [aPod({ name: "a", ...pod })];
      c.endpointSlices = [slice("s-1", [])];
    });
    expect(wrong.map(({ message }) => message)).toEqual([expect.stringContaining(want)]);
  });

  it("both families: an endpoint for each that the Service has", async () => {
    const { wrong } = await checked((c) => {
      c.services[2] = observedService(aService({ clusterIP: "None", clusterIPs: ["None"], ipFamilies: ["IPv6"] }));
      c.pods = [aPod({ name: "a", ips: ["10.0.0.1", "fd00:0::1"] })];
      c.endpointSlices = [slice("s-1", [])];
    });
    expect(wrong.map(({ message }) => message)).toEqual([expect.stringContaining("lacks the endpoint fd00::1 of Pod a")]);
  });
});

describe("what is not compared", () => {
  const damage = (c: World): void => void c.pods.pop();

  it("slices that nobody keeps, because the controller is off: a notice", async () => {
    const { wrong, notices } = await checked((c) => {
      damage(c);
      c.sliceController = { running: false, batchMs: 0 };
    });
    expect([wrong, notices]).toEqual([
      [],
      [
        {
          rule: "notice",
          objects: [],
          message: "EndpointSlices were not compared with Pods: endpointslice-controller is switched off in this cluster",
        },
      ],
    ]);
  });

  it("changes of Pods that wait for longer than a check: a notice", async () => {
    const { wrong, notices } = await checked((c) => {
      damage(c);
      c.sliceController = { running: true, batchMs: 60_000 };
    });
    expect([wrong, notices.map(({ message }) => message)]).toEqual([
      [],
      ["EndpointSlices were not compared with Pods: changes of Pods wait for 60 s"],
    ]);
  });

  it("a cluster without selectors: Pods are not read", async () => {
    let reads = 0;
    const source = sourceOf(healthy);
    const read = (): Promise<undefined> => Promise.resolve(void reads++);
    expect(await checkCluster({ ...source, pods: read, sliceController: read }, quickClock())).toMatchObject({ wrong: [], notices: [] });
    expect(reads).toBe(0);
  });

  it("an unreadable Pod: nothing follows for slices", async () => {
    const { wrong, unchecked } = await checked((c) => {
      damage(c);
      c.unreadable.push("Pod ns/b");
    });
    expect(wrong.map(({ message }) => message)).toEqual(["Pod ns/b is stored, and cannot be read"]);
    expect(unchecked).toEqual(["a Pod or an EndpointSlice cannot be read: whether EndpointSlices agree with Pods was not checked"]);
  });

  it("Pods that are hidden: named as unchecked, but not of another server", async () => {
    const hidden = await checked((c) => Object.assign(c, { pods: undefined }));
    expect(hidden).toMatchObject({ wrong: [], unchecked: ["Pods or EndpointSlices may not be listed: they were not compared"] });
    const other = await checked((c) => Object.assign(c, { pods: undefined, sliceController: undefined }));
    expect(other).toMatchObject({ wrong: [], unchecked: [] });
  });
});

describe("another server", () => {
  it.each<[string, (c: World) => void, number]>([
    ["a missing endpoint", (c) => void c.endpointSlices[0]?.endpoints.pop(), 1],
    ["a Service without slices, which nobody may keep", (c) => (c.endpointSlices = []), 0],
    [
      "a zone that the controller has not heard of",
      (c) => (c.surroundings = { ...c.surroundings, nodes: [observedNode(aNode("n1", "z2"))] }),
      0,
    ],
    ["Nodes that are hidden", (c) => (c.surroundings = { ...c.surroundings, nodes: undefined }), 0],
    ["a Node that is gone, whose endpoints stay for a while", (c) => (c.surroundings = { ...c.surroundings, nodes: [] }), 0],
    [
      "a Node that is gone, whose endpoints are gone, too",
      (c) => {
        c.surroundings = { ...c.surroundings, nodes: [] };
        c.endpointSlices = [slice("s-1", [])];
      },
      0,
    ],
  ])("%s: judged by what it shows", async (_, damage, want) => {
    const { wrong } = await checked((c) => {
      c.sliceController = undefined;
      damage(c);
    });
    expect(wrong).toHaveLength(want);
  });
});

describe("looking again", () => {
  it.each([
    [0, 20_000],
    [5_000, 25_000],
  ])("slices that lag behind Pods, with a batch period of %i ms: wrong only after %i ms", async (batchMs, lastingMs) => {
    const clock = quickClock();
    const startedAt = clock.now();
    const torn = { ...cluster(), sliceController: { running: true, batchMs } };
    torn.pods.pop();
    const mended = await checkCluster(
      sourceOf(() => (clock.now() - startedAt >= lastingMs ? cluster() : torn)),
      clock,
    );
    expect(mended.wrong).toEqual([]);
    const lasting = quickClock();
    const report = await checkCluster(
      sourceOf(() => torn),
      lasting,
    );
    expect(report.wrong).toHaveLength(1);
    expect(lasting.waited).toBeGreaterThanOrEqual(lastingMs);
  });

  it("one endpoint that stays missing among Pods that come and go: found alone", async () => {
    let look = 0;
    const churning = (): CheckedCluster => {
      const now = cluster();
      now.endpointSlices.shift();
      now.pods.push(aPod({ name: `churn-${look}`, ips: [`10.0.1.${look}`] }));
      return now;
    };
    const source = sourceOf(churning);
    const services = () => {
      look++;
      return source.services();
    };
    const report = await checkCluster({ ...source, services }, quickClock());
    expect(report.wrong.map(({ message }) => message)).toEqual([`ns/s lacks the endpoint ${A}`]);
  });
});
