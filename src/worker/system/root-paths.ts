/** `GET /`: the paths that are served. Source: upstream apiserver pkg/server/routes/index.go. */
import { JSON_TYPE } from "../http/respond";
import type { ServedApis } from "../routing/served";

const OWN = ["/api", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/ranges", "/readyz", "/version"];

export function rootPathsResponse(apis: ServedApis): Response {
  const paths = new Set(OWN);
  for (const { group, version } of apis.versions) {
    const root = group === "" ? "/api" : `/apis/${group}`;
    for (const path of [root, `${root}/${version}`, `/openapi/v3${root}/${version}`]) paths.add(path);
  }
  return new Response(JSON.stringify({ paths: [...paths].sort() }, null, 2), { headers: { "Content-Type": JSON_TYPE } });
}
