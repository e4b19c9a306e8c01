/** kubectl against a server that asks who one is: users, rights, tokens. */
import { request } from "node:https";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { kubectlInCluster, table } from "../../../support/clients/kubectl";

const kubectl = kubectlInCluster({ secure: true });
const { ok, refused } = kubectl;

/** A request of the administrator past kubectl. On a connection of its own: while kubectl runs, nobody here would see the end of a kept one. */
async function admin(method: string, path: string, body?: object): Promise<{ id?: string; token?: string }> {
  const { origin, token, ca } = kubectl.cluster;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const asked = request(origin + path, { method, headers, ca, agent: false });
  asked.end(body ? JSON.stringify(body) : "");
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  let text = "";
  for await (const part of response.setEncoding("utf8")) text += part as string;
  return JSON.parse(text) as { id?: string; token?: string };
}

const token = (user: string, more: object = {}) => admin("POST", "/admin/tokens", { user, ...more });

/** What `kubectl auth whoami` shows, by attribute. */
const who = (options = ""): Record<string, string> => Object.fromEntries(table(ok(`auth whoami ${options}`)) as [string, string][]);

/** kubectl takes a token of the command line only beside a kubeconfig that has none. */
function withoutUser(): string {
  const { url, ca } = kubectl.cluster;
  return kubectl.file("nobody", {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "" } }],
    "current-context": "c",
  });
}

const settled = (line: string, answer: string) => expect.poll(() => kubectl.run(line).out.trim()).toBe(answer);

describe("kubectl auth", () => {
  it("whoami: the administrator, and whom he acts as", () => {
    expect(who()).toMatchObject({ Username: "admin", Groups: "[system:masters system:authenticated]" });
    expect(who("--as=jane --as-group=devs")).toMatchObject({ Username: "jane", Groups: "[devs system:authenticated]" });
  });

  it("create role, rolebinding, clusterrole, clusterrolebinding; can-i, --list: the rules decide", async () => {
    ok("create role reads-services --verb=get,list --resource=services");
    ok("create rolebinding jane --role=reads-services --user=jane");
    ok("create clusterrole reads-nodes --verb=list --resource=nodes");
    ok("create clusterrolebinding devs --clusterrole=reads-nodes --group=devs");
    await settled("auth can-i list services --as jane", "yes");
    expect(kubectl.run("auth can-i delete services --as jane")).toMatchObject({ code: 1, out: "no\n" });
    expect(kubectl.run("auth can-i list services --as jane -n kube-system")).toMatchObject({ code: 1, out: "no\n" });
    expect(kubectl.run("auth can-i list nodes --as jane").out).toBe("no\n");
    expect(kubectl.run("auth can-i list nodes --as jane --as-group devs").out).toBe("yes\n");
    const list = ok("auth can-i --list --as jane");
    expect(list).toMatch(/^services +\[\] +\[\] +\[get list\]$/m);
    expect(list).toMatch(/^selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]$/m);
    expect(list).toMatch(/^ +\[\/version\] +\[\] +\[get\]$/m);
  });

  it("reconcile -f: makes roles and bindings, and widens a role", async () => {
    const role = (verbs: string[]): object => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "reconciled" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs }],
    });
    const binding = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "reconciled" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reconciled" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "carl" }],
    };
    const list = (verbs: string[]) => kubectl.file("rules.json", { apiVersion: "v1", kind: "List", items: [role(verbs), binding] });
    expect(kubectl.run(`auth reconcile -f ${list(["get"])}`)).toMatchObject({ code: 0 });
    await settled("auth can-i get configmaps --as carl", "yes");
    expect(kubectl.run(`auth reconcile -f ${list(["list"])}`)).toMatchObject({ code: 0 });
    await settled("auth can-i list configmaps --as carl", "yes");
    expect(ok("auth can-i get configmaps --as carl")).toBe("yes");
  });
});

