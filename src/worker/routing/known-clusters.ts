/**
 * Which objects a cluster's name stands for. The cluster `default` always exists. Every other cluster begins with an administrator's first request
 * that may make an object, or with PUT /clusters/{name}. A read begins no cluster, and does not call the record of a cluster that was never made.
 */
import { Batched, type Beside } from "../../core/base/batched";
import { err, ok, type Result } from "../../core/base/result";
import type { ControllerList } from "../../core/config/controllers";
import { conflict, notFound, requestTimedOut, type ResourceName, serviceUnavailable, type Status } from "../../api/meta/status";
import type { Env } from "../../../durable-objects/platform/env";
import { clusterNames, clusterRecord } from "../../../durable-objects/peers/peers";
import { systemClock } from "../../../durable-objects/platform/ports";
import { type ClusterState, DIRECTORY_SILENT } from "../../tenancy/rpc";
import { DEFAULT_CLUSTER } from "../../tenancy/cluster-id";
import { ASKED_TOGETHER, KNOWN_CLUSTERS_MAX, RETRY_AFTER_SECONDS } from "../http/limits";
import { call, ClusterGone } from "./call";
import { type Rendering, statusResponse } from "../http/answer/respond";

export const CLUSTER: ResourceName = { group: "", resource: "clusters", kind: "Cluster" };

/** Ids of clusters that this isolate has seen active. A deleted one is noticed at the next call, which its objects refuse. */
const known = new Map<string, string>();

/**
 * What `answer` makes of the cluster's id; a Status when there is no such cluster.
 *
 * @param begins whether the request may make the cluster
 */
export async function inCluster(
  { env, name, begins, refusal = "compact" }: { env: Env; name: string; begins: boolean; refusal?: Rendering },
  answer: (id: string) => Response | Promise<Response>,
): Promise<Response> {
  if (name === DEFAULT_CLUSTER) return answer(name);
  const id = known.get(name) ?? (await find(env, name, begins));
  if (typeof id !== "string") return statusResponse(id, refusal);
  try {
    return await answer(id);
  } catch (error) {
    if (!(error instanceof ClusterGone)) throw error;
    known.delete(name);
    const now = await find(env, name, begins);
    // Another cluster has the name now. The request was not carried out and may be sent again.
    const status = typeof now === "string" ? madeAnew() : now;
    return statusResponse(status, refusal);
  }
}

/** The id of the active cluster, or the Status that says why there is none. */
async function find(env: Env, name: string, begins: boolean): Promise<string | Status> {
  const found = begins ? await openCluster(env, name) : await lookAt(env, name);
  if (!found.ok) return found.error;
  const state = "state" in found.value ? found.value.state : found.value;
  switch (state.phase) {
    case "active":
      return state.id;
    case "absent":
      return notFound(CLUSTER, name);
    case "deleting":
      return begins ? beingDeleted(name) : notFound(CLUSTER, name);
  }
}

/** The id that this isolate has for the name; "" = none. */
export function knownIdOf(name: string): string {
  return name === DEFAULT_CLUSTER ? name : (known.get(name) ?? "");
}

/** The objects of this name's cluster have said that they are gone: the next look asks the record. */
export function forgetCluster(name: string): void {
  known.delete(name);
}

/** Questions that anybody may have asked, for any name; those about one name that was made go to its record. */
interface Questions {
  readonly made: Batched<string, Result<boolean, Status>>;
  readonly looks: Map<string, Batched<undefined, Result<ClusterState, Status>>>;
}

const questions = new WeakMap<Env, Questions>();

/** The id of the cluster; undefined = there is none, or it is being deleted. Makes none, and calls no record of a name that nobody made. */
export async function activeIdOf(env: Env, name: string, beside: Beside): Promise<Result<string | undefined, Status>> {
  if (name === DEFAULT_CLUSTER) return ok(name);
  const id = known.get(name);
  if (id !== undefined) return ok(id);
  const { made, looks } = questionsIn(env);
  const isMade = await made.ask(name, beside).catch(() => err(requestTimedOut()));
  if (!isMade.ok) return isMade;
  if (!isMade.value) return ok(undefined);
  let look = looks.get(name);
  if (!look) {
    if (looks.size >= KNOWN_CLUSTERS_MAX) looks.clear();
    looks.set(name, (look = new Batched(systemClock, ASKED_TOGETHER, (asked) => lookForAll(env, name, asked.length))));
  }
  const looked = await look.ask(undefined, beside).catch(() => err(requestTimedOut()));
  if (!looked.ok) return looked;
  return ok(looked.value.phase === "active" ? looked.value.id : undefined);
}

