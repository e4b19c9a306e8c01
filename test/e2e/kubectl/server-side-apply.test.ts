/** Server-side apply and managedFields as kubectl uses them. */
import type { V1Service } from "@kubernetes/client-node";
import { afterAll, describe, expect, it } from "vitest";
import { upstreamRow } from "../../conformance/upstream-row";
import { checkState } from "../../support/checks/checkers";
import { observe } from "../../support/server/observe";
import { kubectlInCluster } from "../../support/clients/kubectl";

const server = kubectlInCluster();
afterAll(async () => {
  expect(checkState(await observe(server.cluster.url))).toEqual([]);
});

const kubectl = (line: string, input?: object): string => server.ok(line, input && JSON.stringify(input));
const refused = (line: string, input: object): string => server.refused(line, { input: JSON.stringify(input) });

const service = (name: string, spec?: object, labels?: Record<string, string>): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, ...(labels ? { labels } : {}) },
  spec,
});
const web = (targetPort: number): object => ({ selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort }] });

const read = (name: string): V1Service => JSON.parse(kubectl(`get service ${name} -o json --show-managed-fields`)) as V1Service;
/** `manager operation` or `manager operation subresource` of each entry, in order */
const managersOf = (name: string): string[] =>
  (read(name).metadata?.managedFields ?? []).map(({ manager, operation, subresource }) =>
    [manager, operation, subresource].filter(Boolean).join(" "),
  );
const fieldsOf = (name: string, manager: string): object | undefined =>
  read(name).metadata?.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1;

const APPLY = "apply --server-side -f -";

