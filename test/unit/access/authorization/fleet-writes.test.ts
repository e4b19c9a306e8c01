import { describe, expect, it } from "vitest";
import { fleetWriteProblem } from "../../../../src/access/authorization/fleet-writes";
import { type Attributes, resourceAttributes } from "../../../../src/access/authorization/attributes";
import { authorizeByRbac } from "../../../../src/access/rbac/authorize";
import { defaultPolicy } from "../../../../src/access/rbac/default-policy";
import { gatheredDefaults } from "../../../support/access/gathered-defaults";

const user = (name: string, ...groups: string[]) => ({ name, uid: "", groups, extra: {} });
const jane = user("jane");
const master = user("root", "system:masters");
const accountOf = (name: string) => user(`system:serviceaccount:kube-system:${name}`, "system:serviceaccounts");
const collector = accountOf("generic-garbage-collector");
const asked = (verb: string, resource = "clusters", group = "servicenet.dev", subresource = "") =>
  resourceAttributes({ verb, group, resource, subresource });
const LIMITED = /^the credential is for some clusters/;
const ACCOUNT = /^a service account belongs to one cluster/;

describe("writes of the kinds of the whole server", () => {
  it.each([
    ["a credential of all clusters", jane, undefined, asked("create"), undefined],
    ["an administrator of the whole server", master, undefined, asked("delete"), undefined],
    ["an administrator of default alone", master, ["default"], asked("create"), LIMITED],
    ["of default and others", master, ["default", "blue"], asked("delete"), LIMITED],
    ["a limited credential, a patch", jane, ["default"], asked("patch"), LIMITED],
    ["a limited credential, an update of the status", jane, ["default"], asked("update", "clusters", "servicenet.dev", "status"), LIMITED],
    ["a limited credential, all verbs", jane, ["default"], asked("*"), LIMITED],
    ["a limited credential, a get", jane, ["default"], asked("get"), undefined],
    ["a limited credential, a list", master, ["default"], asked("list"), undefined],
    ["a limited credential, a watch", master, ["default"], asked("watch"), undefined],
    ["a limited credential, another kind", master, ["default"], asked("delete", "services", ""), undefined],
    ["a limited credential, this name in another group", master, ["default"], asked("delete", "clusters", "example.com"), undefined],
    ["a limited credential, a path", master, ["default"], { kind: "path", verb: "delete", path: "/clusters/blue" } as const, undefined],
    ["an account", collector, ["default"], asked("delete"), LIMITED],
    ["an account that somebody else acts as", collector, undefined, asked("delete"), ACCOUNT],
    ["an account that somebody else acts as, a list", collector, undefined, asked("list"), undefined],
    ["an account that somebody else acts as, another kind", collector, undefined, asked("delete", "services", ""), undefined],
    ["a user with the prefix of accounts alone", user("system:serviceaccount:x"), undefined, asked("delete"), undefined],
  ])("%s: %#", (_, who, clusters, wanted, reason) => {
    const problem = fleetWriteProblem({ user: who, clusters }, wanted);
    if (reason === undefined) expect(problem).toBeUndefined();
    else expect(problem).toMatch(reason);
  });

  it("default accounts, of which some have every kind by `*`: none of them, and of other kinds as their rules say", () => {
    const policy = gatheredDefaults();
    const names = defaultPolicy().flatMap(({ kind, object }) =>
      kind === "ClusterRoleBinding" ? (object.subjects ?? []).flatMap((of) => (of.kind === "ServiceAccount" ? [of.name] : [])) : [],
    );
    const may = (name: string, wanted: Attributes) => authorizeByRbac(policy, accountOf(name), wanted).decision === "allow";
    expect(names.filter((name) => may(name, asked("delete")))).toEqual(["generic-garbage-collector", "namespace-controller"]);
    for (const name of names) {
      expect(fleetWriteProblem({ user: accountOf(name), clusters: undefined }, asked("delete"))).toMatch(ACCOUNT);
      expect(fleetWriteProblem({ user: accountOf(name), clusters: ["default"] }, asked("delete", "services", ""))).toBeUndefined();
    }
  });
});
