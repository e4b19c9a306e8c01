/**
 * Tokens of service accounts that a node may ask for: bound to a Pod of its own, and for an audience that the Pod names.
 * Source: upstream plugin/pkg/admission/noderestriction, admitServiceAccount, whose texts these are. Upstream also looks at the audiences of CSI drivers,
 * which are not served here.
 */
import type { Pod, TokenRequest } from "../../api/meta/kubernetes";
import { isMirrorPod } from "./node-pods";

export const AUDIENCE_VERB = "request-serviceaccounts-token-audience";

type TokenRequestSpec = Partial<TokenRequest["spec"]>;

/** Why no node may have the token, whatever Pod it names; undefined = its Pod decides. */
export function unboundTokenProblem({ boundObjectRef: to }: TokenRequestSpec): string | undefined {
  if (to?.apiVersion !== "v1" || to.kind !== "Pod" || !to.name) return "node requested token not bound to a pod";
  return to.uid ? undefined : "node requested token with a pod binding without a uid";
}

/** Why the node must not have a token that is bound to this Pod. `mayAsk`: whether rules allow it an audience that the Pod does not name. */
export function podTokenProblem(
  { node, user }: { node: string; user: string },
  { audiences = [] }: TokenRequestSpec,
  pod: Pod,
  mayAsk: (audience: string) => boolean,
): string | undefined {
  if (pod.spec?.nodeName !== node) return "node requested token bound to a pod scheduled on a different node";
  if (audiences.length > 1) return "node may only request 0 or 1 audiences";
  const audience = audiences[0] ?? "";
  if (namesAudience(pod, audience) || mayAsk(audience)) return undefined;
  return `audience ${JSON.stringify(audience)} not found in pod spec volume, ${user} is not authorized to request tokens for this audience`;
}

/** Whether the Pod is one of the account. A mirror Pod, which its node makes, relates it to nothing. Source: upstream plugin/pkg/auth/authorizer/node/graph.go. */
export function runsAs(pod: Pod, account: string): boolean {
  return pod.spec?.serviceAccountName === account && !isMirrorPod(pod);
}

/** A token for this API has the audience "". */
function namesAudience({ spec }: Pod, audience: string): boolean {
  const sources = (spec?.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  return sources.some(({ serviceAccountToken: token }) => token && (token.audience ?? "") === audience);
}