upstreamRow("apply (ServerSideApply)", () => {
  it("an absent object: created, with an address that the applier does not own", () => {
    expect(kubectl(APPLY, service("made", web(8080), { tier: "one" }))).toBe("service/made serverside-applied");
    const { spec, metadata } = read("made");
    expect(spec).toMatchObject({ type: "ClusterIP", ports: [{ name: "http", port: 80, protocol: "TCP", targetPort: 8080 }] });
    expect(spec?.clusterIP).toMatch(/^10\.96\./);
    expect(kubectl(`get ipaddress ${spec?.clusterIP ?? ""} -o jsonpath={.spec.parentRef.name}`)).toBe("made");
    expect(metadata?.managedFields).toMatchObject([{ manager: "kubectl", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1" }]);
    expect(fieldsOf("made", "kubectl")).toEqual({
      "f:metadata": { "f:labels": { "f:tier": {} } },
      "f:spec": {
        "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {}, "f:targetPort": {} } },
        "f:selector": {},
      },
    });
  });

  it("a repeated apply: the resourceVersion stays", () => {
    const before = read("made").metadata?.resourceVersion;
    expect(kubectl(APPLY, service("made", web(8080), { tier: "one" }))).toBe("service/made serverside-applied");
    expect(read("made").metadata?.resourceVersion).toBe(before);
  });

  it("--dry-run=server and diff: store nothing", () => {
    expect(kubectl(`${APPLY} --dry-run=server`, service("made", web(9090)))).toBe("service/made serverside-applied (server dry run)");
    const { code, out } = server.run("diff --server-side -f -", { input: JSON.stringify(service("made", web(9090), { tier: "one" })) });
    expect([code, out]).toEqual([1, expect.stringMatching(/-\s+targetPort: 8080\n\+\s+targetPort: 9090/)]);
    expect(read("made").spec?.ports?.[0]?.targetPort).toBe(8080);
  });

  it("another --field-manager: another value is a conflict that names manager and field; the same value is shared", () => {
    expect(refused(`${APPLY} --field-manager=other`, service("made", web(9090)))).toContain(
      'Apply failed with 1 conflict: conflict with "kubectl": .spec.ports[port=80,protocol="TCP"].targetPort',
    );
    expect(kubectl(`${APPLY} --field-manager=other`, service("made", web(8080)))).toBe("service/made serverside-applied");
    expect(managersOf("made")).toEqual(["kubectl Apply", "other Apply"]);
    const several = { ...web(9090), selector: { app: "else" } };
    expect(refused(`${APPLY} --field-manager=third`, service("made", several))).toContain(
      [
        'Apply failed with 4 conflicts: conflicts with "kubectl":',
        "- .spec.selector",
        '- .spec.ports[port=80,protocol="TCP"].targetPort',
        'conflicts with "other":',
        "- .spec.selector",
        '- .spec.ports[port=80,protocol="TCP"].targetPort',
      ].join("\n"),
    );
  });

  it("--force-conflicts: takes the field from its owners", () => {
    expect(kubectl(`${APPLY} --field-manager=taker --force-conflicts`, service("made", web(7070)))).toBe("service/made serverside-applied");
    expect(read("made").spec?.ports?.[0]?.targetPort).toBe(7070);
    for (const loser of ["kubectl", "other"]) expect(JSON.stringify(fieldsOf("made", loser))).not.toContain("f:targetPort");
    expect(JSON.stringify(fieldsOf("made", "taker"))).toContain("f:targetPort");
  });

  it("a field that its only manager stops applying: removed", () => {
    kubectl(APPLY, service("dropping", { ...web(80), sessionAffinity: "ClientIP" }, { a: "1", b: "1" }));
    kubectl(APPLY, service("dropping", web(80), { a: "1" }));
    const { metadata, spec } = read("dropping");
    expect(metadata?.labels).toEqual({ a: "1" });
    expect(spec).toMatchObject({ sessionAffinity: "None", clusterIP: expect.stringMatching(/^10\.96\./) as string });
  });

  it("a field with another manager: kept until that one stops, too", () => {
    kubectl(APPLY, service("shared", web(80), { both: "1" }));
    kubectl(`${APPLY} --field-manager=other`, service("shared", undefined, { both: "1" }));
    kubectl(APPLY, service("shared", web(80)));
    expect(read("shared").metadata?.labels).toEqual({ both: "1" });
    kubectl(`${APPLY} --field-manager=other`, service("shared"));
    expect(read("shared").metadata?.labels).toBeUndefined();
    expect(managersOf("shared")).toEqual(["kubectl Apply"]);
  });

  it("apply through /status: an entry of its own", () => {
    kubectl(APPLY, service("with-status", { ...web(80), type: "LoadBalancer" }));
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" }] } };
    kubectl(`${APPLY} --subresource=status --field-manager=balancer`, { ...service("with-status", { type: "ClusterIP" }), status });
    expect(managersOf("with-status").sort()).toEqual(["balancer Apply status", "kubectl Apply"]);
    expect(read("with-status")).toMatchObject({ spec: { type: "LoadBalancer" }, status });
    expect(fieldsOf("with-status", "balancer")).toEqual({ "f:status": { "f:loadBalancer": { "f:ingress": {} } } });
    expect(refused(`${APPLY} --subresource=status`, { ...service("absent"), status })).toContain('services "absent" not found');
  });

  it("an undeclared field: refused with any --validate", () => {
    expect(refused(`${APPLY} --validate=ignore`, { ...service("made"), metadata: { name: "made", unknownMeta: "x" } })).toContain(
      ".metadata.unknownMeta: field not declared in schema",
    );
  });

  it("a missing namespace, a taken address, an invalid object: refused, nothing is left behind", () => {
    expect(refused(`${APPLY} -n nowhere`, service("lost", web(80)))).toContain('namespaces "nowhere" not found');
    const address = read("made").spec?.clusterIP ?? "";
    expect(refused(APPLY, service("thief", { ...web(80), clusterIP: address }))).toContain("provided IP is already allocated");
    expect(refused(APPLY, service("invalid", { ports: [{ port: 80 }], type: "Odd" }))).toContain(
      'The Service "invalid" is invalid: spec.type: Unsupported value: "Odd"',
    );
    for (const name of ["lost", "thief", "invalid"]) expect(server.refused(`get service ${name}`)).toContain("NotFound");
  });

  it("kinds of other groups and versions in one file: each is applied", () => {
    const items = [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "applied" } },
      {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "l", namespace: "applied" },
        spec: { holderIdentity: "me" },
      },
      { apiVersion: "networking.k8s.io/v1beta1", kind: "ServiceCIDR", metadata: { name: "more" }, spec: { cidrs: ["10.99.0.0/24"] } },
    ];
    expect(kubectl(APPLY, { apiVersion: "v1", kind: "List", items })).toBe(
      ["namespace/applied", "lease.coordination.k8s.io/l", "servicecidr.networking.k8s.io/more"]
        .map((name) => `${name} serverside-applied`)
        .join("\n"),
    );
    expect(kubectl("get servicecidr more -o jsonpath={.metadata.managedFields[0].apiVersion} --show-managed-fields")).toBe(
      "networking.k8s.io/v1beta1",
    );
  });
});

