/** GET /version */
import { GIT_VERSION } from "../../../core/config/version";
import { jsonResponse } from "../../http/answer/respond";

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
