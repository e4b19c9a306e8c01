import { describe, expect, it } from "vitest";
import type { Attributes } from "../../../../src/access/authorization/attributes";
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import { actAs, impersonated } from "../../../../src/access/authorization/impersonation";
import type { Caller, User } from "../../../../src/access/identity/user";

const BOB: Caller = {
  user: { name: "bob", uid: "", groups: ["system:authenticated"], extra: {} },
  clusters: undefined,
  credential: "token:1",
};
const LIST_PODS = resourceAttributes({ verb: "list", resource: "pods" });

const headers = (...fields: [string, string][]) => new Headers(fields);
const wanted = (...fields: [string, string][]): User => {
  const user = impersonated(headers(...fields));
  if (!user.ok || !user.value) throw new Error("nobody is acted as");
  return user.value;
};

/** "verb group/resource/subresource namespace/name" */
const right = (asked: Attributes): string =>
  asked.kind === "path"
    ? `${asked.verb} ${asked.path}`
    : `${asked.verb} ${asked.group}/${asked.resource}/${asked.subresource} ${asked.namespace}/${asked.name}`;
const having =
  (...rights: string[]) =>
  (asked: Attributes) => ({ decision: rights.includes(right(asked)) ? ("allow" as const) : ("noOpinion" as const), reason: "" });

describe("headers", () => {
  it("no header: nobody is acted as", () => {
    expect(impersonated(headers())).toEqual({ ok: true, value: undefined });
  });

  it("user, groups, uid and extras: read", () => {
    const user = wanted(
      ["Impersonate-User", "jane"],
      ["Impersonate-Group", "a"],
      ["Impersonate-Group", "b"],
      ["Impersonate-Uid", "u1"],
      ["Impersonate-Extra-Scopes", "x"],
      ["Impersonate-Extra-Acme%2fProject", "y"],
    );
    expect(user).toEqual({ name: "jane", uid: "u1", groups: ["a", "b"], extra: { scopes: ["x"], "acme/project": ["y"] } });
  });

  it('an extra without a value: asks for the value "", as upstream', () => {
    const user = wanted(["Impersonate-User", "jane"], ["Impersonate-Extra-Scopes", ""]);
    expect(user).toEqual({ name: "jane", uid: "", groups: [], extra: { scopes: [""] } });
  });

  it.each(["Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-Scopes"])("%s without a user: 400", (name) => {
    const user = impersonated(headers([name, "x"]));
    expect(user).toMatchObject({ ok: false, error: { code: 400, reason: "BadRequest" } });
    expect(!user.ok && user.error.message).toMatch(/^requested .* without impersonating a user name$/);
  });
});