function questionsIn(env: Env): Questions {
  const kept = questions.get(env);
  if (kept) return kept;
  const fresh: Questions = {
    made: new Batched(systemClock, ASKED_TOGETHER, async (names) => {
      const made = await areMade(env, names);
      return names.map((_, index) => (made.ok ? certain(made.value[index]) : made));
    }),
    looks: new Map(),
  };
  questions.set(env, fresh);
  return fresh;
}

async function lookForAll(env: Env, name: string, count: number): Promise<Result<ClusterState, Status>[]> {
  const state = await lookAtRecord(env, name);
  return Array<typeof state>(count).fill(state);
}

function areMade(env: Env, names: string[]): Promise<Result<(boolean | null)[], Status>> {
  return call(() => clusterNames(env).areMade(names), { what: "clusters.areMade", repeatable: true });
}

function certain(isMade: boolean | null | undefined): Result<boolean, Status> {
  return typeof isMade === "boolean" ? ok(isMade) : err(serviceUnavailable(DIRECTORY_SILENT, RETRY_AFTER_SECONDS));
}

/** Another cluster has the name than the one that was meant. The request was not carried out and may be sent again. */
export function madeAnew(): Status {
  return serviceUnavailable("the cluster was made anew, try again", RETRY_AFTER_SECONDS);
}

export function beingDeleted(name: string): Status {
  return conflict(CLUSTER, name, "the cluster is being deleted");
}

/** Makes nothing. */
export async function lookAt(env: Env, name: string): Promise<Result<ClusterState, Status>> {
  if (name === DEFAULT_CLUSTER) return lookAtRecord(env, name);
  const made = await areMade(env, [name]);
  const isMade = made.ok ? certain(made.value[0]) : made;
  if (!isMade.ok) return isMade;
  return isMade.value ? lookAtRecord(env, name) : ok({ phase: "absent" });
}

async function lookAtRecord(env: Env, name: string): Promise<Result<ClusterState, Status>> {
  const state = await call(() => clusterRecord(env, name).look(), { what: "cluster.look", repeatable: true });
  return state.ok ? ok(noted(name, state.value)) : err(state.error);
}

/** Makes the cluster unless it is there; `opened` = by this call. */
export async function openCluster(env: Env, name: string): Promise<Result<{ state: ClusterState; opened: boolean }, Status>> {
  const answer = await call(() => clusterRecord(env, name).open(), { what: "cluster.open", repeatable: true });
  if (answer.ok) noted(name, answer.value.state);
  return answer;
}

/** Gives a cluster a list of controllers of its own, or with null the variable's. Its state once every object of it has heard. */
export async function setControllers(env: Env, name: string, list: ControllerList | null): Promise<Result<ClusterState, Status>> {
  const set = await call(() => clusterRecord(env, name).setControllers(list), { what: "cluster.setControllers", repeatable: true });
  if (!set.ok) return set;
  const { state, isTold } = set.value;
  if (state.phase !== "active") return err(beingDeleted(name));
  if (isTold) return ok(state);
  const still = "not every object of the cluster has heard of its controllers yet; that goes on by itself";
  return err(serviceUnavailable(still, RETRY_AFTER_SECONDS));
}

export async function removeCluster(env: Env, name: string): Promise<Result<ClusterState, Status>> {
  const looked = await lookAt(env, name);
  if (!looked.ok || looked.value.phase === "absent") return looked;
  const state = await call(() => clusterRecord(env, name).remove(), { what: "cluster.remove", repeatable: true });
  return state.ok ? ok(noted(name, state.value)) : err(state.error);
}

function noted(name: string, state: ClusterState): ClusterState {
  if (state.phase === "active") {
    if (known.size >= KNOWN_CLUSTERS_MAX) known.clear();
    known.set(name, state.id);
  } else known.delete(name);
  return state;
}
