import { describe, expect, it } from "vitest";
import type { EndpointSlice } from "../../../../../src/api/meta/kubernetes";
import { validateEndpointSlice } from "../../../../../src/api/registry/endpoint-slices/validate";
import { texts } from "../services/a-service";

type Endpoint = EndpointSlice["endpoints"][number];
type Port = NonNullable<EndpointSlice["ports"]>[number];

function slice(changes: { type?: string; endpoints?: Endpoint[]; ports?: Port[] }): EndpointSlice {
  return { metadata: { name: "a" }, addressType: changes.type ?? "IPv4", endpoints: changes.endpoints ?? [], ports: changes.ports ?? [] };
}

function errorsOf(given: EndpointSlice): string[] {
  return texts(validateEndpointSlice(given));
}

function at(type: string, ...addresses: string[]): EndpointSlice {
  return slice({ type, endpoints: [{ addresses }] });
}

function port(changes: Partial<Port>): Port {
  return { name: "http", protocol: "TCP", ...changes };
}

const endpoint: Endpoint = { addresses: ["10.0.0.1"] };

describe("no errors (validation_test.go)", () => {
  it.each<[string, EndpointSlice]>([
    ["nothing in it", slice({})],
    ["lists that are null", { ...slice({}), endpoints: null as unknown as Endpoint[], ports: null as unknown as Port[] }],
    ["a port name of 63 characters", slice({ ports: [port({ name: "a".repeat(63) })] })],
    ["an empty port name, no number", slice({ ports: [port({ name: "" })] })],
    ["1000 endpoints", slice({ endpoints: Array.from({ length: 1000 }, () => endpoint) })],
    ["20000 ports", slice({ ports: Array.from({ length: 20_000 }, (_, i) => port({ name: `p${String(i)}` })) })],
    ["100 addresses", at("IPv4", ...Array.from({ length: 100 }, (_, i) => `10.0.0.${String(i + 1)}`))],
    ["IPv6", at("IPv6", "2001:db8::1")],
    ["a domain, with and without a trailing dot", at("FQDN", "example.com", "example.com.", "hyphens-are-good.example.com")],
    ["hints", slice({ endpoints: [{ ...endpoint, hints: { forZones: [{ name: "a" }, { name: "b" }], forNodes: [{ name: "n-1" }] } }] })],
    ["hostname and node", slice({ endpoints: [{ ...endpoint, hostname: "valid-123", nodeName: "node.example.com" }] })],
  ])("%s: accepted", (_, given) => {
    expect(errorsOf(given)).toEqual([]);
  });
});

