import { describe, expect, it } from "vitest";
import type { Endpoints, Pod, Service } from "../../../../src/api/meta/kubernetes";
import { endpointsStrategy } from "../../../../src/api/registry/endpoints/strategy";
import { type EndpointsPlan, planEndpoints } from "../../../../src/endpoints/endpoints/plan-endpoints";
import { podFacts } from "../../../../src/endpoints/sources/pod-facts";
import { selects } from "../../../../src/endpoints/sources/service-pods";
import { aPod, aService, type PodOptions, pods } from "../../../support/worlds/slice-world";

function plan(service: Service | undefined, all: readonly Pod[], stored?: Endpoints, triggerTime?: number): EndpointsPlan {
  const facts = all.map(podFacts).filter((pod) => service && selects(service, pod));
  return planEndpoints({ service, pods: facts, stored, triggerTime });
}

/** The Endpoints of a plan that writes; they have to pass validation. */
function written(planned: EndpointsPlan): Endpoints {
  if (!("endpoints" in planned)) throw new Error(`the plan is to ${planned.action}`);
  const context: Parameters<typeof endpointsStrategy.validate>[1] = {} as never;
  expect(endpointsStrategy.validate(planned.endpoints, context)).toEqual([]);
  return { ...planned.endpoints, metadata: { ...planned.endpoints.metadata, resourceVersion: "7", uid: "uid of endpoints" } };
}

/** Each subset as `ready / not ready : ports`. */
function lines({ subsets }: Endpoints): string[] {
  return (subsets ?? []).map(({ addresses, notReadyAddresses, ports }) => {
    const ips = (list: typeof addresses): string => (list ?? []).map(({ ip }) => ip).join();
    return `${ips(addresses)} / ${ips(notReadyAddresses)} : ${(ports ?? []).map(({ name, port }) => `${name ?? ""}=${port}`).join()}`;
  });
}

describe("subsets", () => {
  const web = (containerPort: number): PodOptions["ports"] => [{ name: "web", containerPort }];
  const twoPorts: Service["spec"] = {
    ports: [
      { name: "http", protocol: "TCP", port: 80, targetPort: "web" },
      { name: "dns", protocol: "UDP", port: 53, targetPort: 53 },
    ],
  };
  it.each<[string, Service["spec"], PodOptions[], string[]]>([
    ["no Pods", {}, [], []],
    ["a ready Pod and one that is not", {}, [{}, { ready: false, ips: ["10.0.0.2"] }], ["10.0.0.1 / 10.0.0.2 : http=8080"]],
    ["not ready, published all the same", { publishNotReadyAddresses: true }, [{ ready: false }], ["10.0.0.1 /  : http=8080"]],
    ["terminating", {}, [{ terminating: true }], []],
    ["terminating, published all the same", { publishNotReadyAddresses: true }, [{ terminating: true }], ["10.0.0.1 /  : http=8080"]],
    ["finished, without address", {}, [{ phase: "Failed" }, { ips: [] }], []],
    ["a node that does not exist", {}, [{ nodeName: "gone" }], ["10.0.0.1 /  : http=8080"]],
    ["no node yet", {}, [{ nodeName: "" }], ["10.0.0.1 /  : http=8080"]],
    ["an address that validation refuses", {}, [{ ips: ["127.0.0.1"] }, { ips: ["10.0.0.2"] }], ["10.0.0.2 /  : http=8080"]],
    ["dual-stack, IPv6 first", { ipFamilies: ["IPv6", "IPv4"] }, [{ ips: ["10.0.0.1", "fd00::1"] }], ["fd00::1 /  : http=8080"]],
    ["an address of the other family alone", {}, [{ ips: ["fd00::1"] }], []],
    [
      "no families, a cluster IP",
      { ipFamilies: undefined, clusterIP: "fd00::9" },
      [{ ips: ["10.0.0.1", "fd00::1"] }],
      ["fd00::1 /  : http=8080"],
    ],
    [
      "no families, headless: the first address of each Pod",
      { ipFamilies: undefined, clusterIP: "None" },
      [{ ips: ["fd00::1", "10.0.0.1"] }, { ips: ["10.0.0.2"] }],
      ["10.0.0.2,fd00::1 /  : http=8080"],
    ],
    ["headless without ports", { clusterIP: "None", ports: [] }, [{}], ["10.0.0.1 /  : "]],
    ["two Pods with one address: both", {}, [{}, {}], ["10.0.0.1,10.0.0.1 /  : http=8080"]],
    [
      "a named port with two numbers: a subset for each, one for the port they share",
      twoPorts,
      [{ ports: web(1) }, { ports: web(2), ips: ["10.0.0.2"] }],
      ["10.0.0.1,10.0.0.2 /  : dns=53", "10.0.0.1 /  : http=1", "10.0.0.2 /  : http=2"],
    ],
    ["a Pod without any of the ports: left out", { ports: twoPorts.ports?.slice(0, 1) }, [{}], []],
  ])("%s: the subsets of the row", (_, spec, options, want) => {
    const all = options.map((one, i) => aPod({ name: `p${i}`, ...one }));
    expect(lines(written(plan(aService(spec), all)))).toEqual(want);
  });

  it("an address: host name, node and the Pod", () => {
    const endpoints = written(plan(aService(), [aPod({ hostname: "h", subdomain: "s" })]));
    expect(endpoints.subsets?.[0]?.addresses).toEqual([
      { ip: "10.0.0.1", hostname: "h", nodeName: "n1", targetRef: { kind: "Pod", namespace: "ns", name: "p", uid: "uid of p" } },
    ]);
  });
});

