/** GET /version. The server behaves as this Kubernetes release; the suffix counts releases of this project. */
import { jsonResponse } from "../respond";

export const GIT_VERSION = "v1.36.2-servicenet.1";

const VERSION = JSON.stringify({
  major: "1",
  minor: "36",
  gitVersion: GIT_VERSION,
  gitCommit: "",
  gitTreeState: "",
  buildDate: "",
  goVersion: "",
  compiler: "workerd",
  platform: "cloudflare/workers",
});

export function versionResponse(): Response {
  return jsonResponse(200, VERSION, "pretty");
}
