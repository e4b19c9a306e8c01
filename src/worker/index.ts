/** The composition root: what the platform calls, and the objects it keeps. */
import { app } from "./app";
import type { Env } from "../../durable-objects/platform/env";
import { systemClock } from "../../durable-objects/platform/ports";
import { checkCallers } from "../../durable-objects/platform/versions";
import { ClusterNames } from "../../durable-objects/cluster-names";
import { ClusterRecord } from "../../durable-objects/cluster-record";
import { Controller } from "../../durable-objects/controller";
import { Coordinator } from "../../durable-objects/coordinator";
import { CredentialStore } from "../../durable-objects/credential-store";
import { IPAddressesStore } from "../../durable-objects/ip-addresses-store";
import { NodeProxy } from "../../durable-objects/node-proxy";
import { ProxyView } from "../../durable-objects/proxy-view";
import { ResourceStore } from "../../durable-objects/resource-store";
import { ServiceCIDR } from "../../durable-objects/service-cidr";
import { ServicesStore } from "../../durable-objects/services-store";
import { ensureDefaultPolicy } from "./access/default-policy";
import { closing, wantsClose } from "./http/connection/closing";
import { log } from "./http/log";
import { auditIdOf, withCommonHeaders } from "./http/answer/common-headers";
import { drainUnread } from "./http/read/drain";
import { fleetMetrics, writeFleetPoint } from "./http/connection/fleet";
import { malformedRequest } from "./http/connection/request-target";
import { SocketsTurns } from "./http/connection/sockets-turns";
import { backUpClusters } from "./backups/scheduled-backups";
import { EVERY_MINUTE, runScheduled } from "./scheduled";
import { DEFAULT_CLUSTER } from "../tenancy/cluster-id";
import { ensureBootstrapped, isBootstrapped } from "./routing/bootstrap";
import { configOf } from "./routing/config-guard";
import { FEW_CONNECTIONS, MANY_CONNECTIONS } from "./routing/connections-signal";
import { noteRemovedData } from "./routing/removed-data";
import { renewHere } from "./routing/identity";
import { RENEW_IDENTITY } from "./routing/identity-signal";
import { END_WATCHES, REFUSE_REQUESTS } from "./routing/stop-signal";
import { waits } from "./routing/waits";

export {
  ClusterNames,
  ClusterRecord,
  Controller,
  Coordinator,
  CredentialStore,
  IPAddressesStore,
  NodeProxy,
  ProxyView,
  ResourceStore,
  ServiceCIDR,
  ServicesStore,
};

checkCallers(
  ClusterNames,
  ClusterRecord,
  Controller,
  Coordinator,
  CredentialStore,
  IPAddressesStore,
  NodeProxy,
  ProxyView,
  ResourceStore,
  ServiceCIDR,
  ServicesStore,
);

function fetch(request: Request, env: Env, context: ExecutionContext): Response | Promise<Response> {
  const answer = app.fetch(request, env, context);
  if (!env.FLEET_METRICS) return answer;
  const { colo } = (request.cf ?? {}) as { colo?: string };
  return Promise.resolve(answer).finally(() => writeFleetPoint(env, colo === undefined ? {} : { colo }));
}

const turns = new SocketsTurns(systemClock);

/** A named entrypoint: the local runner's socket reaches it without the platform's routing in front, and with targets as clients write them. */
export const direct = {
  fetch(request, env, context) {
    const begin = () => {
      const refusal = malformedRequest(request);
      const answer = refusal
        ? drainUnread(request).then(() => withCommonHeaders(refusal, auditIdOf(request)))
        : fetch(request, env, context);
      return wantsClose(request) ? closing(answer) : answer;
    };
    return turns.take()?.then(begin) ?? begin();
  },
} satisfies ExportedHandler<Env>;

/** A local server has its cluster from its start on, and the roles there, as a kube-apiserver has. */
async function beginDefaultCluster(env: Env, context: ExecutionContext): Promise<void> {
  const config = configOf(env);
  if (!config.ok) return;
  if (!isBootstrapped(env, DEFAULT_CLUSTER)) await ensureBootstrapped(env, DEFAULT_CLUSTER);
  if (!config.value.authorizationModes.includes("RBAC")) return;
  await ensureDefaultPolicy(env, DEFAULT_CLUSTER, (work) => context.waitUntil(work));
}

async function scheduled({ cron, scheduledTime }: ScheduledController, env: Env, context: ExecutionContext): Promise<void> {
  if (cron === END_WATCHES) waits.end();
  else if (cron === REFUSE_REQUESTS) noteRemovedData();
  else if (cron === MANY_CONNECTIONS) turns.areManyConnections = true;
  else if (cron === FEW_CONNECTIONS) turns.areManyConnections = false;
  else if (cron === RENEW_IDENTITY) await Promise.all([renewHere(env), beginDefaultCluster(env, context)]);
  else {
    fleetMetrics.add("cronRuns");
    fleetMetrics.add("cronLateSeconds", Math.max(0, Date.now() - scheduledTime) / 1000);
    // Its own work first: a backup may be what an isolate dies of.
    await runScheduled(cron, env, scheduledTime);
    if (cron === EVERY_MINUTE)
      await backUpClusters(env).catch((error: unknown) => log("error", "backups could not go on", { error: String(error) }));
    writeFleetPoint(env, { isDue: true });
  }
}

export default {
  fetch,
  scheduled,
} satisfies ExportedHandler<Env>;
