/** Who asks a server with HTTPS: its administrator, and users with a token and a role. */
import type { Server } from "../../../test/support/server/server";
import { send } from "../../cluster/send";
import { bearer, type Target } from "../../cluster/target";

/** The server as its administrator sees it. */
export function administered({ url, ca, token }: Server): Target {
  return { url, options: { ca, headers: { ...bearer(token) } } };
}

/** The same as a new user sees it who may create Services. */
export async function userOf(server: Server, user: string): Promise<Target> {
  const admin = administered(server);
  const make = async (path: string, body: object): Promise<unknown> => {
    const { status, text } = await send(admin, "POST", path, body, "application/json");
    if (status !== 201) throw new Error(`POST ${path}: ${String(status)} ${text}`);
    return JSON.parse(text);
  };
  const group = "/apis/rbac.authorization.k8s.io/v1";
  const rules = [{ apiGroups: [""], resources: ["services"], verbs: ["create"] }];
  await make(`${group}/clusterroles`, { metadata: { name: user }, rules });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: user };
  await make(`${group}/clusterrolebindings`, { metadata: { name: user }, roleRef, subjects: [{ kind: "User", name: user }] });
  const { token } = (await make("/admin/tokens", { user })) as { token: string };
  return { url: server.url, options: { ca: server.ca, headers: { ...bearer(token) } } };
}
