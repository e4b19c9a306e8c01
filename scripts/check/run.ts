/** Checks a cluster. With `--repair` it begins repairs until nothing is wrong or the time is over. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../src/core/base/ports";
import { checkCluster, type CheckReport } from "../../src/tools/check/check-cluster";
import type { Api } from "../cluster/api";
import { UserError } from "../terminal/user-error";
import type { Progress } from "../terminal/progress";
import { apiSource } from "./api-source";

/** The pause between two checks during a repair. */
const REPAIR_POLL_MS = 2_000;

export interface CheckTask {
  api: Api;
  progress: Progress;
}

/** A report and its server. `repaired`: findings of before the repair that are right now. */
export interface CheckOutcome extends CheckReport {
  server: string;
  repaired?: CheckReport["wrong"];
}

export async function runCheck({ api, progress }: CheckTask): Promise<CheckOutcome> {
  const source = apiSource(api);
  let readings = 0;
  const parts = 8;
  const counted = <T>(read: () => Promise<T>) => {
    return async (): Promise<T> => {
      const value = await read();
      progress.show("reading", ++readings % parts || parts, parts);
      return value;
    };
  };
  const report = await checkCluster(
    {
      services: counted(source.services),
      ipAddresses: counted(source.ipAddresses),
      serviceCIDRs: counted(source.serviceCIDRs),
      ranges: counted(source.ranges),
      surroundings: counted(source.surroundings),
      owners: counted(source.owners),
      nodePortRows: counted(source.nodePortRows),
      pools: counted(source.pools),
      // read behind the others, and only when some Service has a selector
      sliceController: source.sliceController,
      pods: source.pods,
      endpointSlices: source.endpointSlices,
    },
    clockOf(api),
    (standing) => progress.wait(`looking again at ${standing} findings`),
  );
  progress.clear();
  return { server: api.url, ...report };
}

/** Begins repairs until a check finds nothing wrong, for at most `waitMs`. Other servers than Servicenet repair by themselves: this only waits. */
export async function runRepair(task: CheckTask, waitMs: number): Promise<CheckOutcome> {
  const { api } = task;
  const before = await runCheck(task);
  let now = before;
  for (const deadline = Date.now() + waitMs; now.wrong.length > 0 && Date.now() < deadline;) {
    const { code, message } = await api.post("/check");
    if (code !== 202 && code !== 404 && code !== 403) throw new UserError(`${api.url} does not begin a repair: ${code} ${message}`);
    await sleep(REPAIR_POLL_MS);
    now = await runCheck(task);
  }
  const left = new Set(now.wrong.map(({ message }) => message));
  return { ...now, repaired: before.wrong.filter(({ message }) => !left.has(message)) };
}

function clockOf(api: Api): Clock {
  return {
    now: () => api.now(),
    sleep: (ms) => sleep(ms),
    after: (ms, work) => {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
    nextTurn: () => sleep(0),
  };
}
