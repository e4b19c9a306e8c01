/** What the controllers of a cluster say of themselves, for `GET /check/controllers` and /metrics. Nothing here begins a pass. */
import { controller } from "../../../durable-objects/peers/peers";
import { type ControllerName, CONTROLLERS } from "../../../durable-objects/platform/controllers";
import type { Env } from "../../../durable-objects/platform/env";
import { isMethodMissing } from "../../api/rpc/older-release";
import type { ControllerStatus } from "../../controllers/frame/status";
import type { Config } from "../../core/config/config";
import type { ControllerList } from "../../core/config/controllers";
import type { MetricFamily } from "../../core/telemetry/metrics";
import { clusterName, isRootCluster } from "../../tenancy/cluster-id";
import { lookAt } from "../routing/known-clusters";
import { configOf } from "../routing/config-guard";
import type { UsedObjects } from "./used-objects";
import { read } from "./metric-readings";

/**
 * `off`: switched off, or without work under this configuration. `unused`: it never had work, and has no object. `silent`: its object does not answer, or
 * keeps no status.
 */
export type ControllerView =
  { name: ControllerName; state: "off" | "unused" | "silent" } | ({ name: ControllerName; state: "on" } & ControllerStatus);

/** The body of `GET /check/controllers`. */
export interface ControllersView {
  controllers: ControllerView[];
}

/** All controllers, in the order of the table. One without work under this configuration, or that never had some, is not asked. */
export function controllerViews(env: Env, cluster: string, used: UsedObjects): Promise<ControllerView[]> {
  const config = configOf(env);
  let asked: Promise<readonly ControllerName[]> | undefined;
  const off = ({ controllers }: Config) => (asked ??= offIn(env, cluster, controllers));
  const view = async (name: ControllerName): Promise<ControllerView> => {
    if (!config.ok || !CONTROLLERS.runsWith(name, config.value)) return { name, state: "off" };
    if (!used.hasController(name)) return { name, state: (await off(config.value)).includes(name) ? "off" : "unused" };
    const status = await read(`${name}.controllerStatus`, () => statusOf(env, cluster, name));
    if (status === undefined || status === "unknown") return { name, state: "silent" };
    return status ? { name, state: "on", ...status } : { name, state: "off" };
  };
  return Promise.all(CONTROLLERS.namesIn(isRootCluster(cluster)).map(view));
}

/** Those that the list of the cluster switches off, or that of the variable where it has none. */
async function offIn(env: Env, cluster: string, byVariable: ControllerList): Promise<readonly ControllerName[]> {
  const state = await lookAt(env, clusterName(cluster));
  return CONTROLLERS.off((state.ok && state.value.phase === "active" ? state.value.controllers : null) ?? byVariable);
}

/** `unknown`: the object runs the release before, which keeps no status. */
async function statusOf(env: Env, cluster: string, name: ControllerName): Promise<ControllerStatus | "unknown" | null> {
  try {
    return await controller(env, cluster, name).controllerStatus();
  } catch (error) {
    if (!isMethodMissing(error, "controllerStatus")) throw error;
    return "unknown";
  }
}

/** The families of all controllers that answered. */
export function controllerFamilies(views: readonly ControllerView[]): MetricFamily[] {
  const on = views.filter((view) => view.state === "on");
  const family = (
    name: string,
    type: "counter" | "gauge",
    help: string,
    samples: (status: ControllerStatus) => readonly (readonly [value: number, labels?: Record<string, string>])[],
  ): MetricFamily => ({
    name: `servicenet_controller_${name}`,
    type,
    help,
    samples: on.flatMap((view) => samples(view).map(([value, labels]) => ({ labels: { controller: view.name, ...labels }, value }))),
  });
  const seconds = (ms: number | undefined): number => (ms ?? 0) / 1_000;
  return [
    family("passes_total", "counter", "Passes of a controller that have ended, since its object started.", ({ passes, unfinished }) => [
      [passes - unfinished, { result: "finished" }],
      [unfinished, { result: "unfinished" }],
    ]),
    family("read_total", "counter", "Changes and objects that a controller has read, since its object started.", ({ totals }) => [
      [totals.read],
    ]),
    family(
      "work_total",
      "counter",
      "Pieces of work of a controller, since its object started: done, put off after a refusal, or left for the next pass.",
      ({ totals }) => [
        [totals.done, { result: "done" }],
        [totals.putOff, { result: "put_off" }],
        [totals.later, { result: "later" }],
      ],
    ),
    family("waiting", "gauge", "Pieces of work of a controller that wait, after a refusal or for their time.", ({ last }) => [
      [last?.waiting ?? 0],
    ]),
    family(
      "behind_since_timestamp_seconds",
      "gauge",
      "Since when every pass of a controller has failed or left work; seconds since the epoch, 0 is that the last one did neither.",
      ({ behindSinceMs }) => [[seconds(behindSinceMs)]],
    ),
    family(
      "last_pass_timestamp_seconds",
      "gauge",
      "When the last pass of a controller ended; seconds since the epoch, 0 is that none has since its object started.",
      ({ last }) => [[seconds(last?.endedMs)]],
    ),
  ];
}
