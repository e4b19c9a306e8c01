/** The controllers of endpoints without a server around them: the heap that they hold, and what one changed Pod costs in a Service of any size. */
import type { ControllerLoad, ControllerResult } from "../../load-processes/controller-process";
import { atMost, quantile } from "../../figures";
import type { BenchRow } from "../../row";
import { runLoadProcess } from "../../started";

const SIZES = [1_000, 5_000, 20_000];
const CHANGES = 40;
const HEAP_MIB_MAX = 96;

export async function benchEndpointControllers(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  let smallest: number | undefined;
  let heapMiB: number[] = [];
  for (const pods of SIZES) {
    const load: ControllerLoad = { pods, changes: CHANGES };
    const result = await runLoadProcess<typeof load, ControllerResult>({ url: "" }, "controller-process.ts", load, ["--expose-gc"]);
    heapMiB = result.heapMiB;
    const ms = quantile(
      result.changeMs.sort((a, b) => a - b),
      0.5,
    );
    smallest ??= ms;
    rows.push({
      name: `endpoint-controllers.change${pods.toLocaleString("en-US")}`,
      value: Math.round(ms * 100) / 100,
      unit: "ms",
      note: `CPU for one changed Pod of ${pods.toLocaleString("en-US")}, stores and all three controllers (median of ${String(CHANGES)}); ${(ms / smallest).toFixed(1)} times that of ${(SIZES[0] ?? 0).toLocaleString("en-US")}`,
    });
  }
  const [synced = 0, woken = 0] = heapMiB;
  const note = `held by all three controllers with 20,000 Pods after the first sync and some changes; ${woken.toFixed(1)} MiB after they began anew on their rows`;
  return [...rows, atMost("endpoint-controllers.heap", Math.max(synced, woken), "MiB", HEAP_MIB_MAX, note)];
}
