/**
 * Every route, asked for by those who may not: the list comes from the app and the registry, so that a new route is asked for without a change here.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BEARER_PROTOCOL } from "../../../src/worker/http/read/credentials";
import { AccessWorld, type AskOptions } from "../../support/access/access-world";
import { everyPath, everyRootPath, METHODS } from "../../support/access/every-request";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const PROBES = ["/healthz", "/livez", "/readyz"];
const PATHS = everyPath();

/** What the ClusterRole view reads, in every verb of reading. */
const READABLE = new Set([
  ...["pods", "serviceaccounts", "services", "endpoints", "configmaps", "events", "resourcequotas", "namespaces", "bindings"],
  ...["services/status", "pods/status", "resourcequotas/status", "namespaces/status"],
  "events.events.k8s.io",
  "endpointslices.discovery.k8s.io",
]);
/** What everybody who is known may ask about himself. */
const OWN_REVIEWS = /\/(?:selfsubjectaccessreviews|selfsubjectrulesreviews|selfsubjectreviews)$/;
const DISCOVERY = /^\/(?:version\/?|api\/?|api\/[^/]+\/?|apis\/?|apis\/[^/]+\/?|apis\/[^/]+\/[^/]+\/?|openapi\/.*)$/;

function viewerMay(method: string, target: string): boolean {
  const [path = ""] = target.split("?");
  if (PROBES.includes(path)) return true;
  if (DISCOVERY.test(path)) return method === "GET";
  if (OWN_REVIEWS.test(path)) return method === "POST";
  const parts = /^\/(?:api|apis\/([^/]+))\/[^/]+\/(?:watch\/)?(.+)$/.exec(path);
  if (!parts || (method !== "GET" && method !== "HEAD")) return false;
  let rest = (parts[2] ?? "").split("/").filter((part) => part !== "");
  if (rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status" && rest[2] !== "finalize") rest = rest.slice(2);
  const id = [rest[0], ...rest.slice(2, 3)].join("/");
  return READABLE.has(parts[1] === undefined ? id : `${id}.${parts[1]}`);
}

let world: AccessWorld;
beforeEach(async () => (world = await new AccessWorld().begin()));
afterEach(() => void vi.restoreAllMocks());

/** The requests whose code is not as expected. */
async function others(options: AskOptions, expected: (method: string, path: string, code: number) => boolean): Promise<string[]> {
  const found: string[] = [];
  for (const path of [...PATHS, `/clusters/${world.cluster}/admin/tokens`, "/clusters/blue/api/v1/nodes"]) {
    for (const method of METHODS) {
      const { code } = await world.ask(method, path, options);
      if (!expected(method, path, code)) found.push(`${method} ${path}: ${String(code)}`);
    }
  }
  return found;
}

/** A handshake has one method. */
async function otherHandshakes(protocol: string | undefined, expected: (path: string, code: number) => boolean): Promise<string[]> {
  const headers = {
    Upgrade: "websocket",
    Connection: "Upgrade",
    ...(protocol === undefined ? {} : { "Sec-WebSocket-Protocol": protocol }),
  };
  const found: string[] = [];
  for (const path of PATHS) {
    const { code } = await world.ask("GET", path, { token: "", headers });
    if (!expected(path, code)) found.push(`${path}: ${String(code)}`);
  }
  return found;
}

function inProtocol(token: string): string {
  return `${BEARER_PROTOCOL}${btoa(token).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}, v4.channel.k8s.io`;
}

const isProbe = (path: string): boolean => PROBES.includes(path);

describe("every route", () => {
  it("the list: has what the app and the registry serve", () => {
    expect(PATHS).toEqual(
      expect.arrayContaining([
        "/clusters/name",
        "/admin/tokens",
        "/admin/rangeallocations/name",
        "/check/owners/uid",
        "/nodes/targets",
        "/metrics/slis",
        "/ranges",
        "/revisions",
        "/api/v1/nodes/a/proxy",
        "/api/v1/nodes/a/proxy-config",
        "/api/v1/namespaces/default/pods/a/eviction",
        "/apis/authentication.k8s.io/v1/tokenreviews",
        "/clusters/default/apis/servicenet.dev/v1alpha1/clusters",
        "/clusters/default/apis/servicenet.dev/v1alpha1/clusters/a/status",
      ]),
    );
  });

  it("without a credential: 401, but for the probes", async () => {
    expect(await others({ token: "" }, (_, path, code) => (isProbe(path) ? code === 200 || code === 405 : code === 401))).toEqual([]);
    expect(await otherHandshakes(undefined, (path, code) => (isProbe(path) ? code === 200 : code === 401))).toEqual([]);
  });

  it("with a token that nobody made: 401, the probes too", async () => {
    const token = `sn_${"0".repeat(20)}_${"A".repeat(43)}`;
    expect(await others({ token }, (_method, _path, code) => code === 401)).toEqual([]);
    expect(await otherHandshakes(inProtocol(token), (_path, code) => code === 401)).toEqual([]);
  });

  it("with a token that is over: 401, the probes too", async () => {
    const endMs = Date.now() + 60_000;
    const token = await world.tokenOf("late", { groups: ["system:masters"], expiresAt: new Date(endMs).toISOString() });
    expect((await world.ask("GET", "/version", { token })).code).toBe(200);
    vi.spyOn(Date, "now").mockReturnValue(endMs + 1);
    expect(await others({ token }, (_method, _path, code) => code === 401)).toEqual([]);
    expect(await otherHandshakes(inProtocol(token), (_path, code) => code === 401)).toEqual([]);
  });

  it("with an administrator's token of another cluster: 403, but for the probes", async () => {
    const token = await world.tokenOf("foreign", { groups: ["system:masters"], clusters: ["elsewhere"] });
    expect(await others({ token }, (_, path, code) => (isProbe(path) ? code === 200 || code === 405 : code === 403))).toEqual([]);
    expect(await otherHandshakes(inProtocol(token), (path, code) => (isProbe(path) ? code === 200 : code === 403))).toEqual([]);
  });

  /** The object of a cluster that no credential of `default` alone is for. */
  const ANOTHER_CLUSTER =
    /\/apis\/(?:servicenet\.dev\/v1alpha1\/(?:watch\/)?clusters|multicluster\.x-k8s\.io\/v1alpha1\/(?:watch\/)?namespaces\/[^/]+\/clusterprofiles)\/a(?:[/?]|$)/;

  it("with an administrator's token of the cluster default: what is about the whole server is read, and no write goes through", async () => {
    const token = await world.tokenOf("limited", { groups: ["system:masters"], clusters: ["default"] });
    const found: string[] = [];
    for (const path of everyRootPath()) {
      for (const method of METHODS) {
        const { code } = await world.ask(method, path, { token });
        const isRead = method === "GET" || method === "HEAD";
        const isRefused = !isRead || ANOTHER_CLUSTER.test(path);
        // Nobody has OPTIONS.
        const isRight = isRefused ? code === (method === "OPTIONS" ? 405 : 403) : code !== 401 && code !== 403 && code < 500;
        if (!isRight) found.push(`${method} ${path}: ${String(code)}`);
      }
    }
    expect(found.join("\n")).toBe("");
  });

  interface Viewer {
    subject: object;
    token: string;
    /** it is known outside its cluster */
    isKnownElsewhere: boolean;
  }

  const CREDENTIALS: Readonly<Record<string, () => Promise<Viewer>>> = {
    "a token of this server": async () => ({
      isKnownElsewhere: true,
      subject: { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "viewer" },
      token: await world.tokenOf("viewer", { clusters: [world.cluster] }),
    }),
    "a token of a service account": async () => {
      const accounts = "/api/v1/namespaces/default/serviceaccounts";
      await world.make(accounts, { metadata: { name: "viewer" } });
      const { body } = await world.ask("POST", `${accounts}/viewer/token`, { body: {} });
      return {
        isKnownElsewhere: false,
        subject: { kind: "ServiceAccount", namespace: "default", name: "viewer" },
        token: (body.status as { token: string }).token,
      };
    },
  };

  it.each(Object.entries(CREDENTIALS))(
    "with the rights to view, %s: no write, and of what can be read what the role has",
    async (_, made) => {
      const { subject, token, isKnownElsewhere } = await made();
      const isElsewhere = (path: string): boolean =>
        isProbe(path) ||
        path.startsWith("/admin/tokens") ||
        (path.startsWith("/clusters/") && !path.startsWith(`/clusters/${world.cluster}`));
      // What the controller gathers in the role `view`.
      await world.make(`${RBAC}/clusterrolebindings`, {
        metadata: { name: "viewer" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:aggregate-to-view" },
        subjects: [subject],
      });
      const isRight = (method: string, path: string, code: number): boolean => {
        if (!isKnownElsewhere && isElsewhere(path)) return code === 401;
        return viewerMay(method, path) ? code !== 401 && code !== 403 && code < 500 : code === 403;
      };
      expect(await others({ token }, isRight)).toEqual([]);
      expect(await otherHandshakes(inProtocol(token), (path, code) => isRight("GET", path, code))).toEqual([]);
    },
  );
});
