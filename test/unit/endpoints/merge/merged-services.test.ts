import { describe, expect, it } from "vitest";
import type { EndpointSlice, Service } from "../../../../src/api/meta/kubernetes";
import { MergedServices, type ServiceChanges } from "../../../../src/endpoints/merge/merged-services";
import { portKey } from "../../../../src/api/registry/endpoint-slices/slice-portion";
import { aService, aSlice, anEndpoint } from "../../../support/values/endpoint-objects";

/** A change as short text: `web: 10.1.0.1:8080 10.1.0.2:8080` is an update, `-web` a removal. */
function textsOf({ updated, removed }: ServiceChanges): string[] {
  const lists = updated.map(({ service, endpoints }) => {
    const keys = service.ports.flatMap((port) => endpoints.get(portKey(port)) ?? []).map(({ key }) => key);
    return `${nameOf(service)}: ${keys.join(" ")}`.trim();
  });
  return [...lists, ...removed.map((ref) => `-${nameOf(ref)}`)];
}

const nameOf = ({ name, family }: { name: string; family: string }) => (family === "IPv4" ? name : `${name}/${family}`);
const HEADLESS = { clusterIP: "None", clusterIPs: ["None"] };
const DUAL = { clusterIP: "10.96.0.5", clusterIPs: ["10.96.0.5", "fd00::5"] };

/** A view that has one Service with one slice of two endpoints, and has told of it. */
function settled(): MergedServices {
  const view = new MergedServices();
  view.putService(aService("web"));
  view.putSlice(aSlice("web-a", "web", [anEndpoint("10.1.0.1"), anEndpoint("10.1.0.2")]));
  expect(textsOf(view.sync())).toEqual(["web: 10.1.0.1:8080 10.1.0.2:8080"]);
  return view;
}

interface Row {
  name: string;
  change: (view: MergedServices) => void;
  told: string[];
}

