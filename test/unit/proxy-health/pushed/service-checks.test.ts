import { describe, expect, it } from "vitest";
import type { KubeObject, Service } from "../../../../src/api/meta/kubernetes";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { changesCheck, ServiceChecks } from "../../../../src/proxy-health/pushed/service-checks";
import { MemoryRowStorage } from "../../../support/memory/row-storage";

const LOCAL = { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 30001 };
const V4 = "10.96.0.1";
const V6 = "fd00:10::1";

function service(spec: object, labels: Record<string, string> = {}): Service {
  return {
    metadata: { namespace: "default", name: "web", labels },
    spec: { ...LOCAL, clusterIP: V4, clusterIPs: [V4], ...spec },
  } as Service;
}

function setUp(rows = new MemoryRowStorage()) {
  const kept = new KeptRows(rows);
  kept.load();
  const news: string[] = [];
  const checks = new ServiceChecks(kept, { toldChanged: () => news.push("told changed"), ended: (name) => news.push(`${name} ended`) });
  checks.load();
  const put = (object: Service) => checks.reader.put(object as KubeObject, false);
  /** What is told, in short: `web:30001 IPv4,IPv6`. */
  const told = () => checks.told.map(({ name, port, families }) => `${name}:${port} ${families.join(",")}`);
  return { rows, kept, news, checks, put, told };
}

describe("check of a Service", () => {
  it.each<[title: string, object: Service, want: string[]]>([
    ["of one family", service({}), ["web:30001 IPv4"]],
    ["of IPv6 alone", service({ clusterIP: V6, clusterIPs: [V6] }), ["web:30001 IPv6"]],
    ["of two families, IPv4 first", service({ clusterIPs: [V4, V6] }), ["web:30001 IPv4,IPv6"]],
    ["of two families, IPv6 first", service({ clusterIP: V6, clusterIPs: [V6, V4] }), ["web:30001 IPv6,IPv4"]],
    ["with the policy Cluster", service({ externalTrafficPolicy: "Cluster", healthCheckNodePort: undefined }), []],
    ["without a load balancer", service({ type: "NodePort", healthCheckNodePort: undefined }), []],
    ["headless", service({ clusterIP: "None", clusterIPs: ["None"] }), []],
    ["an ExternalName", service({ type: "ExternalName", clusterIP: undefined, clusterIPs: undefined }), []],
    ["of another proxy", service({}, { "service.kubernetes.io/service-proxy-name": "cilium" }), []],
    ["of another proxy without a name", service({}, { "service.kubernetes.io/service-proxy-name": "" }), []],
  ])("%s: %3$j", (_, object, want) => {
    const { checks, put, told } = setUp();
    put(object);
    checks.slicesRead("default/web");
    expect(told()).toEqual(want);
    expect([checks.isEmpty, changesCheck({ after: object })]).toEqual([want.length === 0, want.length > 0]);
  });

  it("new: is told once its slices are read, also after a start in between", () => {
    const { rows, kept, checks, put, told, news } = setUp();
    put(service({}));
    expect([checks.has("default/web"), checks.isTold("default/web"), checks.unread, told(), news]).toEqual([
      true,
      false,
      ["default/web"],
      [],
      [],
    ]);
    kept.save();
    const later = setUp(rows);
    expect([later.checks.unread, later.told()]).toEqual([["default/web"], []]);
    later.checks.slicesRead("default/web");
    expect([later.checks.unread, later.told(), later.news]).toEqual([[], ["web:30001 IPv4"], ["told changed"]]);
    later.kept.save();
    expect(setUp(rows).told()).toEqual(["web:30001 IPv4"]);
  });

  it("another port or family: is told as such, without its slices read anew; no change: no news", () => {
    const { checks, put, told, news } = setUp();
    put(service({}));
    checks.slicesRead("default/web");
    put(service({}, { other: "label" }));
    expect(news).toEqual(["told changed"]);
    put(service({ healthCheckNodePort: 30002 }));
    put(service({ healthCheckNodePort: 30002, clusterIPs: [V4, V6] }));
    expect([told(), news.length]).toEqual([["web:30002 IPv4,IPv6"], 3]);
  });

  it.each<[title: string, end: (world: ReturnType<typeof setUp>) => void]>([
    ["a Service that is gone", ({ checks }) => checks.reader.gone("default/web")],
    ["the policy Cluster", ({ put }) => put(service({ externalTrafficPolicy: "Cluster", healthCheckNodePort: undefined }))],
    ["the label of another proxy", ({ put }) => put(service({}, { "service.kubernetes.io/service-proxy-name": "x" }))],
  ])("ended by %s: is told of no more, once, and its slices are read anew when it comes back", (_, end) => {
    const world = setUp();
    world.put(service({}));
    world.checks.slicesRead("default/web");
    end(world);
    end(world);
    expect([world.told(), world.checks.isEmpty, world.news]).toEqual([[], true, ["told changed", "told changed", "default/web ended"]]);
    world.put(service({}));
    expect([world.checks.unread, world.told()]).toEqual([["default/web"], []]);
  });

  it("ended before its slices were read: nobody is told", () => {
    const { checks, put, news } = setUp();
    put(service({}));
    checks.reader.gone("default/web");
    checks.slicesRead("default/web");
    expect(news).toEqual(["default/web ended"]);
  });
});

describe("change of a Service", () => {
  const pairs: [title: string, before: Service, after: Service, changes: boolean][] = [
    ["its labels", service({}), service({}, { a: "b" }), false],
    ["its selector", service({}), service({ selector: { a: "b" } }), false],
    ["its check port", service({}), service({ healthCheckNodePort: 30002 }), true],
    ["a second family", service({}), service({ clusterIPs: [V4, V6] }), true],
    ["its policy", service({}), service({ externalTrafficPolicy: "Cluster", healthCheckNodePort: undefined }), true],
    ["the label of another proxy", service({}), service({}, { "service.kubernetes.io/service-proxy-name": "" }), true],
  ];
  it.each(pairs)("%s: changes the check: %4$s", (_, before, after, changes) => {
    expect([changesCheck({ before, after }), changesCheck({ before: after, after: before })]).toEqual([changes, changes]);
  });
});
