/** `GET /`: the paths that are served. Source: upstream apiserver pkg/server/routes/index.go. */
import { JSON_TYPE } from "../../http/answer/respond";
import { LISTED_PATHS } from "../../routing/routes";
import type { ServedApis } from "../../routing/served";
import { openApiV3Paths } from "./openapi";

/** `health`: the paths of health and of its checks. */
export function rootPathsResponse(apis: ServedApis, health: readonly string[]): Response {
  const paths = new Set([...LISTED_PATHS, ...health]);
  for (const { group, version } of apis.versions) {
    const root = group === "" ? "/api" : `/apis/${group}`;
    for (const path of [root, `${root}/${version}`]) paths.add(path);
  }
  for (const path of openApiV3Paths(apis)) paths.add(`/openapi/v3/${path}`);
  return new Response(JSON.stringify({ paths: [...paths].sort() }, null, 2), { headers: { "Content-Type": JSON_TYPE } });
}
