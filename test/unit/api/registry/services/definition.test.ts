import { describe, expect, it } from "vitest";
import type { Service } from "../../../../../src/api/meta/kubernetes";
import { defineResource, type StrategyContext } from "../../../../../src/api/registry/resource";
import { servicesDefinition } from "../../../../../src/api/registry/services/definition";
import { beforeCreate, beforeUpdate } from "../../../../../src/api/store/write/strategy-order";
import { complete, deepFreeze, sent, type Spec, stored, texts } from "./a-service";

const CONTEXT: StrategyContext = { now: 0, serviceFamilies: ["IPv4", "IPv6"] };
const { strategy } = servicesDefinition;

function updated(before: Service, after: Service): Service {
  strategy.defaults(after);
  strategy.prepareForUpdate({ after, before }, CONTEXT);
  return after;
}

describe("servicesDefinition", () => {
  it("names: DNS-1123 labels, as in Kubernetes 1.36", () => {
    expect(strategy.validateName("0-web")).toEqual([]);
    expect(strategy.validateName("a.b")).toEqual(["must not contain dots"]);
    expect(strategy.validateName("a".repeat(64))).toEqual(["must be no more than 63 characters"]);
    expect(strategy.validateName("Web")[0]).toMatch(/^a lowercase RFC 1123 label must consist/);
  });

  it("selectable fields: upstream's, with their values", () => {
    expect(servicesDefinition.selectableFields(deepFreeze(complete({ clusterIP: "None" })))).toEqual({
      "spec.clusterIP": "None",
      "spec.type": "ClusterIP",
    });
    expect(Object.keys(servicesDefinition.selectableFields(deepFreeze({})))).toEqual(servicesDefinition.fieldLabels);
    expect(servicesDefinition.unknownFieldLabel("spec.x")).toBe("field label not supported: spec.x");
  });
});

describe("strategy: create", () => {
  it("a status from the client: dropped", () => {
    const service = sent({}, { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } });
    strategy.defaults(service);
    strategy.prepareForCreate(service, CONTEXT);
    expect(service.status).toEqual({ loadBalancer: {} });
  });

  it("internalTrafficPolicy of an ExternalName: dropped when valid, refused when not", () => {
    const good = sent({ type: "ExternalName", externalName: "a.b", internalTrafficPolicy: "Local" });
    strategy.prepareForCreate(good, CONTEXT);
    expect(good.spec).not.toHaveProperty("internalTrafficPolicy");
    const bad = sent({ type: "ExternalName", externalName: "a.b", internalTrafficPolicy: "Node" });
    strategy.defaults(bad);
    strategy.prepareForCreate(bad, CONTEXT);
    expect(texts(strategy.validate(bad, CONTEXT))).toEqual([
      'spec.internalTrafficPolicy: Unsupported value: "Node": supported values: "Cluster", "Local"',
    ]);
  });
});

