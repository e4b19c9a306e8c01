import { describe, expect, it } from "vitest";
import type { ServiceCIDR } from "../../../../../src/api/meta/kubernetes";
import { serviceCIDRsDefinition } from "../../../../../src/api/registry/service-cidrs/definition";
import { serviceCIDRStrategy } from "../../../../../src/api/registry/service-cidrs/strategy";
import { texts } from "../services/a-service";
import { CONTEXT, create, update, updateStatus } from "../outcomes";
import { upstreamRow } from "../../../../conformance/upstream-row";

const SAME_FAMILY = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";

function validate(...cidrs: string[]): string[] {
  return texts(serviceCIDRStrategy.validate({ spec: { cidrs } }, CONTEXT));
}

upstreamRow("TestValidateServiceCIDR(+Update), TestValidateIPAddress(+Update)", () => {
  it.each<[string[], string[]]>([
    [["192.168.0.0/24"], []],
    [["fd00:1234::/64"], []],
    [["192.168.0.0/24", "fd00:1234::/64"], []],
    [["fd00:1234::/64", "192.168.0.0/24"], []],
    [["10.0.0.0/8"], []],
    [["2001:db8::/32"], []],
    [[], ["spec.cidrs: Required value: at least one CIDR required"]],
    [
      ["192.168.0.0/24", "192.168.1.0/24", "fd00::/64"],
      ['spec.cidrs: Invalid value: {"CIDRs":["192.168.0.0/24","192.168.1.0/24","fd00::/64"]}: may only hold up to 2 values'],
    ],
    [["bad"], ['spec.cidrs[0]: Invalid value: "bad": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
    [["192.168.000.0/24"], ['spec.cidrs[0]: Invalid value: "192.168.000.0/24": must not have leading 0s in IP or prefix length']],
    [["192.168.0.10/24"], ['spec.cidrs[0]: Invalid value: "192.168.0.10/24": must not have bits set beyond the prefix length']],
    [["FD00:1234::0/64"], ['spec.cidrs[0]: Invalid value: "FD00:1234::0/64": must be in canonical form ("fd00:1234::/64")']],
    [["192.168.0.0/24", "10.0.0.0/24"], [`spec.cidrs: Invalid value: ["192.168.0.0/24","10.0.0.0/24"]: ${SAME_FAMILY}`]],
    [["fd00::/64", "fd00:1::/64"], [`spec.cidrs: Invalid value: ["fd00::/64","fd00:1::/64"]: ${SAME_FAMILY}`]],
    [["192.168.0.0/24", "bad"], ['spec.cidrs[1]: Invalid value: "bad": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
  ])("cidrs %j: upstream's errors", (cidrs, want) => {
    expect(validate(...cidrs)).toEqual(want);
  });

  it("without spec: cidrs is required", () => {
    expect(texts(serviceCIDRStrategy.validate({}, CONTEXT))).toEqual(["spec.cidrs: Required value: at least one CIDR required"]);
  });
});

upstreamRow("TestValidateServiceCIDR(+Update), TestValidateIPAddress(+Update)", () => {
  const immutable = (field: string, value: unknown) => `${field}: Invalid value: ${JSON.stringify(value)}: field is immutable`;
  it.each<[string[], string[], string[]]>([
    [["192.168.0.0/24"], ["192.168.0.0/24"], []],
    [["192.168.0.0/24"], ["192.168.0.0/24", "fd00::/64"], []],
    [["192.168.0.0/24"], ["10.0.0.0/24"], [immutable("spec.cidrs[0]", "10.0.0.0/24")]],
    [["192.168.0.0/24"], ["fd00::/64", "192.168.0.0/24"], [immutable("spec.cidrs[0]", "fd00::/64")]],
    [["192.168.0.0/24", "fd00::/64"], ["192.168.0.0/24", "fd01::/64"], [immutable("spec.cidrs[1]", "fd01::/64")]],
    [
      ["192.168.0.0/24", "fd00::/64"],
      ["fd00::/64", "192.168.0.0/24"],
      [immutable("spec.cidrs[0]", "fd00::/64"), immutable("spec.cidrs[1]", "192.168.0.0/24")],
    ],
    [["192.168.0.0/24", "fd00::/64"], ["192.168.0.0/24"], [immutable("spec.cidrs", ["192.168.0.0/24"])]],
    [["192.168.0.0/24"], [], [immutable("spec.cidrs", [])]],
    [
      ["192.168.0.0/24"],
      ["192.168.0.0/24", "fd00::/64", "10.0.0.0/24"],
      [immutable("spec.cidrs", ["192.168.0.0/24", "fd00::/64", "10.0.0.0/24"])],
    ],
    [["192.168.0.0/24"], ["192.168.0.1/24"], [immutable("spec.cidrs[0]", "192.168.0.1/24")]],
    [
      ["192.168.0.0/24"],
      ["192.168.0.0/24", "10.0.0.0/24"],
      [`spec.cidrs: Invalid value: ["192.168.0.0/24","10.0.0.0/24"]: ${SAME_FAMILY}`],
    ],
  ])("update of %j to %j: equal or one family more is accepted", (stored, wanted, want) => {
    const serviceCIDR = (cidrs: string[]): ServiceCIDR => ({ metadata: { name: "a" }, spec: { cidrs } });
    expect(update(serviceCIDRsDefinition, { after: serviceCIDR(wanted), before: serviceCIDR(stored) }).errors).toEqual(want);
  });
});

describe("status", () => {
  const condition = { type: "Ready", status: "True", reason: "", message: "m", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const before: ServiceCIDR = {
    metadata: { name: "a", uid: "u", labels: { a: "b" }, finalizers: ["x/y"] },
    spec: { cidrs: ["10.0.0.0/8"] },
    status: {},
  };

  it("status of the client: dropped by a create, ignored by the main endpoint", () => {
    const sent: ServiceCIDR = { ...before, metadata: { name: "a" }, status: { conditions: [condition] } };
    expect(create(serviceCIDRsDefinition, sent).object).not.toHaveProperty("status");
    expect(update(serviceCIDRsDefinition, { after: sent, before }).object.status).toEqual({});
  });

  it("the status endpoint: changes neither spec nor labels, annotations, finalizers, owners", () => {
    const after: ServiceCIDR = {
      metadata: { name: "a", labels: { c: "d" }, annotations: { e: "f" }, finalizers: [] },
      spec: { cidrs: ["fd00::/64"] },
      status: { conditions: [condition] },
    };
    const { object, errors } = updateStatus(serviceCIDRsDefinition, { after, before });
    expect(errors).toEqual([]);
    expect(object.metadata).toEqual({ name: "a", uid: "u", labels: { a: "b" }, finalizers: ["x/y"], creationTimestamp: undefined });
    expect(object.spec).toEqual(before.spec);
    expect(object.status).toEqual({ conditions: [condition] });
  });
});

it("cells: have the ranges, joined by a comma", () => {
  const serviceCIDR: ServiceCIDR = { metadata: { name: "a" }, spec: { cidrs: ["10.0.0.0/8", "fd00::/64"] } };
  expect(serviceCIDRsDefinition.cells(serviceCIDR, 0)).toEqual(["a", "10.0.0.0/8,fd00::/64", "<unknown>", "<all>"]);
  serviceCIDR.metadata = { name: "a", annotations: { "servicenet.dev/namespace-selector": "tenant=a" } };
  expect(serviceCIDRsDefinition.cells(serviceCIDR, 0).at(-1)).toBe("tenant=a");
});

describe("annotations that keep the ranges for the Services of some namespaces", () => {
  const SELECTOR = "servicenet.dev/namespace-selector";
  const WHEN_FULL = "servicenet.dev/when-full";
  const withAnnotations = (annotations: Record<string, string>): ServiceCIDR => ({
    metadata: { name: "a", annotations },
    spec: { cidrs: ["10.0.0.0/8"] },
  });

  it.each([
    [{ [SELECTOR]: "tenant=a" }, []],
    [{ [SELECTOR]: "tenant in (a,b),!shared", [WHEN_FULL]: "Any" }, []],
    [{ [WHEN_FULL]: "Fail" }, []],
    [{ [SELECTOR]: "a=b=c" }, [`metadata.annotations[${SELECTOR}]`]],
    [{ [SELECTOR]: "" }, [`metadata.annotations[${SELECTOR}]`]],
    [{ [SELECTOR]: "x y", [WHEN_FULL]: "any" }, [`metadata.annotations[${SELECTOR}]`, `metadata.annotations[${WHEN_FULL}]`]],
  ])("%j: errors at %j, also in an update", (annotations, fields) => {
    const after = withAnnotations(annotations);
    const before = { ...withAnnotations({}), metadata: { name: "a" } };
    expect(create(serviceCIDRsDefinition, after).errors.map((error) => error.split(": ")[0])).toEqual(fields);
    expect(update(serviceCIDRsDefinition, { after, before }).errors.map((error) => error.split(": ")[0])).toEqual(fields);
  });

  const PORTS = "servicenet.dev/node-port-range";
  it.each([
    ["31000-31099", undefined],
    ["30000-32767", undefined],
    ["31000-31000", undefined],
    ["31099-31000", "must be FIRST-LAST, two ports from 30000 to 32767, such as 31000-31099"],
    ["29999-31000", "must be FIRST-LAST"],
    ["32000-32768", "must be FIRST-LAST"],
    ["31000", "must be FIRST-LAST"],
    ["31000+99", "must be FIRST-LAST"],
    [" 31000-31099", "must be FIRST-LAST"],
    ["", "must be FIRST-LAST"],
  ])("node ports %j: %s", (text, want) => {
    const { errors } = create(serviceCIDRsDefinition, withAnnotations({ [SELECTOR]: "tenant=a", [PORTS]: text }));
    expect(errors).toEqual(
      want === undefined
        ? []
        : [expect.stringContaining(`metadata.annotations[${PORTS}]: Invalid value: ${JSON.stringify(text)}: ${want}`)],
    );
  });

  it("node ports without a selector: refused when either comes or goes, and no other change is hindered", () => {
    const both = withAnnotations({ [SELECTOR]: "tenant=a", [PORTS]: "31000-31099" });
    const ports = withAnnotations({ [PORTS]: "31000-31099" });
    const refused = [expect.stringContaining(`needs ${SELECTOR}, which says whose ports they are`)];
    expect(create(serviceCIDRsDefinition, ports).errors).toEqual(refused);
    expect(update(serviceCIDRsDefinition, { after: ports, before: withAnnotations({}) }).errors).toEqual(refused);
    expect(update(serviceCIDRsDefinition, { after: ports, before: both }).errors).toEqual(refused);
    expect(
      update(serviceCIDRsDefinition, { after: withAnnotations({ [PORTS]: "31000-31099", other: "x" }), before: ports }).errors,
    ).toEqual([]);
    expect(update(serviceCIDRsDefinition, { after: withAnnotations({ [SELECTOR]: "tenant=a" }), before: both }).errors).toEqual([]);
  });

  it("a bad one that is stored already: hinders no other change", () => {
    const before = withAnnotations({ [SELECTOR]: "a=b=c" });
    const after = withAnnotations({ [SELECTOR]: "a=b=c", other: "x" });
    expect(update(serviceCIDRsDefinition, { after, before }).errors).toEqual([]);
  });
});