describe("whether anything is written", () => {
  it("nothing changes: none, also when a Pod has a new version or the subsets stand in another order", () => {
    const service = aService({ ports: [1, 2].map((port) => ({ name: `a${port}`, protocol: "TCP", port, targetPort: `a${port}` })) });
    const all = pods(4, (i) => ({ ports: [{ name: `a${1 + (i % 2)}`, containerPort: 80 }] }));
    const stored = written(plan(service, all));
    expect(plan(service, all, stored)).toEqual({ action: "none" });
    const subsets = [...(stored.subsets ?? [])].reverse().map((subset) => ({
      ...subset,
      addresses: [...(subset.addresses ?? [])].reverse().map((one) => ({ ...one, targetRef: { ...one.targetRef, resourceVersion: "9" } })),
    }));
    expect(plan(service, all, { ...stored, subsets })).toEqual({ action: "none" });
  });

  it.each<[string, Service | undefined, Endpoints["metadata"] | undefined, string]>([
    ["the Service is gone", undefined, {}, "delete"],
    ["the Service is gone, nothing is stored", undefined, undefined, "none"],
    [
      "the Service is gone, a lock of leader election",
      undefined,
      { annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } },
      "none",
    ],
    ["ExternalName", aService({ type: "ExternalName" }), {}, "none"],
    ["no selector", aService({ selector: undefined }), {}, "none"],
    ["no selector, nothing is stored", aService({ selector: undefined }), undefined, "none"],
    ["a Service without Pods, nothing is stored", aService(), undefined, "create"],
  ])("%s: the action of the row", (_, service, metadata, want) => {
    expect(plan(service, [], metadata && { metadata: { namespace: "ns", name: "s", ...metadata } }).action).toBe(want);
  });

  it("labels: those of the Service, who writes it, and the headless one", () => {
    const service = aService({ clusterIP: "None" }, { labels: { app: "a" } });
    const endpoints = written(plan(service, []));
    expect(endpoints.metadata?.labels).toEqual({
      app: "a",
      "endpoints.kubernetes.io/managed-by": "endpoint-controller",
      "service.kubernetes.io/headless": "",
    });
    expect(plan(aService({}, { labels: { app: "a" } }), [], endpoints)).toEqual({ action: "none" });
    const changed = plan(aService({}, { labels: { app: "b" } }), [], endpoints);
    expect(changed.action).toBe("update");
    expect(written(changed).metadata?.labels).toEqual({ app: "b", "endpoints.kubernetes.io/managed-by": "endpoint-controller" });
  });

  it("an update: what others wrote into the metadata stays, the trigger time is that of the change", () => {
    const stored = written(plan(aService(), [], undefined, Date.UTC(2026, 0, 1)));
    const key = "endpoints.kubernetes.io/last-change-trigger-time";
    expect(stored.metadata?.annotations).toEqual({ [key]: "2026-01-01T00:00:00Z" });
    const noted = { ...stored, metadata: { ...stored.metadata, annotations: { ...stored.metadata?.annotations, note: "x" } } };
    const { metadata } = written(plan(aService(), pods(1), noted));
    expect(metadata?.annotations).toEqual({ note: "x" });
    expect(metadata?.resourceVersion).toBe("7");
  });
});

describe("more than 1,000 addresses", () => {
  const KEY = "endpoints.kubernetes.io/over-capacity";
  const ready = (count: number): Pod[] => pods(count);

  it("truncated and marked, with one event for each crossing; nothing is written while nothing changes", () => {
    const over = plan(aService(), ready(1001));
    expect(over).toHaveProperty("events.0.reason", "EndpointsOverCapacity");
    const stored = written(over);
    expect(stored.metadata?.annotations).toEqual({ [KEY]: "truncated" });
    expect(stored.subsets?.[0]?.addresses).toHaveLength(1000);
    expect(plan(aService(), ready(1001), stored, 1)).toEqual({ action: "none" });

    const more = plan(aService(), ready(1100).slice(1), stored);
    expect(more).toMatchObject({ action: "update", events: [] });

    const below = plan(aService(), ready(1000), stored);
    expect(below).toMatchObject({ action: "update", events: [] });
    expect(written(below).metadata?.annotations).toEqual({});
    expect(plan(aService(), ready(1001), written(below))).toHaveProperty("events.length", 1);
  });

  it("the older mark: corrected", () => {
    const stored = written(plan(aService(), ready(1001)));
    const old = { ...stored, metadata: { ...stored.metadata, annotations: { [KEY]: "warning" } } };
    expect(written(plan(aService(), ready(1001), old)).metadata?.annotations).toEqual({ [KEY]: "truncated" });
  });

  it("a Pod behind the truncation turns unready: nothing is written; one before it: a write", () => {
    const stored = written(plan(aService(), ready(1100)));
    const turn = (at: number): Pod[] =>
      ready(1100).map((pod, i) => (i === at ? aPod({ name: `p${i}`, ips: [pod.status?.podIP ?? ""], ready: false }) : pod));
    const kept = new Set(stored.subsets?.[0]?.addresses?.map(({ targetRef }) => targetRef?.name));
    const outside = ready(1100).findIndex(({ metadata }) => !kept.has(metadata?.name));
    const inside = ready(1100).findIndex(({ metadata }) => kept.has(metadata?.name));
    expect(plan(aService(), turn(outside), stored).action).toBe("none");
    expect(plan(aService(), turn(inside), stored).action).toBe("update");
  });
});