describe("kubectl as users", () => {
  it("a user who may only look: reads, and is refused in upstream's words", async () => {
    ok("create rolebinding viewers --clusterrole=view --group=viewers");
    const as = "--as victor --as-group viewers";
    await settled(`auth can-i list services ${as}`, "yes");
    expect(ok(`get services -o name ${as}`)).toBe("service/kubernetes");
    expect(refused(`create service clusterip web --tcp=80 ${as}`)).toBe(
      'error: failed to create ClusterIP service: services is forbidden: User "victor" cannot create resource "services" in API group "" in the namespace "default"',
    );
    expect(refused(`get services -A ${as}`)).toBe(
      'Error from server (Forbidden): services is forbidden: User "victor" cannot list resource "services" in API group "" at the cluster scope',
    );
    expect(refused(`delete service kubernetes ${as}`)).toBe(
      'Error from server (Forbidden): services "kubernetes" is forbidden: User "victor" cannot delete resource "services" in API group "" in the namespace "default"',
    );
  });

  it("config with two users: each has his own rights", async () => {
    const { token: victor } = await token("victor", { groups: ["viewers"] });
    const config = kubectl.file("two-users", readFileSync(kubectl.cluster.kubeconfig, "utf8"));
    const own = (line: string) => kubectl.run(`--kubeconfig ${config} ${line}`);
    expect(own(`config set-credentials victor --token=${victor ?? ""}`).code).toBe(0);
    const cluster = own("config view -o jsonpath={.clusters[0].name}").out;
    expect(own(`config set-context victor --cluster=${cluster} --user=victor`).code).toBe(0);
    expect(own("auth can-i create services").out).toBe("yes\n");
    expect(own("--context victor auth can-i create services").out).toBe("no\n");
    expect(own("config use-context victor").code).toBe(0);
    expect(own("get services -o name").out).toBe("service/kubernetes\n");
    expect(own("create service clusterip web --tcp=80")).toMatchObject({
      code: 1,
      err: expect.stringContaining('User "victor" cannot create') as string,
    });
  });

  it("a token that was revoked before the server saw it: must log in again", async () => {
    const { id = "", token: text = "" } = await token("rita", { groups: ["viewers"] });
    await admin("DELETE", `/admin/tokens/${id}`);
    const line = `--kubeconfig ${withoutUser()} --token=${text} get services -o name`;
    expect(refused(line)).toContain("You must be logged in to the server (Unauthorized)");
  });

  it("no token at all, and a wrong one: must log in", () => {
    const who = `--kubeconfig ${withoutUser()}`;
    expect(refused(`${who} --token=sn_nonsense get services`)).toContain("You must be logged in to the server");
    expect(kubectl.run(`${who} get services`, { input: "\n\n" }).code).not.toBe(0);
  });
});

describe("kubectl and service accounts", () => {
  it("create serviceaccount, create token: the account's rights, for as long as was asked", async () => {
    ok("create serviceaccount robot");
    ok("create rolebinding robot-edits --clusterrole=edit --serviceaccount=default:robot");
    await settled("auth can-i create services --as system:serviceaccount:default:robot", "yes");
    const text = ok("create token robot --duration=1h");
    const robot = `--kubeconfig ${withoutUser()} --token=${text}`;
    expect(who(robot)).toMatchObject({
      Username: "system:serviceaccount:default:robot",
      Groups: "[system:serviceaccounts system:serviceaccounts:default system:authenticated]",
    });
    expect(ok(`${robot} create service clusterip by-robot --tcp=80`)).toBe("service/by-robot created");
    expect(refused(`${robot} get nodes`)).toBe(
      'Error from server (Forbidden): nodes is forbidden: User "system:serviceaccount:default:robot" cannot list resource "nodes" in API group "" at the cluster scope',
    );
    const { exp = 0, iat = 0 } = JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString()) as {
      exp?: number;
      iat?: number;
    };
    expect(exp - iat).toBe(3_600);
  });

  it("create token: refusals and a warning", () => {
    expect(refused("create token nobody")).toBe('error: failed to create token: serviceaccounts "nobody" not found');
    expect(refused("create token robot --duration=1m")).toContain("may not specify a duration less than 10 minutes");
    expect(kubectl.run("create token robot --duration=48h")).toMatchObject({
      code: 0,
      err: "Warning: requested expiration of 172800 seconds shortened to 86400 seconds\n",
    });
  });

  it("create token -o yaml, --bound-object-kind Pod: the Pod's account alone", () => {
    const pod = (name: string, serviceAccountName: string): string =>
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        spec: { serviceAccountName, containers: [{ name: "c", image: "i" }] },
      });
    ok("create -f -", pod("p", "robot"));
    ok("create -f -", pod("q", "other"));
    const shown = ok("create token robot --bound-object-kind Pod --bound-object-name p -o json");
    expect(JSON.parse(shown)).toMatchObject({ kind: "TokenRequest", spec: { boundObjectRef: { kind: "Pod", name: "p" } } });
    expect(refused("create token robot --bound-object-kind Pod --bound-object-name q")).toContain(
      'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    );
  });
});
