/** Rows from upstream pkg/proxy/endpointslicecache_test.go. */
import { describe, expect, it } from "vitest";
import type { EndpointSlice } from "../../../../../src/api/meta/kubernetes";
import {
  endpointsOn,
  type MergedEndpoint,
  readyAddresses,
  slicePortion,
} from "../../../../../src/api/registry/endpoint-slices/slice-portion";
import { aSlice, anEndpoint } from "../../../../support/values/endpoint-objects";

/** Each port of the slice with its endpoints. */
function portsOf(slice: EndpointSlice): [string, readonly MergedEndpoint[]][] {
  const portion = slicePortion(slice);
  return portion?.ports.map((port) => [port.key, endpointsOn(portion, port)]) ?? [];
}

const keysOf = (slice: EndpointSlice) => portsOf(slice).map(([key, endpoints]) => [key, ...endpoints.map((one) => one.key)].join(" "));

describe("slicePortion", () => {
  it("endpoint with everything: every member is read", () => {
    const hints = { forZones: [{ name: "a" }, { name: "b" }], forNodes: [{ name: "n1" }] };
    const endpoint = anEndpoint("10.1.0.1", "servingLast", { nodeName: "n1", zone: "a", hints });
    const slice = aSlice("web-1", "web", [endpoint]);
    expect(slicePortion(slice)).toMatchObject({ family: "IPv4", serviceName: "web" });
    expect(portsOf(slice)).toEqual([
      [
        "http/TCP",
        [
          {
            key: "10.1.0.1:8080",
            ip: "10.1.0.1",
            port: 8080,
            ready: false,
            serving: true,
            terminating: true,
            nodeName: "n1",
            zone: "a",
            zoneHints: ["a", "b"],
            nodeHints: ["n1"],
          },
        ],
      ],
    ]);
  });

  it("endpoint without conditions: ready, serving, not terminating", () => {
    const endpoint = slicePortion(aSlice("web-1", "web", [{ addresses: ["10.1.0.1"] }]))?.endpoints[0];
    expect(endpoint).toMatchObject({ ready: true, serving: true, terminating: false, nodeName: undefined, zoneHints: [], nodeHints: [] });
  });

  it("endpoint whose node and zone are empty texts: is on no node", () => {
    const slice = aSlice("web-1", "web", [anEndpoint("10.1.0.1", "ready", { nodeName: "", zone: "" })]);
    expect(slicePortion(slice)?.endpoints[0]).toMatchObject({ nodeName: undefined, zone: undefined });
  });

  it.each<[string, EndpointSlice]>([
    ["without the label of a Service", aSlice("web-1", "", [])],
    ["headless", aSlice("web-1", "web", [], { labels: { "service.kubernetes.io/headless": "" } })],
    ["with names", aSlice("web-1", "web", [{ addresses: ["a.example"] }], { addressType: "FQDN" })],
  ])("slice %s: left alone", (_, slice) => {
    expect(slicePortion(slice)).toBeUndefined();
  });

  it.each<[string, EndpointSlice, string[]]>([
    [
      "several ports",
      aSlice("s", "web", [anEndpoint("10.1.0.1"), anEndpoint("10.1.0.2")], {
        ports: [
          { name: "", port: 80 },
          { name: "dns", protocol: "UDP", port: 53 },
        ],
      }),
      ["/TCP 10.1.0.1:80 10.1.0.2:80", "dns/UDP 10.1.0.1:53 10.1.0.2:53"],
    ],
    ["port without a name", aSlice("s", "web", [anEndpoint("10.1.0.1")], { ports: [{ port: 80 }] }), []],
    ["port without a number", aSlice("s", "web", [anEndpoint("10.1.0.1")], { ports: [{ name: "http" }] }), []],
    ["port 0", aSlice("s", "web", [anEndpoint("10.1.0.1")], { ports: [{ name: "http", port: 0 }] }), []],
    ["IPv6", aSlice("s", "web", [anEndpoint("fd00::1")], { addressType: "IPv6" }), ["http/TCP [fd00::1]:8080"]],
    ["second address", aSlice("s", "web", [{ addresses: ["10.1.0.1", "10.1.0.9"] }]), ["http/TCP 10.1.0.1:8080"]],
    ["no address, address of the other family", aSlice("s", "web", [{ addresses: [] }, { addresses: ["fd00::1"] }]), ["http/TCP"]],
    ["null lists", { ...aSlice("s", "web", []), ports: null, endpoints: null } as unknown as EndpointSlice, []],
    ["null endpoints", { ...aSlice("s", "web", []), endpoints: null } as unknown as EndpointSlice, ["http/TCP"]],
  ])("%s: as kube-proxy reads it", (_, slice, expected) => {
    expect(keysOf(slice)).toEqual(expected);
  });
});

it("readyAddresses: an address counts once over all slices and ports, and only ready ones that have a node", () => {
  const on = (nodeName: string) => ({ nodeName });
  const [here, there] = [on("n1"), on("n2")];
  const slices = [
    aSlice("a", "web", [anEndpoint("10.1.0.1", "ready", here), anEndpoint("10.1.0.2", "ready", there), anEndpoint("10.1.0.3")]),
    aSlice("b", "web", [anEndpoint("10.1.0.1", "ready", here), anEndpoint("10.1.0.4", "published", here)], {
      ports: [{ name: "x", port: 9 }],
    }),
    aSlice("c", "web", [anEndpoint("10.1.0.5", "servingLast", here), anEndpoint("10.1.0.6", "notReady", here)]),
    aSlice("without-ports", "web", [anEndpoint("10.1.0.7", "ready", here)], { ports: [] }),
  ];
  const byNode = readyAddresses(slices.flatMap((slice) => slicePortion(slice) ?? []));
  expect([...byNode].map(([node, addresses]) => [node, ...addresses])).toEqual([
    ["n1", "10.1.0.1", "10.1.0.4"],
    ["n2", "10.1.0.2"],
  ]);
});
