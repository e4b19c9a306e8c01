/** The answer to a request that is handed on to the machine behind an object, as `nodes/proxy` is. */
import type { ConnectDefinition } from "../../api/registry/resource";
import { UNCOUNTED } from "../http/in-flight";
import { inCluster } from "../routing/known-clusters";
import type { RequestTarget } from "../routing/request-info";
import { type Connect, nodeProxy } from "../handlers/node-proxy";
import type { TargetRequest } from "./target-request";
import { until } from "./turn";

const CONNECTS: Readonly<Record<ConnectDefinition["name"], Connect>> = { proxy: nodeProxy };

/** As upstream: like a watch, it takes no place among the requests under way. */
export function answerConnect(asked: TargetRequest, { info, connect, path }: RequestTarget<"connect">): Promise<Response> {
  const { env, request, url, refusal } = asked;
  const { definition, name } = info;
  const connected = inCluster({ env, name: url.cluster, refusal }, (id) =>
    CONNECTS[connect.name]({ env, cluster: id, definition, id: name, path, request, query: url.query, refusal }),
  );
  return until(connected, UNCOUNTED, asked);
}