const ROWS: Row[] = [
  { name: "nothing", change: () => undefined, told: [] },
  { name: "the Service again", change: (view) => view.putService(aService("web")), told: [] },
  {
    name: "the Service with another label",
    change: (view) => view.putService(aService("web", {}, { labels: { team: "a" } })),
    told: [],
  },
  {
    name: "the Service with another policy",
    change: (view) => view.putService(aService("web", { internalTrafficPolicy: "Local" })),
    told: ["web: 10.1.0.1:8080 10.1.0.2:8080"],
  },
  {
    name: "the Service with another policy, and back",
    change: (view) => {
      view.putService(aService("web", { internalTrafficPolicy: "Local" }));
      view.putService(aService("web"));
    },
    told: [],
  },
  {
    name: "the Service deleted",
    change: (view) => view.deleteService(aService("web")),
    told: ["-web"],
  },
  {
    name: "the Service deleted and made again",
    change: (view) => {
      view.deleteService(aService("web"));
      view.putService(aService("web"));
    },
    told: [],
  },
  { name: "the Service headless", change: (view) => view.putService(aService("web", HEADLESS)), told: ["-web"] },
  {
    name: "the Service of another proxy",
    change: (view) => view.putService(aService("web", {}, { labels: { "service.kubernetes.io/service-proxy-name": "mine" } })),
    told: ["-web"],
  },
  {
    name: "the Service of both families",
    change: (view) => view.putService(aService("web", DUAL)),
    told: ["web/IPv6:"],
  },
  { name: "a Service without slices", change: (view) => view.putService(aService("api")), told: ["api:"] },
  { name: "a Service that was never there, deleted", change: (view) => view.deleteService(aService("api")), told: [] },
  { name: "a slice without its Service", change: (view) => view.putSlice(aSlice("api-a", "api", [anEndpoint("10.1.0.9")])), told: [] },
  {
    name: "a slice before its Service",
    change: (view) => {
      view.putSlice(aSlice("api-a", "api", [anEndpoint("10.1.0.9")]));
      view.sync();
      view.putService(aService("api"));
    },
    told: ["api: 10.1.0.9:8080"],
  },
  {
    name: "the slice again, in another order",
    change: (view) => view.putSlice(aSlice("web-a", "web", [anEndpoint("10.1.0.2"), anEndpoint("10.1.0.1")])),
    told: [],
  },
  {
    name: "the slice with another target",
    change: (view) =>
      view.putSlice(
        aSlice(
          "web-a",
          "web",
          ["10.1.0.1", "10.1.0.2"].map((ip) => anEndpoint(ip, "ready", { targetRef: { name: "p" } })),
        ),
      ),
    told: [],
  },
  {
    name: "an endpoint not ready",
    change: (view) => view.putSlice(aSlice("web-a", "web", [anEndpoint("10.1.0.1"), anEndpoint("10.1.0.2", "notReady")])),
    told: ["web: 10.1.0.1:8080 10.1.0.2:8080"],
  },
  {
    name: "an endpoint not ready, and back",
    change: (view) => {
      view.putSlice(aSlice("web-a", "web", [anEndpoint("10.1.0.1", "notReady"), anEndpoint("10.1.0.2")]));
      view.putSlice(aSlice("web-a", "web", [anEndpoint("10.1.0.1"), anEndpoint("10.1.0.2")]));
    },
    told: [],
  },
  {
    name: "an endpoint on its way to another slice",
    change: (view) => {
      view.putSlice(aSlice("web-b", "web", [anEndpoint("10.1.0.2")]));
      expect(textsOf(view.sync())).toEqual([]);
      view.putSlice(aSlice("web-a", "web", [anEndpoint("10.1.0.1")]));
    },
    told: [],
  },
  { name: "the slice deleted", change: (view) => view.deleteSlice(aSlice("web-a", "web", [])), told: ["web:"] },
  { name: "a slice that was never there, deleted", change: (view) => view.deleteSlice(aSlice("web-z", "web", [])), told: [] },
  {
    name: "the slice headless",
    change: (view) => view.putSlice(aSlice("web-a", "web", [anEndpoint("10.1.0.1")], { labels: { "service.kubernetes.io/headless": "" } })),
    told: ["web:"],
  },
  {
    name: "the slice of another Service",
    change: (view) => {
      view.putService(aService("api"));
      view.sync();
      view.putSlice(aSlice("web-a", "api", [anEndpoint("10.1.0.1")]));
    },
    told: ["web:", "api: 10.1.0.1:8080"],
  },
  {
    name: "a port that the Service has not",
    change: (view) => view.putSlice(aSlice("web-m", "web", [anEndpoint("10.1.0.3")], { ports: [{ name: "metrics", port: 9 }] })),
    told: [],
  },
  {
    name: "a port that slices have, and the Service from now on",
    change: (view) => {
      view.putSlice(aSlice("web-m", "web", [anEndpoint("10.1.0.3")], { ports: [{ name: "metrics", port: 9 }] }));
      view.sync();
      view.putService(aService("web", { ports: [{ name: "metrics", protocol: "TCP", port: 90 }] }));
    },
    told: ["web: 10.1.0.3:9"],
  },
  {
    name: "a slice of the same name in another namespace",
    change: (view) => {
      const slice = aSlice("web-a", "web", [anEndpoint("10.1.0.7")]);
      view.putSlice({ ...slice, metadata: { ...slice.metadata, namespace: "other" } });
    },
    told: [],
  },
  { name: "a new list of Services without it", change: (view) => view.replaceServices([aService("api")]), told: ["-web", "api:"] },
  { name: "a new list of slices without it", change: (view) => view.replaceSlices([]), told: ["web:"] },
  {
    name: "new lists that say the same",
    change: (view) => {
      view.replaceServices([aService("web")]);
      view.replaceSlices([aSlice("web-a", "web", [anEndpoint("10.1.0.1"), anEndpoint("10.1.0.2")])]);
    },
    told: [],
  },
];