describe("rights", () => {
  it.each<[name: string, fields: [string, string][], rights: string[]]>([
    ["a user, by the older verb", [["Impersonate-User", "jane"]], ["impersonate /users/ /jane"]],
    [
      "a user with a group, a uid and an extra, by the older verb",
      [
        ["Impersonate-User", "jane"],
        ["Impersonate-Group", "g"],
        ["Impersonate-Uid", "u"],
        ["Impersonate-Extra-Scopes", "x"],
      ],
      [
        "impersonate /users/ /jane",
        "impersonate /groups/ /g",
        "impersonate authentication.k8s.io/uids/ /u",
        "impersonate authentication.k8s.io/userextras/scopes /x",
      ],
    ],
    [
      "a user with an extra without a value, by the older verb",
      [
        ["Impersonate-User", "jane"],
        ["Impersonate-Extra-Scopes", ""],
      ],
      ["impersonate /users/ /jane", "impersonate authentication.k8s.io/userextras/scopes /"],
    ],
    ["a service account", [["Impersonate-User", "system:serviceaccount:ns:sa"]], ["impersonate /serviceaccounts/ ns/sa"]],
    [
      "a user, constrained",
      [["Impersonate-User", "jane"]],
      ["impersonate-on:user-info:list /pods/ /", "impersonate:user-info authentication.k8s.io/users/ /jane"],
    ],
    [
      "a service account, constrained",
      [["Impersonate-User", "system:serviceaccount:ns:sa"]],
      ["impersonate-on:serviceaccount:list /pods/ /", "impersonate:serviceaccount authentication.k8s.io/serviceaccounts/ ns/sa"],
    ],
    [
      "a node, constrained",
      [["Impersonate-User", "system:node:n"]],
      ["impersonate-on:arbitrary-node:list /pods/ /", "impersonate:arbitrary-node authentication.k8s.io/nodes/ /n"],
    ],
    [
      "a name that no node has, constrained",
      [["Impersonate-User", "system:node:N"]],
      ["impersonate-on:user-info:list /pods/ /", "impersonate:user-info authentication.k8s.io/users/ /system:node:N"],
    ],
  ])("%s: needs all of its rights", (_name, fields, rights) => {
    const user = wanted(...fields);
    expect(actAs(BOB, user, LIST_PODS, having(...rights))).toMatchObject({
      ok: true,
      value: { user: { name: user.name }, impersonator: BOB.user },
    });
    for (const missing of rights) {
      const refused = actAs(BOB, user, LIST_PODS, having(...rights.filter((one) => one !== missing)));
      expect(refused, `without ${missing}`).toMatchObject({ ok: false, error: { code: 403 } });
    }
  });

  it.each<[name: string, fields: [string, string][], rights: string[]]>([
    [
      "an administrator",
      [
        ["Impersonate-User", "jane"],
        ["Impersonate-Group", "system:masters"],
      ],
      [
        "impersonate-on:user-info:list /pods/ /",
        "impersonate:user-info authentication.k8s.io/users/ /jane",
        "impersonate:user-info authentication.k8s.io/groups/ /system:masters",
      ],
    ],
    [
      "a service account with a group",
      [
        ["Impersonate-User", "system:serviceaccount:ns:sa"],
        ["Impersonate-Group", "g"],
      ],
      [
        "impersonate-on:serviceaccount:list /pods/ /",
        "impersonate:serviceaccount authentication.k8s.io/serviceaccounts/ ns/sa",
        "impersonate:serviceaccount authentication.k8s.io/groups/ /g",
      ],
    ],
  ])("%s: not by constrained rights", (_name, fields, rights) => {
    expect(actAs(BOB, wanted(...fields), LIST_PODS, having(...rights))).toMatchObject({ ok: false, error: { code: 403 } });
  });

  describe("the node of the caller's own Pod", () => {
    const agentOn = (...nodes: string[]): Caller => ({
      ...BOB,
      user: { ...BOB.user, name: "system:serviceaccount:ns:agent", extra: { "authentication.kubernetes.io/node-name": nodes } },
    });
    const NODE = wanted(["Impersonate-User", "system:node:n"]);
    const RIGHTS = ["impersonate-on:associated-node:list /pods/ /", "impersonate:associated-node authentication.k8s.io/nodes/ /*"];

    it("needs both of its rights", () => {
      const acted = actAs(agentOn("n"), NODE, LIST_PODS, having(...RIGHTS));
      expect(acted).toMatchObject({ ok: true, value: { user: { groups: ["system:nodes", "system:authenticated"] } } });
      for (const right of RIGHTS) expect(actAs(agentOn("n"), NODE, LIST_PODS, having(right)).ok).toBe(false);
    });

    it.each([
      ["a service account on another node", agentOn("m")],
      ["a service account without a node", agentOn()],
      ["somebody else who says that he is there", { ...agentOn("n"), user: { ...agentOn("n").user, name: "bob" } }],
    ])("%s: is not enough", (_name, caller) => {
      expect(actAs(caller, NODE, LIST_PODS, having(...RIGHTS)).ok).toBe(false);
    });

    it("without its rights: those of any node are asked for, and the first refusal is told", () => {
      const any = ["impersonate-on:arbitrary-node:list /pods/ /", "impersonate:arbitrary-node authentication.k8s.io/nodes/ /n"];
      expect(actAs(agentOn("n"), NODE, LIST_PODS, having(...any)).ok).toBe(true);
      const refused = actAs(agentOn("n"), NODE, LIST_PODS, having());
      expect(!refused.ok && refused.error.message).toContain("cannot impersonate-on:associated-node:list");
    });
  });

  it("nothing allowed: the constrained refusal is told", () => {
    const refused = actAs(BOB, wanted(["Impersonate-User", "jane"]), LIST_PODS, having());
    expect(!refused.ok && refused.error.message).toBe(
      'pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope',
    );
  });
});

describe("groups that go without saying", () => {
  const all = () => ({ decision: "allow" as const, reason: "" });
  it.each<[name: string, groups: string[], want: string[]]>([
    ["jane", [], ["system:authenticated"]],
    ["jane", ["g"], ["g", "system:authenticated"]],
    ["system:anonymous", [], ["system:unauthenticated"]],
    ["system:serviceaccount:ns:sa", [], ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"]],
    ["system:serviceaccount:ns:sa", ["g"], ["g", "system:authenticated"]],
  ])("%s with %j: %j", (name, groups, want) => {
    const acted = actAs(BOB, { name, uid: "", groups, extra: {} }, LIST_PODS, all);
    expect(acted.ok && acted.value.user.groups).toEqual(want);
  });
});