describe("managedFields of kubectl's other writes", () => {
  it("create, label, patch and edit: an entry each; allocated values belong to nobody", () => {
    kubectl("create -f - --field-manager=maker", service("tracked", web(80), { a: "1" }));
    expect(fieldsOf("tracked", "maker")).toEqual({
      "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
      "f:spec": {
        "f:internalTrafficPolicy": {},
        "f:ports": {
          ".": {},
          'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {} },
        },
        "f:selector": {},
        "f:sessionAffinity": {},
        "f:type": {},
      },
    });
    kubectl("label service tracked b=1");
    kubectl(`patch service tracked --type=merge -p '{"spec":{"sessionAffinity":"ClientIP"}}'`);
    const editor = server.editor("editor.sh", 'sed -i "s/targetPort: 80/targetPort: 81/" "$1"');
    expect(server.run("edit service tracked", { env: { KUBE_EDITOR: editor } }).out.trimEnd()).toBe("service/tracked edited");
    expect(managersOf("tracked").sort()).toEqual(["kubectl-edit Update", "kubectl-label Update", "kubectl-patch Update", "maker Update"]);
    expect(fieldsOf("tracked", "kubectl-edit")).toEqual({
      "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { "f:targetPort": {} } } },
    });
    expect(fieldsOf("tracked", "kubectl-label")).toEqual({ "f:metadata": { "f:labels": { "f:b": {} } } });
    expect(kubectl("get service tracked -o yaml")).not.toContain("managedFields");
    expect(kubectl("get service tracked -o yaml --show-managed-fields")).toContain("managedFields:\n");
  });

  it("server-side apply after client-side apply: kubectl's entry is migrated, and its dropped fields go", () => {
    kubectl("apply -f -", service("migrated", web(80), { a: "1", b: "1" }));
    kubectl("label service migrated c=1");
    expect(managersOf("migrated").sort()).toEqual(["kubectl-client-side-apply Update", "kubectl-label Update"]);
    expect(kubectl(APPLY, service("migrated", web(81), { a: "1" }))).toBe("service/migrated serverside-applied");
    expect(read("migrated")).toMatchObject({ metadata: { labels: { a: "1", c: "1" } }, spec: { ports: [{ targetPort: 81 }] } });
    expect(read("migrated").metadata?.labels).not.toHaveProperty("b");
    const managers = managersOf("migrated");
    expect(managers).toContain("kubectl Apply");
    expect(managers).toContain("kubectl-label Update");
    expect(managers.join()).not.toContain("client-side-apply Update");
    // and back: client-side apply goes on from what server-side apply has recorded
    expect(kubectl("apply -f -", service("migrated", web(82), { a: "2" }))).toBe("service/migrated configured");
    expect(read("migrated")).toMatchObject({ metadata: { labels: { a: "2", c: "1" } }, spec: { ports: [{ targetPort: 82 }] } });
  });

  it("objects of the server: owned by its own manager", () => {
    expect(managersOf("kubernetes")).toEqual(["kube-apiserver Update"]);
    const namespaces = JSON.parse(kubectl("get namespace default -o json --show-managed-fields")) as V1Service;
    expect(namespaces.metadata?.managedFields).toMatchObject([{ manager: "kube-apiserver", operation: "Update", apiVersion: "v1" }]);
  });
});
