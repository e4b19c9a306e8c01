/**
 * Acting as another user: the headers `Impersonate-*`, and the rights that they need. Source: upstream apiserver pkg/endpoints/filters/impersonation.
 *
 * Kubernetes 1.36 asks for constrained rights first: `impersonate-on:MODE:VERB` on what the request is for, and `impersonate:MODE` on who is acted
 * as, in the group authentication.k8s.io. Then it asks for the older verb `impersonate`. The client gets the first refusal.
 */
import { assert } from "../../core/base/assert";
import { err, ok, type Result } from "../../core/base/result";
import { validateDNS1123Subdomain } from "../../api/meta/names";
import { badRequest, type Status } from "../../api/meta/status";
import {
  ANONYMOUS,
  AUTHENTICATED,
  MASTERS,
  NODE_NAME_EXTRA,
  NODE_PREFIX,
  NODES,
  type Caller,
  SERVICE_ACCOUNTS,
  SERVICE_ACCOUNTS_PREFIX,
  serviceAccountOf,
  UNAUTHENTICATED,
  type User,
} from "../identity/user";
import { type Attributes, type Decision, type ResourceAttributes, resourceAttributes } from "./attributes";
import { notAllowed } from "./refusals";

const USER_HEADER = "Impersonate-User";
const GROUP_HEADER = "Impersonate-Group";
const UID_HEADER = "Impersonate-Uid";
const EXTRA_PREFIX = "impersonate-extra-";
const AUTHENTICATION_GROUP = "authentication.k8s.io";

/** Of a platform's Headers: names in lower case. */
export interface HeaderFields {
  get(name: string): string | null;
  entries(): Iterable<[name: string, value: string]>;
}

/** Who is to be acted as; undefined = the request is the caller's own. */
export function impersonated(headers: HeaderFields): Result<User | undefined, Status> {
  const name = headers.get(USER_HEADER) ?? "";
  const groups = listOf(headers.get(GROUP_HEADER));
  const uid = headers.get(UID_HEADER) ?? "";
  const extra = extraOf(headers);
  if (name === "") {
    if (groups.length === 0 && uid === "" && Object.keys(extra).length === 0) return ok(undefined);
    return err(
      badRequest(
        `requested ${JSON.stringify([...groups, uid, ...Object.keys(extra)].filter((part) => part !== ""))} without impersonating a user name`,
      ),
    );
  }
  return ok({ name, uid, groups, extra });
}

/** Headers of one name are joined by commas on their way; no group has a comma. */
function listOf(header: string | null): string[] {
  return valuesOf(header ?? "").filter((part) => part !== "");
}

/** An empty header is a value, too: whoever sends one asks for it. */
function valuesOf(header: string): string[] {
  return header.split(",").map((part) => part.trim());
}

function extraOf(headers: HeaderFields): Record<string, string[]> {
  const extra: Record<string, string[]> = {};
  for (const [header, value] of headers.entries()) {
    if (!header.startsWith(EXTRA_PREFIX)) continue;
    const key = header.slice(EXTRA_PREFIX.length);
    extra[unescaped(key)] = valuesOf(value);
  }
  return extra;
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/**
 * The caller as the other user, or 403.
 *
 * @param target what the request asks for
 * @param authorize whether the caller himself may do something
 */
export function actAs(
  caller: Caller,
  wanted: User,
  target: Attributes,
  authorize: (attributes: Attributes) => Decision,
): Result<Caller, Status> {
  const modes: Mode[] = [...constrainedModes(caller.user, wanted), LEGACY];
  let first: Status | undefined;
  for (const mode of modes) {
    const refused = firstRefused(caller.user, rightsOf(wanted, target, mode), authorize);
    if (!refused) return ok(acting(caller, isOfNode(mode) ? { ...wanted, groups: [NODES] } : wanted));
    first ??= refused;
  }
  assert(first, "a mode that refuses says why");
  return err(first);
}

function acting(caller: Caller, wanted: User): Caller {
  return { ...caller, user: withImpliedGroups(wanted), impersonator: caller.user };
}

function firstRefused(user: User, asked: readonly Attributes[], authorize: (attributes: Attributes) => Decision): Status | undefined {
  for (const attributes of asked) {
    const { decision, reason } = authorize(attributes);
    if (decision !== "allow") return notAllowed(user, attributes, reason);
  }
  return undefined;
}

type ConstrainedMode = "associated-node" | "arbitrary-node" | "serviceaccount" | "user-info";
const LEGACY = "legacy";
type Mode = ConstrainedMode | typeof LEGACY;

function isOfNode(mode: Mode): boolean {
  return mode === "associated-node" || mode === "arbitrary-node";
}

/**
 * In the order in which they are tried. A service account or a node has no more than its name, and nobody becomes an administrator by constrained rights.
 * Source: impersonation/mode.go.
 */
function constrainedModes(caller: User, { name, uid, groups, extra }: User): ConstrainedMode[] {
  const isBare = groups.length === 0 && uid === "" && Object.keys(extra).length === 0;
  const node = nodeIn(name);
  if (node !== undefined) return isBare ? (isOnNode(caller, node) ? ["associated-node", "arbitrary-node"] : ["arbitrary-node"]) : [];
  if (serviceAccountOf(name)) return isBare ? ["serviceaccount"] : [];
  return groups.includes(MASTERS) ? [] : ["user-info"];
}

/** The node that a user name stands for. */
function nodeIn(userName: string): string | undefined {
  if (!userName.startsWith(NODE_PREFIX)) return undefined;
  const name = userName.slice(NODE_PREFIX.length);
  return validateDNS1123Subdomain(name).length === 0 ? name : undefined;
}

/** Whether the caller is a service account whose token is bound to the node. */
function isOnNode({ name, extra }: User, node: string): boolean {
  const nodes = extra[NODE_NAME_EXTRA] ?? [];
  return serviceAccountOf(name) !== undefined && nodes.length === 1 && nodes[0] === node;
}

/** All rights that the mode needs. */
function rightsOf({ name, uid, groups, extra }: User, target: Attributes, mode: Mode): Attributes[] {
  const isLegacy = mode === LEGACY;
  const verb = isLegacy ? "impersonate" : `impersonate:${mode}`;
  const right = (group: string, asked: Partial<ResourceAttributes> & { resource: string }): Attributes =>
    resourceAttributes({ verb, group, ...asked });
  const named = isLegacy ? "" : AUTHENTICATION_GROUP;
  const account = serviceAccountOf(name);
  const who = account
    ? right(named, { resource: "serviceaccounts", ...account })
    : isOfNode(mode)
      ? right(named, { resource: "nodes", name: mode === "associated-node" ? "*" : (nodeIn(name) ?? "") })
      : right(named, { resource: "users", name });
  return [
    ...(isLegacy ? [] : [{ ...target, verb: `impersonate-on:${mode}:${target.verb}` }]),
    who,
    ...groups.map((group) => right(named, { resource: "groups", name: group })),
    ...(uid === "" ? [] : [right(AUTHENTICATION_GROUP, { resource: "uids", name: uid })]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => right(AUTHENTICATION_GROUP, { resource: "userextras", subresource: key, name: value })),
    ),
  ];
}

/** Groups that go without saying. Source: impersonation.go. */
function withImpliedGroups(user: User): User {
  const { name, groups } = user;
  const account = serviceAccountOf(name);
  const own = account && groups.length === 0 ? [SERVICE_ACCOUNTS, `${SERVICE_ACCOUNTS_PREFIX}${account.namespace}`] : groups;
  return { ...user, groups: [...new Set([...own, name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED])] };
}
