/** The test of KEP-3836 for liveness probes: a proxy on a draining node, whose supervisor asks it at /healthz, or at /livez. */
import { startProgram } from "../../test/support/server/program";
import { until, write } from "./api";
import { nodeName, proxyArgs, PROXY_READY } from "./node-programs";
import { Supervisor } from "./supervisor";

/** So many restarts are a loop. */
const LOOP = 2;
/** So many answered probes without a restart are none. */
const ANSWERS = 12;

const PATHS = ["/livez", "/healthz"] as const;

/** Restarts of the proxy by the path of its probe. */
export type Restarts = Readonly<Record<(typeof PATHS)[number], number>>;

/** `number`: of a node that nobody else has. */
export async function restartsByProbe(url: string, number: number, taint: object): Promise<Restarts> {
  await write(url, "POST", "/api/v1/nodes", { metadata: { name: nodeName(number) }, spec: { taints: [taint] } });
  const { args, healthz } = proxyArgs(number, url);
  const restarts = { "/livez": 0, "/healthz": 0 };
  for (const path of PATHS) {
    const supervisor = new Supervisor(() => startProgram("proxy", [...args, "--no-reports"], PROXY_READY), `http://${healthz}${path}`);
    try {
      const hasSeenEnough = (): boolean => supervisor.restarts >= LOOP || supervisor.answers >= ANSWERS;
      await until("a supervisor has seen enough", () => hasSeenEnough() || supervisor.hasFailed);
    } finally {
      await supervisor.stop();
    }
    restarts[path] = supervisor.restarts;
  }
  return restarts;
}
