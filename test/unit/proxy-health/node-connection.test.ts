import { describe, expect, it } from "vitest";
import type { Node } from "../../../src/api/meta/kubernetes";
import { parseNodeId, portOf, refusedDial } from "../../../src/proxy-health/node-connection";

function nodeWith(...addresses: string[]): Node {
  return { status: { addresses: addresses.map((text) => ({ type: text.split(" ")[0] ?? "", address: text.split(" ")[1] ?? "" })) } };
}

describe("id of a request to a node", () => {
  it.each([
    ["a", "", "a", undefined],
    ["a:", "", "a", undefined],
    ["a:10256", "", "a", 10256],
    ["http:a:1", "http", "a", 1],
    ["https:a:", "https", "a", undefined],
    [":a:1", "", "a", 1],
  ] as const)("%s: scheme, name and port", (id, scheme, name, port) => {
    expect(parseNodeId(id)).toEqual({ scheme, name, port });
  });

  it.each(["", ":", ":1", "http::1", "ftp:a:1", "HTTP:a:1", "a:b", "a:-1", "a:123456", "http:a:1:2", "fd00::1"])("%s: none", (id) => {
    expect(parseNodeId(id)).toBeUndefined();
  });

  it("no port: the kubelet's as the Node has it, otherwise 10250", () => {
    const id = { scheme: "", name: "a" } as const;
    const node: Node = { status: { daemonEndpoints: { kubeletEndpoint: { Port: 1234 } } } };
    const ports = [node, { status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } } } }, {}, undefined].map((one) =>
      portOf({ ...id, port: undefined }, one),
    );
    expect([...ports, portOf({ ...id, port: 80 }, node)]).toEqual([1234, 10250, 10250, 10250, 80]);
  });
});

describe("dial of a port where nothing listens", () => {
  it.each([
    [["Hostname a", "ExternalIP 192.0.2.1", "InternalIP 10.0.0.1"], 80, "dial tcp 10.0.0.1:80: connect: connection refused"],
    [["InternalIP fd00::1"], 80, "dial tcp [fd00::1]:80: connect: connection refused"],
    [["Hostname a"], 80, "dial tcp a:80: connect: connection refused"],
    [["InternalIP 10.0.0.1"], 70000, "dial tcp: address 70000: invalid port"],
  ])("%j: upstream's text", (addresses, port, value) => {
    expect(refusedDial(nodeWith(...addresses), port)).toEqual({ ok: true, value });
  });

  it.each([
    [[], "no preferred addresses found; known addresses: []"],
    [["Other x", "More y"], "no preferred addresses found; known addresses: [{Other x} {More y}]"],
  ])("%j: no address to dial", (addresses, error) => {
    expect(refusedDial(nodeWith(...addresses), 80)).toEqual({ ok: false, error });
  });
});