describe("errors", () => {
  it.each<[string, EndpointSlice, (string | RegExp)[]]>([
    ["no addressType", slice({ type: "" }), ["addressType: Required value"]],
    ["old addressType", slice({ type: "IP" }), ['addressType: Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6"']],
    [
      "1001 endpoints",
      slice({ endpoints: Array.from({ length: 1001 }, () => ({ addresses: [] })) }),
      ["endpoints: Too many: 1001: must have at most 1000 items"],
    ],
    [
      "20001 ports",
      slice({ ports: Array.from({ length: 20_001 }, () => port({})) }),
      ["ports: Too many: 20001: must have at most 20000 items"],
    ],
    ["no address", at("IPv4"), ["endpoints[0].addresses: Required value: must contain at least 1 address"]],
    [
      "101 addresses",
      at("IPv4", ...Array.from({ length: 101 }, () => "10.0.0.1")),
      ["endpoints[0].addresses: Too many: 101: must have at most 100 items"],
    ],
    [
      "no IP",
      at("IPv4", "bad"),
      ['endpoints[0].addresses[0]: Invalid value: "bad": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [
      "two bad IPv4 addresses",
      at("IPv4", "123.456.789.012", "2001:db8::1"),
      [
        /^endpoints\[0\]\.addresses\[0\]: Invalid value: "123\.456\.789\.012": must be a valid IP address/,
        'endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address',
      ],
    ],
    ["IPv4 where IPv6 is meant", at("IPv6", "1.2.3.4"), ['endpoints[0].addresses: Invalid value: "1.2.3.4": must be an IPv6 address']],
    ["leading zeros", at("IPv4", "010.0.0.1"), ['endpoints[0].addresses[0]: Invalid value: "010.0.0.1": must not have leading 0s']],
    [
      "mapped",
      at("IPv6", "::ffff:10.0.0.1"),
      ['endpoints[0].addresses[0]: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address'],
    ],
    [
      "not canonical",
      at("IPv6", "2001:DB8::1"),
      ['endpoints[0].addresses[0]: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")'],
    ],
    [
      "special IPv4",
      at("IPv4", "127.0.0.1"),
      ['endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ],
    ["special IPv6", at("IPv6", "fe80::9656:d028:8652:66b6"), [/: may not be in the link-local range \(169\.254\.0\.0\/16, fe80::\/10\)$/]],
    [
      "bad domains",
      at("FQDN", "foo.*", "FOO.example.com", "underscores_are_bad.example.com", "*.example.com"),
      [/\[0\]/, /\[1\]/, /\[2\]/, /\[3\]/],
    ],
    [
      "a single label",
      at("FQDN", "foo"),
      ['endpoints[0].addresses[0]: Invalid value: "foo": should be a domain with at least two segments separated by dots'],
    ],
    ["an empty domain", at("FQDN", ""), ["endpoints[0].addresses[0]: Required value"]],
    [
      "bad hostname",
      slice({ endpoints: [{ ...endpoint, hostname: "--INVALID" }] }),
      [/^endpoints\[0\]\.hostname: Invalid value: "--INVALID": a lowercase RFC 1123 label/],
    ],
    [
      "bad nodeName",
      slice({ endpoints: [{ ...endpoint, nodeName: "INV_ALID" }] }),
      [/^endpoints\[0\]\.nodeName: Invalid value: "INV_ALID": a lowercase RFC 1123 subdomain/],
    ],
    [
      "zone twice",
      slice({ endpoints: [{ ...endpoint, hints: { forZones: [{ name: "a" }, { name: "a" }] } }] }),
      ['endpoints[0].hints.forZones[1].name: Duplicate value: "a"'],
    ],
    [
      "nine zones",
      slice({ endpoints: [{ ...endpoint, hints: { forZones: Array.from({ length: 9 }, (_, i) => ({ name: `z${String(i)}` })) } }] }),
      ["endpoints[0].hints.forZones: Too many: 9: must have at most 8 items"],
    ],
    [
      "nine zones and nine nodes",
      slice({
        endpoints: [
          {
            ...endpoint,
            hints: {
              forZones: Array.from({ length: 9 }, (_, i) => ({ name: `z${String(i)}` })),
              forNodes: Array.from({ length: 9 }, (_, i) => ({ name: `n${String(i)}` })),
            },
          },
        ],
      }),
      ["endpoints[0].hints.forZones: Too many: 9: must have at most 8 items"],
    ],
    [
      "bad node hint",
      slice({ endpoints: [{ ...endpoint, hints: { forNodes: [{ name: "A" }, { name: "b_" }] } }] }),
      [/forNodes\[0\]\.name/, /forNodes\[1\]\.name/],
    ],
    ["port name twice", slice({ ports: [port({}), port({})] }), ['ports[1].name: Duplicate value: "http"']],
    ["two empty port names", slice({ ports: [port({ name: "" }), port({ name: "" })] }), ['ports[1].name: Duplicate value: ""']],
    [
      "port name in capitals",
      slice({ ports: [port({ name: "aCapital" })] }),
      [/^ports\[0\]\.name: Invalid value: "aCapital": a lowercase RFC 1123 label/],
    ],
    ["port name too long", slice({ ports: [port({ name: "a".repeat(64) })] }), [/: must be no more than 63 characters$/]],
    [
      "bad protocol",
      slice({ ports: [port({ protocol: "foo" })] }),
      ['ports[0].protocol: Unsupported value: "foo": supported values: "SCTP", "TCP", "UDP"'],
    ],
    [
      "bad appProtocol",
      slice({ ports: [port({ appProtocol: "--" })] }),
      [/^ports\[0\]\.appProtocol: Invalid value: "--": name part must consist/],
    ],
  ])("%s: refused with upstream's text", (_, given, want) => {
    const got = errorsOf(given);
    expect(got).toHaveLength(want.length);
    want.forEach((text, i) => (typeof text === "string" ? expect(got[i]).toBe(text) : expect(got[i]).toMatch(text)));
  });
});