describe("MergedServices", () => {
  it.each(ROWS)("$name: told is what differs, once", ({ change, told }) => {
    const view = settled();
    change(view);
    expect(textsOf(view.sync()).sort()).toEqual([...told].sort());
    expect(textsOf(view.sync())).toEqual([]);
  });

  it("Service of both families: each has its own endpoints", () => {
    const view = new MergedServices();
    view.putService(aService("web", DUAL));
    view.putSlice(aSlice("web-4", "web", [anEndpoint("10.1.0.1")]));
    view.putSlice(aSlice("web-6", "web", [anEndpoint("fd00:1::1")], { addressType: "IPv6" }));
    expect(textsOf(view.sync())).toEqual(["web: 10.1.0.1:8080", "web/IPv6: [fd00:1::1]:8080"]);
  });

  it("objects that say nothing new: nothing is pending", () => {
    const view = settled();
    view.putService(aService("web"));
    view.putSlice(aSlice("web-a", "web", [anEndpoint("10.1.0.1"), anEndpoint("10.1.0.2")]));
    expect(view.isPending).toBe(false);
    view.deleteSlice(aSlice("web-a", "web", []));
    expect(view.isPending).toBe(true);
  });

  it("ready endpoints on a port that the Service does not have: told where it has a check", () => {
    const view = new MergedServices();
    const check = { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 32_000 };
    const told = () => view.sync().updated.map(({ localReady }) => localReady && Object.fromEntries(localReady));
    const putOther = (...ips: string[]) => {
      const endpoints = ips.map((ip) => anEndpoint(ip, "ready", { nodeName: "n1" }));
      view.putSlice(aSlice("web-o", "web", endpoints, { ports: [{ name: "other", port: 9 }] }));
    };
    view.putService(aService("web", check));
    expect(told()).toEqual([{}]);
    putOther("10.1.0.1");
    expect(told()).toEqual([{ n1: 1 }]);
    putOther("10.1.0.2");
    expect(told(), "another address, the same number").toEqual([]);
    view.putService(aService("web"));
    expect(told(), "no check").toEqual([undefined]);
    putOther("10.1.0.2", "10.1.0.3");
    expect(told()).toEqual([]);
    view.putService(aService("web", check));
    expect(told()).toEqual([{ n1: 2 }]);
  });

  it("definition changes, endpoints stay: their lists are the same objects", () => {
    const view = settled();
    const at = (changes: ServiceChanges) => changes.updated[0]?.endpoints;
    view.putService(aService("web", { sessionAffinity: "ClientIP" }));
    const first = at(view.sync());
    view.putService(aService("web", { sessionAffinity: "None" }));
    expect(at(view.sync())).toBe(first);
  });
});

it("a Service of 20,000 endpoints beside 5,000 others, one endpoint changes: only that Service is told", () => {
  const view = new MergedServices();
  const big = Array.from({ length: 200 }, (_, i) => {
    const endpoints = Array.from({ length: 100 }, (__, j) => anEndpoint(`10.${1 + (i >> 6)}.${i & 63}.${j}`));
    return aSlice(`big-${i}`, "big", endpoints);
  });
  const services: Service[] = [aService("big"), ...Array.from({ length: 5_000 }, (_, i) => aService(`s${i}`))];
  const slices: EndpointSlice[] = [
    ...big,
    ...Array.from({ length: 5_000 }, (_, i) => aSlice(`s${i}`, `s${i}`, [anEndpoint(`10.9.${i >> 7}.${i & 127}`)])),
  ];
  view.replaceServices(services);
  view.replaceSlices(slices);
  expect(view.sync().updated).toHaveLength(5_001);
  const [first] = big;
  if (first) view.putSlice({ ...first, endpoints: first.endpoints.slice(1) });
  const { updated } = view.sync();
  expect(updated.map(({ service, endpoints }) => [service.name, endpoints.get("http/TCP")?.length])).toEqual([["big", 19_999]]);
});
