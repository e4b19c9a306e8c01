import { describe, expect, it } from "vitest";
import { readEndpointFile } from "../../../../../src/clients/agent/endpoints/endpoint-file";

const NUMBERS = { initialDelaySeconds: 0, periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 };
const WEB = { name: "web", namespace: "default", port: 8080, protocol: "TCP", labels: {}, drainSeconds: 30 };

describe("file of endpoints", () => {
  it.each<[what: string, text: string, entries: object[]]>([
    ["no endpoints", "[]", []],
    ["a name and a port: the rest has defaults", "- {name: web, port: 8080}", [WEB]],
    ["JSON", `[{"name": "web", "port": 8080}]`, [WEB]],
    [
      "everything",
      `
- name: dns
  namespace: infra
  port: 53
  protocol: UDP
  labels: {tier: back, app: dns}
  drainSeconds: 0
  check:
    tcp: {port: 53, host: 127.0.0.1}
    initialDelaySeconds: 1
    periodSeconds: 2
    timeoutSeconds: 3
    successThreshold: 4
    failureThreshold: 5
`,
      [
        {
          ...{ name: "dns", namespace: "infra", port: 53, protocol: "UDP", labels: { app: "dns", tier: "back" } },
          check: {
            target: { kind: "tcp", host: "127.0.0.1", port: 53 },
            ...{ initialDelaySeconds: 1, periodSeconds: 2, timeoutSeconds: 3, successThreshold: 4, failureThreshold: 5 },
          },
          drainSeconds: 0,
        },
      ],
    ],
    [
      "an HTTP check asks the endpoint's port",
      "- {name: web, port: 8080, check: {http: {path: /healthz}}}",
      [{ ...WEB, check: { target: { kind: "http", scheme: "HTTP", port: 8080, path: "/healthz" }, ...NUMBERS } }],
    ],
    [
      "an HTTPS check with a port, host and no path",
      "- {name: web, port: 8080, check: {http: {scheme: https, port: 9, host: h}}}",
      [{ ...WEB, check: { target: { kind: "http", scheme: "HTTPS", host: "h", port: 9, path: "/" }, ...NUMBERS } }],
    ],
    [
      "a TCP check without members",
      "- {name: web, port: 8080, check: {tcp: }}",
      [{ ...WEB, check: { target: { kind: "tcp", port: 8080 }, ...NUMBERS } }],
    ],
    ["one name in two namespaces", "- {name: web, port: 8080}\n- {name: web, port: 8080, namespace: b}", [WEB, { ...WEB, namespace: "b" }]],
  ])("%s: is read", (_, text, entries) => {
    expect(readEndpointFile(text)).toEqual({ ok: true, value: entries });
  });

  it("labels in another order: the same JSON", () => {
    const json = (labels: string): string => JSON.stringify(readEndpointFile(`- {name: web, port: 1, labels: ${labels}}`));
    expect(json("{a: b, c: d}")).toBe(json("{c: d, a: b}"));
  });

  it.each<[what: string, text: string, error: string]>([
    ["an empty file", "", "the file is empty; [] has no endpoints"],
    ["a comment alone", "# none\n", "the file is empty; [] has no endpoints"],
    ["no YAML", "- {", "error converting YAML to JSON: yaml: "],
    ["a map", "web: 8080", "endpoints: Invalid value: {"],
    ["a text in the list", "- web", `endpoints[0]: Invalid value: "web": must be an endpoint`],
    ["a key twice", "- {name: web, port: 1, port: 2}", `line 1: key "port" already set in map`],
    ["an unknown member", "- {name: web, port: 1, prot: UDP}", "endpoints[0].prot: Forbidden: is not known; known are name, "],
    ["no name", "- {port: 1}", "endpoints[0].name: Required value"],
    ["a name with dots", "- {name: a.b, port: 1}", `endpoints[0].name: Invalid value: "a.b": must contain only alpha-numeric`],
    [
      "a name that no port can have",
      "- {name: sixteen-letters-, port: 1}",
      `endpoints[0].name: Invalid value: "sixteen-letters-": must be no more than 15`,
    ],
    ["no port", "- {name: web}", "endpoints[0].port: Required value"],
    ["port 0", "- {name: web, port: 0}", "endpoints[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"],
    ["a port as text", "- {name: web, port: '80'}", `endpoints[0].port: Invalid value: "80": must be between`],
    ["a port beyond 2^53", "- {name: web, port: 99999999999999999999}", "endpoints[0].port: Invalid value: "],
    ["an unknown protocol", "- {name: web, port: 1, protocol: tcp}", `endpoints[0].protocol: Unsupported value: "tcp"`],
    ["a label that is a number", "- {name: web, port: 1, labels: {v: 1}}", "endpoints[0].labels.v: Invalid value: 1: must be a text"],
    ["a bad label", "- {name: web, port: 1, labels: {a: b c}}", `endpoints[0].labels: Invalid value: "b c": a valid label must be`],
    ["labels as a list", "- {name: web, port: 1, labels: [a]}", `endpoints[0].labels: Invalid value: ["a"]: must be a map`],
    ["a bad namespace", "- {name: web, port: 1, namespace: A}", `endpoints[0].namespace: Invalid value: "A"`],
    ["a check that is a text", "- {name: web, port: 1, check: tcp}", `endpoints[0].check: Invalid value: "tcp": must be a check`],
    [
      "a check without a kind",
      "- {name: web, port: 1, check: {periodSeconds: 1}}",
      "endpoints[0].check: Required value: must have http or tcp",
    ],
    [
      "a check of two kinds",
      "- {name: web, port: 1, check: {http: , tcp: }}",
      "endpoints[0].check.tcp: Forbidden: may not stand beside http",
    ],
    ["a period of 0", "- {name: web, port: 1, check: {tcp: , periodSeconds: 0}}", "endpoints[0].check.periodSeconds: Invalid value: 0"],
    [
      "half a second",
      "- {name: web, port: 1, check: {tcp: , timeoutSeconds: 0.5}}",
      "endpoints[0].check.timeoutSeconds: Invalid value: 0.5",
    ],
    ["a path without a slash", "- {name: web, port: 1, check: {http: {path: x}}}", `endpoints[0].check.http.path: Invalid value: "x"`],
    ["a scheme", "- {name: web, port: 1, check: {http: {scheme: ftp}}}", `endpoints[0].check.http.scheme: Unsupported value: "FTP"`],
    ["an unknown member of a check", "- {name: web, port: 1, check: {tcp: {path: /}}}", "endpoints[0].check.tcp.path: Forbidden"],
    ["a check of a UDP port", "- {name: web, port: 1, protocol: UDP, check: {tcp: }}", "endpoints[0].check.tcp.port: Required value"],
    ["a negative drain time", "- {name: web, port: 1, drainSeconds: -1}", "endpoints[0].drainSeconds: Invalid value: -1"],
    ["one name twice", "- {name: web, port: 1}\n- {name: web, port: 2}", `endpoints[1].name: Duplicate value: "default/web"`],
  ])("%s: is refused", (_, text, error) => {
    const read = readEndpointFile(text);
    expect(read.ok ? "" : read.error).toContain(error);
  });
});
