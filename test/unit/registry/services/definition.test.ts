import { describe, expect, it } from "vitest";
import type { Service } from "../../../../src/meta/kubernetes";
import type { StrategyContext } from "../../../../src/registry/resource";
import { servicesDefinition } from "../../../../src/registry/services/definition";
import { complete, deepFreeze, sent, stored, texts } from "./a-service";

const CONTEXT: StrategyContext = { now: 0, serviceFamilies: ["IPv4", "IPv6"] };
const { strategy } = servicesDefinition;

function updated(before: Service, after: Service): Service {
  strategy.defaults(after);
  strategy.prepareForUpdate({ after, before }, CONTEXT);
  return after;
}

describe("servicesDefinition", () => {
  it("names are DNS-1123 labels, as released 1.36 has them", () => {
    expect(strategy.validateName("0-web")).toEqual([]);
    expect(strategy.validateName("a.b")).toEqual(["must not contain dots"]);
    expect(strategy.validateName("a".repeat(64))).toEqual(["must be no more than 63 characters"]);
    expect(strategy.validateName("Web")[0]).toMatch(/^a lowercase RFC 1123 label must consist/);
  });

  it("selectable fields", () => {
    expect(servicesDefinition.selectableFields(deepFreeze(complete({ clusterIP: "None" })))).toEqual({
      "spec.clusterIP": "None",
      "spec.type": "ClusterIP",
    });
    expect(Object.keys(servicesDefinition.selectableFields(deepFreeze({})))).toEqual(servicesDefinition.fieldLabels);
    expect(servicesDefinition.unknownFieldLabel("spec.x")).toBe("field label not supported: spec.x");
  });
});

describe("strategy: create", () => {
  it("drops the status that a client sends", () => {
    const service = sent({}, { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } });
    strategy.defaults(service);
    strategy.prepareForCreate(service, CONTEXT);
    expect(service.status).toEqual({ loadBalancer: {} });
  });

  it("internalTrafficPolicy of an ExternalName: accepted and not kept, unless it is wrong", () => {
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
  it("keeps status and what the server chose", () => {
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
  ])("to ExternalName: $name", ({ change }) => {
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

  it("headless to NodePort is refused", () => {
    const before = stored({ clusterIP: "None" });
    const after = updated(before, sent({ type: "NodePort" }));
    expect(texts(strategy.validate(after, CONTEXT))).toEqual([
      "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
    ]);
  });

  it("externalTrafficPolicy goes and comes back with externalIPs", () => {
    const before = stored({ clusterIP: "10.0.0.1", externalIPs: ["192.0.2.1"] });
    expect(before.spec?.externalTrafficPolicy).toBe("Cluster");
    const without = updated(before, sent({ ...before.spec, externalIPs: undefined }));
    expect(without.spec).not.toHaveProperty("externalTrafficPolicy");
    const again = updated(deepFreeze(without), sent({ ...without.spec, externalIPs: ["192.0.2.1"] }));
    expect(again.spec?.externalTrafficPolicy).toBe("Cluster");
  });

  it("a Service stored before families existed compares as it is read", () => {
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
  ])("$name", ({ status, want }) => {
    expect(statusErrors(status)).toEqual(want);
  });

  it("is refused for another type", () => {
    const clusterIP = stored({ clusterIP: "10.0.0.1" });
    expect(statusErrors({ loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" }] } }, clusterIP)).toEqual([
      "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
    ]);
  });
});

describe("strategy: read defaults", () => {
  it("completes an old object", () => {
    const service = sent({ type: "ClusterIP", clusterIP: "None", selector: undefined });
    strategy.defaultsOnRead?.(service);
    expect(service.spec?.ipFamilies).toEqual(["IPv4", "IPv6"]);
  });
});
