/** One request for a path of the table of routes (../routing/routes.ts), as its handler gets it. */
import type { Config } from "../../core/config/config";
import type { Env } from "../../../durable-objects/platform/env";
import type { Access } from "../access/access";
import type { RequestUrl } from "../http/read/request-url";

export interface PathRequest {
  env: Env;
  config: Config;
  request: Request;
  url: RequestUrl;
  /** who sends it, and what he may do */
  access: Access;
  /** keeps `work` running when the client leaves before its answer */
  waitUntil(work: Promise<unknown>): void;
}

/**
 * The answer to a request.
 *
 * @param cluster the id of the request's cluster, where the router has looked for it (`existing`); else its name
 */
export type PathHandler = (asked: PathRequest, cluster: string) => Response | Promise<Response>;
