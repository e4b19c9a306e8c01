/** Asks a server for its clusters, makes one, ends one: by the paths `/clusters` (docs/clusters.md). */
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../src/api/meta/kubernetes";
import type { Answer, Api } from "../cluster/api";
import { UserError } from "../terminal/user-error";

/** As the server shows it. */
export interface ListedCluster extends KubeObject {
  location?: string | null;
  status?: { phase?: string; url?: string };
}

const POLL_MS = 500;

/** Those that the credential may see, in the order of their names. Throws UserError. */
export async function listClusters(api: Api): Promise<ListedCluster[]> {
  const clusters = await api.listIfServed<ListedCluster>("/clusters");
  if (!clusters) throw new UserError(`${api.url} lists no clusters: it is no Servicenet, or one of an earlier release`);
  return clusters;
}

/** Makes the cluster unless it is there. `isNew`: it was not. Throws UserError where the server refuses, as for another location than it has. */
export async function makeCluster(
  api: Api,
  { name, location, serviceCIDRs }: { name: string; location: string | undefined; serviceCIDRs: readonly string[] },
): Promise<{ cluster: ListedCluster; isNew: boolean }> {
  const body = { ...(location !== undefined && { location }), ...(serviceCIDRs.length > 0 && { serviceCIDRs }) };
  const answer = taken(api, `create ${name}`, await api.put(pathOf(name), body));
  return { cluster: answer.object, isNew: answer.code === 201 };
}

/** Begins the deletion and waits for its end. Whether it came within `waitMs`. Throws UserError where the server refuses. */
export async function endCluster(api: Api, { name, waitMs }: { name: string; waitMs: number }): Promise<"ended" | "begun"> {
  taken(api, `delete ${name}`, await api.delete(pathOf(name)));
  for (const deadline = performance.now() + waitMs; performance.now() < deadline; await sleep(POLL_MS)) {
    const { code, object } = await api.get(pathOf(name));
    // Another cluster may have the name by now.
    if (code === 404 || (code === 200 && (object as ListedCluster).status?.phase !== "Terminating")) return "ended";
  }
  return "begun";
}

function pathOf(name: string): string {
  return `/clusters/${encodeURIComponent(name)}`;
}

function taken({ url }: Api, what: string, answer: Answer): Answer {
  if (answer.code < 300) return answer;
  throw new UserError(`${what}: ${url} refuses: ${answer.code} ${answer.message}`);
}
