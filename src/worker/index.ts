/** The composition root: what the platform calls, and the objects it keeps. */
import { app } from "./app";
import type { Env } from "../../durable-objects/platform/env";
import { systemClock } from "../../durable-objects/platform/ports";
import { ensureDefaultPolicy } from "./access/default-policy";
import { closing, wantsClose } from "./http/connection/closing";
import { auditIdOf, withCommonHeaders } from "./http/answer/common-headers";
import { drainUnread } from "./http/read/drain";
import { malformedRequest } from "./http/connection/request-target";
import { SocketsTurns } from "./http/connection/sockets-turns";
import { runScheduled } from "./scheduled";
import { DEFAULT_CLUSTER } from "../tenancy/cluster-id";
import { configOf } from "./routing/config-guard";
import { noteRemovedData } from "./routing/removed-data";
import { renewHere } from "./routing/identity";
import { RENEW_IDENTITY } from "./routing/identity-signal";
import { END_WATCHES, REFUSE_REQUESTS } from "./routing/stop-signal";
import { waits } from "./routing/waits";

export { ClusterNames } from "../../durable-objects/cluster-names";
export { ClusterRecord } from "../../durable-objects/cluster-record";
export { Controller } from "../../durable-objects/controller";
export { Coordinator } from "../../durable-objects/coordinator";
export { CredentialStore } from "../../durable-objects/credential-store";
export { IPAddressesStore } from "../../durable-objects/ip-addresses-store";
export { NodeProxy } from "../../durable-objects/node-proxy";
export { ProxyView } from "../../durable-objects/proxy-view";
export { ResourceStore } from "../../durable-objects/resource-store";
export { ServiceCIDR } from "../../durable-objects/service-cidr";
export { ServicesStore } from "../../durable-objects/services-store";

function fetch(request: Request, env: Env, context: ExecutionContext): Response | Promise<Response> {
  return app.fetch(request, env, context);
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

/** A local server has the roles of its cluster from its start on, as a kube-apiserver has. */
async function beginDefaultCluster(env: Env, context: ExecutionContext): Promise<void> {
  const config = configOf(env);
  if (!config.ok || !config.value.authorizationModes.includes("RBAC")) return;
  await ensureDefaultPolicy(env, DEFAULT_CLUSTER, (work) => context.waitUntil(work));
}

async function scheduled({ cron, scheduledTime }: ScheduledController, env: Env, context: ExecutionContext): Promise<void> {
  if (cron === END_WATCHES) await waits.end(env);
  else if (cron === REFUSE_REQUESTS) noteRemovedData();
  else if (cron === RENEW_IDENTITY) await Promise.all([renewHere(env), beginDefaultCluster(env, context)]);
  else await runScheduled(cron, env, scheduledTime);
}

export default {
  fetch,
  scheduled,
} satisfies ExportedHandler<Env>;
