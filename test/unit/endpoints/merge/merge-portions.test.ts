/** Rows from upstream pkg/proxy/endpointslicecache_test.go (TestEndpointInfoByServicePort, TestEndpointsMapFromESC). */
import { describe, expect, it } from "vitest";
import type { EndpointSlice } from "../../../../src/api/meta/kubernetes";
import { mergePortions } from "../../../../src/endpoints/merge/merge-portions";
import { slicePortion } from "../../../../src/api/registry/endpoint-slices/slice-portion";
import { aSlice, anEndpoint, type EndpointState } from "../../../support/values/endpoint-objects";

const PORTS = ["http/TCP", "dns/TCP", "dns/UDP"];
const merged = (...slices: EndpointSlice[]) =>
  mergePortions(
    slices.flatMap((slice) => slicePortion(slice) ?? []),
    PORTS,
  );
const texts = (...slices: EndpointSlice[]) =>
  [...merged(...slices)].map(([port, endpoints]) => [port, ...endpoints.map(({ key }) => key)].join(" "));

describe("mergePortions", () => {
  it.each<[string, EndpointSlice[], string[]]>([
    [
      "two slices with one port",
      [aSlice("a", "web", [anEndpoint("10.1.0.2")]), aSlice("b", "web", [anEndpoint("10.1.0.1")])],
      ["http/TCP 10.1.0.1:8080 10.1.0.2:8080"],
    ],
    [
      "slices that overlap",
      [aSlice("a", "web", [anEndpoint("10.1.0.1"), anEndpoint("10.1.0.2")]), aSlice("b", "web", [anEndpoint("10.1.0.2")])],
      ["http/TCP 10.1.0.1:8080 10.1.0.2:8080"],
    ],
    [
      "two ports of one name and number, TCP and UDP",
      [
        aSlice("a", "dns", [anEndpoint("10.1.0.1")], {
          ports: [53, 53].map((port, i) => ({ name: "dns", port, protocol: i ? "UDP" : "TCP" })),
        }),
      ],
      ["dns/TCP 10.1.0.1:53", "dns/UDP 10.1.0.1:53"],
    ],
    [
      "one address with two numbers of a port",
      [aSlice("a", "web", [anEndpoint("10.1.0.1")]), aSlice("b", "web", [anEndpoint("10.1.0.1")], { ports: [{ name: "http", port: 81 }] })],
      ["http/TCP 10.1.0.1:8080 10.1.0.1:81"],
    ],
    ["slice without endpoints", [aSlice("a", "web", [])], []],
    ["port that the Service has not", [aSlice("a", "web", [anEndpoint("10.1.0.1")], { ports: [{ name: "other", port: 1 }] })], []],
    [
      "order of texts",
      [
        aSlice(
          "a",
          "web",
          ["10.1.0.9", "10.1.0.10"].map((ip) => anEndpoint(ip)),
        ),
      ],
      ["http/TCP 10.1.0.10:8080 10.1.0.9:8080"],
    ],
  ])("%s: one list for each port, ascending", (_, slices, expected) => {
    expect(texts(...slices)).toEqual(expected);
  });

  const STATES: EndpointState[] = ["ready", "notReady", "published", "servingLast", "ending"];
  const pairs = STATES.flatMap((better, i) => STATES.slice(i + 1).map((worse): [EndpointState, EndpointState] => [better, worse]));
  it.each(pairs)("endpoint in two slices, %s and %s: the first of the two states wins in both orders", (better, worse) => {
    const [a, b] = [better, worse].map((state) => aSlice(state, "web", [anEndpoint("10.1.0.1", state, { nodeName: state })])) as [
      EndpointSlice,
      EndpointSlice,
    ];
    for (const order of [merged(a, b), merged(b, a)]) expect(order.get("http/TCP")?.map(({ nodeName }) => nodeName)).toEqual([better]);
  });

  it("endpoint in two slices with one state: the first slice wins", () => {
    const slices = ["n1", "n2"].map((nodeName) => aSlice(nodeName, "web", [anEndpoint("10.1.0.1", "ready", { nodeName })]));
    expect(
      merged(...slices)
        .get("http/TCP")
        ?.map(({ nodeName }) => nodeName),
    ).toEqual(["n1"]);
  });

  it("more endpoints over all ports than a Service may have: slices beyond are left out", () => {
    const ports = ["a", "b", "c"].map((name) => ({ name, port: 80 }));
    const slices = ["10.1.0.1", "10.1.0.2"].map((ip) => slicePortion(aSlice(ip, "web", [anEndpoint(ip)], { ports })));
    const keys = mergePortions(
      slices.flatMap((portion) => portion ?? []),
      ["a/TCP", "b/TCP", "c/TCP"],
      4,
    );
    expect([...keys].map(([port, list]) => `${port} ${list.length}`)).toEqual(["a/TCP 2", "b/TCP 1", "c/TCP 1"]);
  });
});
