/** `npm run backup -- --all`: each cluster of a server into a file of its own, one after the other. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "../../src/api/meta/kubernetes";
import { validateDNS1123Label } from "../../src/api/meta/names";
import { Api } from "../cluster/api";
import type { Target } from "../cluster/target";
import { UserError } from "../terminal/user-error";
import { assertReplaceable } from "./write-file";

const OF_ONE_CLUSTER = /\/clusters\/[^/]+$/;

interface ListedCluster extends KubeObject {
  status?: { phase?: string };
}

export interface AllClusters {
  /** of the server; its address has no `/clusters/NAME` */
  target: Target;
  /** of the files; made where it is not there */
  folder: string;
}

/** How a backup of one cluster ended. `wrong`: the file is there, and the cluster contradicts itself. */
type Outcome = "done" | "wrong" | "failed" | "gone";

/**
 * Backs up the clusters of the list. One that cannot be backed up keeps no other from it. Those that are being deleted are left out.
 *
 * @param backUp one cluster into a file; throws UserError
 * @returns whether some failed, and whether some contradict themselves
 * @throws UserError where the server does not say which clusters there are
 */
export async function backUpAll(
  { target, folder }: AllClusters,
  backUp: (api: Api, file: string) => Promise<"done" | "wrong">,
): Promise<{ hasFailed: boolean; isWrong: boolean }> {
  const server = new Api(target);
  // The cluster `default` would answer with the list, and has no other cluster below it.
  if (OF_ONE_CLUSTER.test(server.url)) throw new UserError(`${server.url} is the address of one cluster: --all takes that of the server`);
  const clusters = await server.listIfServed<ListedCluster>("/clusters");
  if (!clusters) throw new UserError(`${server.url} lists no clusters: it runs an earlier release`);
  const names = clusters.filter(({ status }) => status?.phase !== "Terminating").map(({ metadata }) => metadata?.name ?? "");
  // They are names of files here.
  const wrong = names.find((name) => validateDNS1123Label(name).length > 0);
  if (wrong !== undefined) throw new UserError(`${server.url} lists a cluster that cannot be one: ${JSON.stringify(wrong)}`);
  const files = new Map(names.map((name) => [name, join(folder, `${name}.jsonl`)]));
  for (const file of files.values()) assertReplaceable(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const outcomes: Outcome[] = [];
  for (const [name, file] of files) {
    try {
      outcomes.push(await backUp(new Api({ ...target, url: `${server.url}/clusters/${name}` }), file));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const isGone = await hasEnded(server, name);
      outcomes.push(isGone ? "gone" : "failed");
      if (isGone) console.log(`The cluster ${name} was deleted meanwhile; it has no new file.`);
      else console.error(`backup: ${name}: ${error.message}`);
    }
  }
  const count = (outcome: Outcome): number => outcomes.filter((one) => one === outcome).length;
  console.log(`${String(count("done") + count("wrong"))} of ${String(names.length)} clusters are backed up.`);
  return { hasFailed: count("failed") > 0, isWrong: count("wrong") > 0 };
}

/** Who does not answer has not ended. */
async function hasEnded(server: Api, name: string): Promise<boolean> {
  try {
    const { code, object } = await server.get(`/clusters/${name}`);
    // Of a path that is not served another thing was not found.
    if (code === 404) return (object as { details?: { kind?: string } }).details?.kind === "clusters";
    return (object as ListedCluster).status?.phase === "Terminating";
  } catch {
    return false;
  }
}
