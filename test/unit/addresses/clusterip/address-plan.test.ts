import { describe, expect, it } from "vitest";
import {
  applyTaken,
  dryRunAddress,
  heldAddresses,
  planClusterIPs,
  requestedClusterIPs,
  type Take,
} from "../../../../src/addresses/clusterip/address-plan";
import type { Service } from "../../../../src/api/meta/kubernetes";
import type { Family } from "../../../../src/core/net/family";
import { applyDefaults } from "../../../../src/api/registry/services/defaults";
import { validateService } from "../../../../src/api/registry/services/validate";
import { validateServiceUpdate } from "../../../../src/api/registry/services/validate-update";
import { servicesDefinition } from "../../../../src/api/registry/services/definition";
import { deepFreeze, sent, type Spec, stored, texts } from "../../api/registry/services/a-service";

const { strategy } = servicesDefinition;
const A = "10.0.0.10";
const A6 = "2001:db8::10";
const BOTH: readonly Family[] = ["IPv4", "IPv6"];

const SINGLE = stored({ clusterIP: A }, {}, BOTH);
const DUAL = stored({ clusterIP: A, clusterIPs: [A, A6], ipFamilyPolicy: "RequireDualStack" }, {}, BOTH);
const PREFER_DUAL = stored({ clusterIP: A, clusterIPs: [A, A6], ipFamilyPolicy: "PreferDualStack" }, {}, BOTH);
const PREFER_SINGLE = stored({ clusterIP: A, ipFamilyPolicy: "PreferDualStack" }, {}, ["IPv4"]);
const HEADLESS = stored({ clusterIP: "None" }, {}, BOTH);
const EXTERNAL = stored({ type: "ExternalName", externalName: "a.b" }, {}, BOTH);

/** As the store does it: the client's object, with defaults, prepared by the strategy. */
function wanted(spec: Spec, before?: Service, families: readonly Family[] = BOTH): Service {
  const service = sent(spec);
  const context = { now: 0, serviceFamilies: families };
  applyDefaults(service);
  if (before) strategy.prepareForUpdate({ after: service, before }, context);
  else strategy.prepareForCreate(service, context);
  return service;
}

function plan(spec: Spec, before?: Service, families: readonly Family[] = BOTH) {
  const after = wanted(spec, before, families);
  const planned = planClusterIPs({ after, before }, families);
  return { after, planned };
}

function take(index: number, family: Family, address = ""): Take {
  return { index, family, address };
}

