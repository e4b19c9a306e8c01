/** Roles and bindings with kubectl. */
import { describe, expect, it } from "vitest";
import { kubectlInCluster, table } from "../../../support/clients/kubectl";

const kubectl = kubectlInCluster();
const { ok, refused } = kubectl;

describe("kubectl and roles", () => {
  it("create role, get, describe: its rules", () => {
    expect(ok("create role reader --verb=get,list --resource=pods,services/status --resource-name=a")).toBe(
      "role.rbac.authorization.k8s.io/reader created",
    );
    expect(table(ok("get roles"))).toEqual([
      ["NAME", "CREATED AT"],
      ["reader", expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)],
    ]);
    const text = ok("describe role reader");
    expect(text).toMatch(/^ {2}pods +\[\] +\[a\] +\[get list\]$/m);
    expect(text).toMatch(/^ {2}services\/status +\[\] +\[a\] +\[get list\]$/m);
  });

  it("create clusterrole: rules of paths, and one that aggregates", () => {
    ok("create clusterrole system:probe --verb=get --non-resource-url=/healthz,/healthz/*");
    ok("create clusterrole all --aggregation-rule=example.com/aggregate=true");
    expect(JSON.parse(ok("get clusterrole all -o json"))).toMatchObject({
      rules: null,
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "example.com/aggregate": "true" } }] },
    });
    expect(ok("get clusterroles -o name").split("\n")).toEqual(
      expect.arrayContaining(["clusterrole.rbac.authorization.k8s.io/all", "clusterrole.rbac.authorization.k8s.io/system:probe"]),
    );
  });

  it("a rule that may not be: refused in upstream's words", () => {
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name: "wrong" } };
    expect(refused("create -f -", { input: JSON.stringify({ ...role, rules: [{ verbs: ["get"] }] }) })).toBe(
      'The Role "wrong" is invalid: \n' +
        "* rules[0].apiGroups: Required value: resource rules must supply at least one api group\n" +
        "* rules[0].resources: Required value: resource rules must supply at least one resource",
    );
  });
});

describe("kubectl and bindings", () => {
  it("create rolebinding, get -o wide, describe: the role and its subjects", () => {
    ok("create rolebinding readers --role=reader --user=ann --user=bert --group=team --serviceaccount=default:robot");
    const [header, row] = table(ok("get rolebindings -o wide"));
    expect(header).toEqual(["NAME", "ROLE", "AGE", "USERS", "GROUPS", "SERVICEACCOUNTS"]);
    expect(row).toEqual(["readers", "Role/reader", "AGE", "ann, bert", "team", "default/robot"]);
    const text = ok("describe rolebinding readers");
    expect(text).toMatch(/^ {2}Kind: +Role\n {2}Name: +reader$/m);
    expect(text).toMatch(/^ {2}ServiceAccount +robot +default$/m);
  });

  it("set subject: adds one; another role: refused", () => {
    ok("set subject rolebinding readers --user=carl");
    expect(ok("get rolebinding readers -o jsonpath={.subjects[*].name}")).toBe("ann bert team robot carl");
    expect(refused('patch rolebinding readers -p {"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"writer"}}')).toBe(
      'The RoleBinding "readers" is invalid: roleRef: Invalid value: ' +
        '{"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"writer"}: cannot change roleRef',
    );
  });

  it("auth reconcile: makes what is missing, and a binding anew for another role", () => {
    const binding = (name: string) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "everybody" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:authenticated" }],
    });
    const reconcile = (name: string) => kubectl.run("auth reconcile -f -", { input: JSON.stringify(binding(name)) });
    const role = () => ok("get clusterrolebinding everybody -o jsonpath={.roleRef.name}");
    const done = { code: 0, out: expect.stringContaining("clusterrolebinding.rbac.authorization.k8s.io/everybody reconciled") as string };
    expect(reconcile("all")).toMatchObject(done);
    expect(role()).toBe("all");
    expect(reconcile("system:probe")).toMatchObject(done);
    expect(role()).toBe("system:probe");
  });

  it("apply --server-side: subjects are one field", () => {
    const applied = (name: string) =>
      JSON.stringify({
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name: "applied" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "all" },
        subjects: [{ kind: "User", name, apiGroup: "rbac.authorization.k8s.io" }],
      });
    ok("apply --server-side --field-manager=one -f -", applied("ann"));
    expect(refused("apply --server-side --field-manager=two -f -", { input: applied("bert") })).toContain('conflict with "one": .subjects');
    ok("apply --server-side --field-manager=two --force-conflicts -f -", applied("bert"));
    expect(ok("get clusterrolebinding applied -o jsonpath={.subjects[*].name}")).toBe("bert");
  });
});