describe("strategy: update", () => {
  it("an update without them: keeps status and the values that the server chose", () => {
    const before = stored(
      { type: "LoadBalancer", clusterIP: "10.0.0.1", ports: [{ port: 80, nodePort: 30001 }] },
      { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" }] } } },
    );
    const after = updated(before, sent({ type: "LoadBalancer", ports: [{ port: 81 }] }, { status: {} }));
    expect(after.status).toEqual(before.status);
    expect(after.spec?.clusterIPs).toEqual(["10.0.0.1"]);
    expect(after.spec?.ports).toEqual([{ port: 81, targetPort: 81, protocol: "TCP", nodePort: 30001 }]);
  });

  it.each([
    { name: "only the type changes", change: {} },
    { name: "clusterIP is cleared, clusterIPs is not", change: { clusterIP: "" } },
    { name: "clusterIPs is cleared, clusterIP is not", change: { clusterIPs: [] } },
    { name: "everything is cleared", change: { clusterIP: "", clusterIPs: undefined, ipFamilies: undefined, ipFamilyPolicy: undefined } },
  ])("to ExternalName, $name: addresses and families are dropped, no errors", ({ change }) => {
    const before = stored({ clusterIP: "10.0.0.1" });
    const after = updated(before, sent({ ...before.spec, ...change, type: "ExternalName", externalName: "a.b" }));
    expect(after.spec?.clusterIPs ?? []).toEqual([]);
    expect(after.spec?.clusterIP ?? "").toBe("");
    expect(after.spec?.ipFamilies).toBeUndefined();
    expect(after.spec?.ipFamilyPolicy).toBeUndefined();
    expect(after.spec).not.toHaveProperty("internalTrafficPolicy");
    expect(texts(strategy.validateUpdate({ after, before }, CONTEXT))).toEqual([]);
    expect(texts(strategy.validate(after, CONTEXT))).toEqual([]);
  });

  it("headless to NodePort: refused", () => {
    const before = stored({ clusterIP: "None" });
    const after = updated(before, sent({ type: "NodePort" }));
    expect(texts(strategy.validate(after, CONTEXT))).toEqual([
      "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
    ]);
  });

  it("externalTrafficPolicy: dropped and set again together with externalIPs", () => {
    const before = stored({ clusterIP: "10.0.0.1", externalIPs: ["192.0.2.1"] });
    expect(before.spec?.externalTrafficPolicy).toBe("Cluster");
    const without = updated(before, sent({ ...before.spec, externalIPs: undefined }));
    expect(without.spec).not.toHaveProperty("externalTrafficPolicy");
    const again = updated(deepFreeze(without), sent({ ...without.spec, externalIPs: ["192.0.2.1"] }));
    expect(again.spec?.externalTrafficPolicy).toBe("Cluster");
  });

  it("a Service from before families existed: compared with its read defaults", () => {
    const before = deepFreeze(sent({ type: "ClusterIP", clusterIP: "10.0.0.1", sessionAffinity: "None" }));
    const after = updated(before, sent({ clusterIP: "10.0.0.1" }));
    expect(after.spec?.clusterIPs).toEqual(["10.0.0.1"]);
    expect(texts(strategy.validateUpdate({ after, before }, CONTEXT))).toEqual([]);
  });
});

describe("strategy: status endpoint", () => {
  const before = stored({ type: "LoadBalancer", clusterIP: "10.0.0.1" });

  function statusErrors(status: Service["status"], old: Service = before): string[] {
    const after = sent({ type: "NodePort", ports: [{ port: 99 }] }, { metadata: { name: "foo", labels: { a: "b" } }, status });
    strategy.defaults(after);
    strategy.prepareForStatusUpdate({ after, before: old }, CONTEXT);
    expect(after.spec).toEqual(old.spec);
    expect(after.metadata?.labels).toEqual({ a: "b" });
    expect(after.status?.loadBalancer).toBeDefined();
    return texts(strategy.validateStatusUpdate({ after, before: old }, CONTEXT));
  }

  it.each<{ name: string; status: Service["status"]; want: string[] }>([
    { name: "none", status: undefined, want: [] },
    {
      name: "an address and a name",
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "Proxy" }, { hostname: "a.b" }] } },
      want: [],
    },
    {
      name: "wrong entries",
      status: {
        loadBalancer: {
          ingress: [{ ip: "x", ipMode: "VIP" }, { ip: "192.0.2.1" }, { hostname: "a.b", ipMode: "VIP" }, { ip: "192.0.2.2", ipMode: "?" }],
        },
      },
      want: [
        'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        "status.loadBalancer.ingress[1].ipMode: Required value: must be specified when `ip` is set",
        "status.loadBalancer.ingress[2].ipMode: Forbidden: may not be specified when `ip` is not set",
        'status.loadBalancer.ingress[3].ipMode: Unsupported value: "?": supported values: "Proxy", "VIP"',
      ],
    },
    {
      name: "an address in place of a name",
      status: { loadBalancer: { ingress: [{ hostname: "192.0.2.1" }] } },
      want: ['status.loadBalancer.ingress[0].hostname: Invalid value: "192.0.2.1": must be a DNS name, not an IP address'],
    },
  ])("load balancer status, $name: upstream's errors", ({ status, want }) => {
    expect(statusErrors(status)).toEqual(want);
  });

  it("a load balancer status of another type: refused", () => {
    const clusterIP = stored({ clusterIP: "10.0.0.1" });
    expect(statusErrors({ loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" }] } }, clusterIP)).toEqual([
      "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
    ]);
  });
});