describe("planClusterIPs: create", () => {
  it.each<{ name: string; spec: Spec; families?: Family[]; want: Take[] }>([
    { name: "dynamic", spec: {}, want: [take(0, "IPv4")] },
    { name: "no address named, on an IPv6 cluster", spec: {}, families: ["IPv6", "IPv4"], want: [take(0, "IPv6")] },
    { name: "the other family first", spec: { ipFamilies: ["IPv6"] }, want: [take(0, "IPv6")] },
    { name: "dual-stack", spec: { ipFamilyPolicy: "PreferDualStack" }, want: [take(0, "IPv4"), take(1, "IPv6")] },
    {
      name: "dual-stack, other family first",
      spec: { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6"] },
      want: [take(0, "IPv6"), take(1, "IPv4")],
    },
    { name: "PreferDualStack on one family", spec: { ipFamilyPolicy: "PreferDualStack" }, families: ["IPv4"], want: [take(0, "IPv4")] },
    { name: "static", spec: { clusterIP: A }, want: [take(0, "IPv4", A)] },
    { name: "a static address in another spelling", spec: { clusterIP: "2001:DB8:0::10" }, want: [take(0, "IPv6", A6)] },
    {
      name: "one static address of two",
      spec: { clusterIP: A6, ipFamilyPolicy: "RequireDualStack" },
      want: [take(0, "IPv6", A6), take(1, "IPv4")],
    },
    {
      name: "two static addresses",
      spec: { clusterIP: A, clusterIPs: [A, A6], ipFamilyPolicy: "PreferDualStack" },
      want: [take(0, "IPv4", A), take(1, "IPv6", A6)],
    },
    { name: "NodePort", spec: { type: "NodePort" }, want: [take(0, "IPv4")] },
    { name: "LoadBalancer", spec: { type: "LoadBalancer" }, want: [take(0, "IPv4")] },
    { name: "headless", spec: { clusterIP: "None" }, want: [] },
    { name: "headless without selector", spec: { clusterIP: "None", selector: undefined }, want: [] },
    { name: "ExternalName", spec: { type: "ExternalName", externalName: "a.b" }, want: [] },
  ])("$name: takes the addresses of the row", ({ spec, families, want }) => {
    expect(plan(spec, undefined, families).planned).toEqual({ ok: true, take: want, keep: [], release: [] });
  });

  it("a family that the cluster lacks: no plan, and the error of the family", () => {
    const { planned } = plan({ ipFamilyPolicy: "RequireDualStack" }, undefined, ["IPv4"]);
    expect(planned.ok).toBe(false);
    if (!planned.ok) {
      expect(texts(planned.errors)).toEqual([
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
      ]);
    }
  });
});

interface UpdateRow {
  name: string;
  before: Service;
  spec: Spec;
  families?: Family[];
  take?: Take[];
  keep?: string[];
  release?: string[];
}

describe("planClusterIPs: update", () => {
  it.each<UpdateRow>([
    { name: "nothing changes", before: SINGLE, spec: {}, keep: [A] },
    { name: "nothing changes, two families", before: DUAL, spec: {}, keep: [A, A6] },
    { name: "ClusterIP to NodePort", before: SINGLE, spec: { type: "NodePort" }, keep: [A] },
    // A
    { name: "ExternalName to ClusterIP", before: EXTERNAL, spec: {}, take: [take(0, "IPv4")] },
    { name: "ExternalName to a static address", before: EXTERNAL, spec: { type: "NodePort", clusterIP: A }, take: [take(0, "IPv4", A)] },
    {
      name: "ExternalName to dual-stack",
      before: EXTERNAL,
      spec: { type: "LoadBalancer", ipFamilyPolicy: "RequireDualStack" },
      take: [take(0, "IPv4"), take(1, "IPv6")],
    },
    { name: "ExternalName to headless", before: EXTERNAL, spec: { clusterIP: "None" } },
    { name: "ExternalName stays", before: EXTERNAL, spec: { type: "ExternalName", externalName: "c.d" } },
    // B
    { name: "ClusterIP to ExternalName", before: SINGLE, spec: { type: "ExternalName", externalName: "a.b" }, release: [A] },
    { name: "two families to ExternalName", before: DUAL, spec: { type: "ExternalName", externalName: "a.b" }, release: [A, A6] },
    {
      name: "two families to ExternalName in a cluster that lost one",
      before: DUAL,
      spec: { type: "ExternalName", externalName: "a.b" },
      families: ["IPv4"],
      release: [A, A6],
    },
    { name: "headless to ExternalName", before: HEADLESS, spec: { type: "ExternalName", externalName: "a.b" } },
    // C
    { name: "one family to two", before: SINGLE, spec: { ipFamilyPolicy: "RequireDualStack" }, keep: [A], take: [take(1, "IPv6")] },
    {
      name: "one family to two, PreferDualStack",
      before: SINGLE,
      spec: { ipFamilyPolicy: "PreferDualStack" },
      keep: [A],
      take: [take(1, "IPv6")],
    },
    {
      name: "one family to two, second address named",
      before: SINGLE,
      spec: { ipFamilyPolicy: "RequireDualStack", clusterIP: A, clusterIPs: [A, A6] },
      keep: [A],
      take: [take(1, "IPv6", A6)],
    },
    {
      name: "one family to two on a cluster of one family",
      before: SINGLE,
      spec: { ipFamilyPolicy: "PreferDualStack" },
      families: ["IPv4"],
      keep: [A],
    },
    { name: "one family under PreferDualStack, unchanged", before: PREFER_SINGLE, spec: { ...PREFER_SINGLE.spec }, keep: [A] },
    {
      name: "one family under PreferDualStack, second one asked for",
      before: PREFER_SINGLE,
      spec: { ...PREFER_SINGLE.spec, ipFamilies: ["IPv4", "IPv6"] },
      keep: [A],
      take: [take(1, "IPv6")],
    },
    // D
    { name: "two families to one", before: DUAL, spec: { ipFamilyPolicy: "SingleStack" }, keep: [A], release: [A6] },
    {
      name: "two families to one with trimmed lists",
      before: PREFER_DUAL,
      spec: { ipFamilyPolicy: "SingleStack", clusterIP: A, clusterIPs: [A], ipFamilies: ["IPv4"] },
      keep: [A],
      release: [A6],
    },
    {
      name: "two families under PreferDualStack in a cluster that lost one",
      before: PREFER_DUAL,
      spec: { ...PREFER_DUAL.spec },
      families: ["IPv4"],
      keep: [A, A6],
    },
    // neither
    { name: "headless, families change", before: HEADLESS, spec: { ipFamilyPolicy: "PreferDualStack" } },
  ])(
    "$name: takes, keeps and releases the addresses of the row",
    ({ before, spec, families, take: taken = [], keep = [], release = [] }) => {
      expect(plan(spec, before, families).planned).toEqual({ ok: true, take: taken, keep, release });
    },
  );

  it.each<{ name: string; before: Service; spec: Spec }>([
    { name: "another primary address while growing", before: SINGLE, spec: { clusterIP: "10.0.0.11", ipFamilyPolicy: "RequireDualStack" } },
    { name: "headless to an address", before: HEADLESS, spec: { clusterIP: A } },
    { name: "an address to headless", before: SINGLE, spec: { clusterIP: "None" } },
    { name: "another address", before: SINGLE, spec: { clusterIP: "10.0.0.11" } },
    { name: "another second address", before: DUAL, spec: { clusterIP: A, clusterIPs: [A, "2001:db8::11"] } },
  ])("$name, refused by validation: takes and releases nothing", ({ before, spec }) => {
    const { after, planned } = plan(spec, before);
    expect(planned).toMatchObject({ ok: true, take: [], release: [] });
    const errors = texts([...validateServiceUpdate({ after, before }), ...validateService(after, before)]);
    expect(errors.join("\n")).toContain("may not change once set");
  });

  it("upgrade of a Service stored before clusterIPs existed: takes the second address", () => {
    const before = deepFreeze(sent({ type: "ClusterIP", clusterIP: A, sessionAffinity: "None" }));
    expect(plan({ ipFamilyPolicy: "PreferDualStack" }, before).planned).toEqual({
      ok: true,
      take: [take(1, "IPv6")],
      keep: [A],
      release: [],
    });
  });
});

describe("planClusterIPs: delete", () => {
  it.each<{ name: string; before: Service; want: string[] }>([
    { name: "one family", before: SINGLE, want: [A] },
    { name: "two families", before: DUAL, want: [A, A6] },
    { name: "headless", before: HEADLESS, want: [] },
    { name: "ExternalName", before: EXTERNAL, want: [] },
    { name: "an address in another spelling", before: stored({ clusterIP: "2001:DB8::0010" }, {}, BOTH), want: [A6] },
    { name: "an old object without clusterIPs", before: deepFreeze(sent({ type: "ClusterIP", clusterIP: A })), want: [A] },
  ])("$name: releases the addresses of the row", ({ before, want }) => {
    expect(planClusterIPs({ after: undefined, before }, BOTH)).toEqual({ ok: true, take: [], keep: [], release: want });
    expect(heldAddresses(before)).toEqual(want);
  });
});

describe("applyTaken", () => {
  function applied(spec: Spec, taken: { index: number; address: string }[], before?: Service): Spec | undefined {
    const { after, planned } = plan(spec, before);
    expect(planned.ok).toBe(true);
    applyTaken(after, taken);
    expect(texts(validateService(after, before))).toEqual([]);
    return after.spec;
  }

  it("one dynamic address: stands in clusterIP and clusterIPs", () => {
    expect(applied({}, [{ index: 0, address: A }])).toMatchObject({ clusterIP: A, clusterIPs: [A] });
  });

  it("two addresses in any order: the first family stands first", () => {
    const taken = [
      { index: 1, address: A6 },
      { index: 0, address: A },
    ];
    expect(applied({ ipFamilyPolicy: "RequireDualStack" }, taken)).toMatchObject({ clusterIP: A, clusterIPs: [A, A6] });
  });

  it("a named address in another spelling: stays as it was typed", () => {
    expect(applied({ clusterIP: "2001:DB8::10" }, [{ index: 0, address: A6 }])).toMatchObject({
      clusterIP: "2001:DB8::10",
      clusterIPs: ["2001:DB8::10"],
    });
  });

  it("upgrade to two families: adds the second address and leaves the stored list alone", () => {
    expect(applied({ ipFamilyPolicy: "RequireDualStack" }, [{ index: 1, address: A6 }], SINGLE)).toMatchObject({
      clusterIP: A,
      clusterIPs: [A, A6],
    });
    expect(SINGLE.spec?.clusterIPs).toEqual([A]);
  });

  it("nothing taken: nothing written", () => {
    expect(applied({ clusterIP: "None" }, [])).toMatchObject({ clusterIP: "None", clusterIPs: ["None"] });
  });

  it("half of a plan: throws", () => {
    const { after } = plan({ ipFamilyPolicy: "RequireDualStack" });
    expect(() => applyTaken(after, [{ index: 1, address: A6 }])).toThrow(/an address of the plan is missing/);
  });
});

describe("planClusterIPs: what it does to the Service", () => {
  it("a second plan: the same plan, the same object", () => {
    for (const before of [undefined, SINGLE, DUAL, PREFER_DUAL, HEADLESS, EXTERNAL]) {
      for (const spec of [
        {},
        { clusterIP: A },
        { ipFamilyPolicy: "PreferDualStack" },
        { ipFamilyPolicy: "SingleStack" },
        { clusterIP: "None" },
      ]) {
        const { after, planned } = plan(spec, before);
        const once = JSON.stringify(after);
        expect(planClusterIPs({ after, before }, BOTH)).toEqual(planned);
        expect(JSON.stringify(after)).toBe(once);
      }
    }
  });

  it("clusterIP without clusterIPs: left as it is, because the strategy has brought them together", () => {
    const after = sent({ type: "ClusterIP", clusterIP: A });
    const planned = planClusterIPs({ after, before: undefined }, BOTH);
    expect(planned.ok ? [] : texts(planned.errors)).toEqual(["spec.clusterIPs: Required value"]);
    expect(after.spec).not.toHaveProperty("clusterIPs");
  });

  it("a spec that an old version stored and nobody changes: kept, and completed", () => {
    const before = deepFreeze(sent({ type: "ClusterIP", clusterIP: A }));
    const after: Service = { ...before, metadata: { ...before.metadata, labels: { a: "b" } } };
    expect(planClusterIPs({ after, before }, BOTH)).toEqual({ ok: true, take: [], keep: [A], release: [] });
    expect(after.spec).toMatchObject({ clusterIP: A, clusterIPs: [A], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" });
  });

  it("a spec of a family that the cluster has lost, which nobody changes: kept", () => {
    const after: Service = { ...DUAL, metadata: { ...DUAL.metadata, labels: { a: "b" } } };
    expect(planClusterIPs({ after, before: DUAL }, ["IPv4"])).toEqual({ ok: true, take: [], keep: [A, A6], release: [] });
  });
});

describe("requestedClusterIPs", () => {
  it.each<{ spec: Spec; want: string[] }>([
    { spec: {}, want: [""] },
    { spec: { ipFamilyPolicy: "RequireDualStack" }, want: ["", ""] },
    { spec: { clusterIP: A, ipFamilyPolicy: "RequireDualStack" }, want: [A, ""] },
    { spec: { clusterIP: "None" }, want: ["None"] },
    { spec: { type: "ExternalName" }, want: [] },
  ])("$spec: $want", ({ spec, want }) => {
    expect(requestedClusterIPs(plan(spec).after)).toEqual(want);
  });
});

describe("dryRunAddress", () => {
  it.each([
    ["10.0.0.0/16", "10.0.0.0"],
    ["2001:db8::/112", "2001:db8::"],
  ])("range %s: the network address %s", (range, want) => {
    expect(dryRunAddress(range)).toBe(want);
  });
});
