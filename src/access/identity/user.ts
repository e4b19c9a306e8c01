/** Who sends a request. Source: upstream apiserver pkg/authentication/user. */
export interface User {
  readonly name: string;
  /** "" = none */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A user, and what the credential that names him is good for. */
export interface Caller {
  readonly user: User;
  /** names of the clusters that the credential reaches; undefined = every cluster, and what belongs to the server as a whole */
  readonly clusters: readonly string[] | undefined;
  /** names the credential in audit records, never its secret: "token:ID", "jwt:ISSUER", "serviceaccount", "anonymous", "none" */
  readonly credential: string;
  /** who sends the request, where he acts as `user` */
  readonly impersonator?: User;
}

/** Source of these names: upstream apiserver pkg/authentication/user, serviceaccount. */
export const MASTERS = "system:masters";
export const AUTHENTICATED = "system:authenticated";
export const UNAUTHENTICATED = "system:unauthenticated";
export const ANONYMOUS = "system:anonymous";
export const NODES = "system:nodes";
export const NODE_PREFIX = "system:node:";
/** Key of a user's extra: the node of the Pod that his token is bound to. Upstream: apiserver pkg/authentication/serviceaccount. */
export const NODE_NAME_EXTRA = "authentication.kubernetes.io/node-name";
export const SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:";
export const SERVICE_ACCOUNTS = "system:serviceaccounts";
export const SERVICE_ACCOUNTS_PREFIX = "system:serviceaccounts:";
/** Users of agents are this server's own: a machine without a kubelet has no `system:node` rights to share. */
export const AGENT_PREFIX = "servicenet:agent:";
export const AGENTS = "servicenet:agents";

/** Extra of a user whose credential has a name: `JTI=…`. Source: upstream apiserver pkg/authentication/user/user.go. */
export const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";

export const ANONYMOUS_CALLER: Caller = {
  user: { name: ANONYMOUS, uid: "", groups: [UNAUTHENTICATED], extra: {} },
  clusters: undefined,
  credential: "anonymous",
};

/** `system:serviceaccount:NAMESPACE:NAME`; undefined for any other name. Source: upstream apiserver pkg/authentication/serviceaccount/util.go, SplitUsername. */
export function serviceAccountOf(userName: string): { namespace: string; name: string } | undefined {
  if (!userName.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined;
  const [namespace = "", name = "", ...more] = userName.slice(SERVICE_ACCOUNT_PREFIX.length).split(":");
  return namespace === "" || name === "" || more.length > 0 ? undefined : { namespace, name };
}

export function serviceAccountUserName(namespace: string, name: string): string {
  return `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`;
}

/** Who may do everything, whatever the rules say. Source: upstream apiserver pkg/authorization/authorizerfactory, NewPrivilegedGroups. */
export function isMaster({ groups }: User): boolean {
  return groups.includes(MASTERS);
}