describe("strategy: read defaults", () => {
  it("an old object: completed", () => {
    const service = sent({ type: "ClusterIP", clusterIP: "None", selector: undefined });
    strategy.defaultsOnRead?.(service);
    expect(service.spec?.ipFamilies).toEqual(["IPv4", "IPv6"]);
  });
});

describe("a whole write, as stores run it before they ask for an address", () => {
  const definition = defineResource(servicesDefinition);

  function create(spec: Spec): { after: Service; refused: string | undefined } {
    const after = sent(spec);
    const input = { namespace: "default", now: 0, uid: "u", context: CONTEXT };
    const verdict = beforeCreate(definition, after, input);
    return { after, refused: verdict.ok ? undefined : verdict.error.message };
  }

  function update(before: Service, spec: Spec): string | undefined {
    const after = sent(spec);
    const verdict = beforeUpdate(definition, { after, before: structuredClone(before) }, CONTEXT);
    return verdict.ok ? undefined : verdict.error.message;
  }

  const dual = stored({ clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "2001:db8::1"], ipFamilyPolicy: "RequireDualStack" }, {}, [
    "IPv4",
    "IPv6",
  ]);

  it("create with clusterIP alone: clusterIPs follows", () => {
    const { after, refused } = create({ clusterIP: "10.0.0.1" });
    expect(refused).toBeUndefined();
    expect(after.spec?.clusterIPs).toEqual(["10.0.0.1"]);
  });

  it("create without a name: refused before an address is taken", () => {
    const after = sent({}, { metadata: {} });
    const verdict = beforeCreate(definition, after, { namespace: "default", now: 0, uid: "u", context: CONTEXT });
    expect(verdict.ok ? "" : verdict.error.message).toBe(
      'Service "" is invalid: metadata.name: Required value: name or generateName is required',
    );
  });

  it("a create with a malformed address: one error", () => {
    expect(create({ clusterIP: "x" }).refused).toBe(
      'Service "foo" is invalid: spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    );
    expect(update(stored({ clusterIP: "10.0.0.1" }), { clusterIP: "x" })).toBe(
      'Service "foo" is invalid: spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    );
  });

  it.each<{ name: string; before: Service; spec: Spec; want: string | undefined }>([
    { name: "nothing but the ports", before: dual, spec: {}, want: undefined },
    { name: "two to one", before: dual, spec: { ipFamilyPolicy: "SingleStack" }, want: undefined },
    { name: "one to two", before: stored({ clusterIP: "10.0.0.1" }), spec: { ipFamilyPolicy: "PreferDualStack" }, want: undefined },
    {
      name: "one address of two without SingleStack",
      before: dual,
      spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"] },
      want: "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": must be 'SingleStack' to release the secondary cluster IP",
    },
    {
      name: "one family of two without SingleStack",
      before: dual,
      spec: { ipFamilies: ["IPv4"] },
      want: "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": must be 'SingleStack' to release the secondary IP family",
    },
    {
      name: "another address",
      before: stored({ clusterIP: "10.0.0.1" }),
      spec: { clusterIP: "10.0.0.2" },
      want: 'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
    },
    {
      name: "headless",
      before: stored({ clusterIP: "10.0.0.1" }),
      spec: { clusterIP: "None" },
      want: 'spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set',
    },
    {
      name: "families swapped: the addresses no longer fit, which ends the request",
      before: dual,
      spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "2001:db8::1"], ipFamilies: ["IPv6", "IPv4"] },
      want: '[spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`, spec.clusterIPs[1]: Invalid value: "2001:db8::1": expected an IPv4 value as indicated by `ipFamilies[1]`]',
    },
  ])("update, $name: accepted, or upstream's first error", ({ before, spec, want }) => {
    expect(update(before, spec)).toBe(want && `Service "foo" is invalid: ${want}`);
  });
});
