/**
 * Acting as another user: the headers `Impersonate-*`, and the rights that they need. Source: upstream apiserver pkg/endpoints/filters/impersonation.
 *
 * Kubernetes 1.36 asks for constrained rights first: `impersonate-on:MODE:VERB` on what the request is for, and `impersonate:MODE` on who is acted as, in
 * the group authentication.k8s.io. Then it asks for the older verb `impersonate`. The first refusal is the one that is told.
 */
import { err, ok, type Result } from "../../core/base/result";
import { badRequest, type Status } from "../../api/meta/status";
import {
  ANONYMOUS,
  AUTHENTICATED,
  MASTERS,
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
  return (header ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function extraOf(headers: HeaderFields): Record<string, string[]> {
  const extra: Record<string, string[]> = {};
  for (const [header, value] of headers.entries()) {
    if (!header.startsWith(EXTRA_PREFIX)) continue;
    const key = header.slice(EXTRA_PREFIX.length);
    extra[unescaped(key)] = listOf(value);
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

/** A right on a user, a group, a uid or an extra that is acted as. */
interface Part {
  readonly legacy: ResourceAttributes;
  readonly constrained: ResourceAttributes;
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
  const mode = modeOf(wanted);
  const parts = partsOf(wanted, mode);
  const on: Attributes = { ...target, verb: `impersonate-on:${mode}:${target.verb}` };
  const asked = isConstrainable(wanted, mode) ? [on, ...parts.map(({ constrained }) => constrained)] : [];
  const constrained = firstRefused(caller.user, asked, authorize);
  if (asked.length > 0 && !constrained) return ok(acting(caller, mode === "arbitrary-node" ? { ...wanted, groups: [NODES] } : wanted));
  const legacy = firstRefused(
    caller.user,
    parts.map((part) => part.legacy),
    authorize,
  );
  return legacy ? err(constrained ?? legacy) : ok(acting(caller, wanted));
}

function acting(caller: Caller, wanted: User): Caller {
  return { ...caller, user: withImpliedGroups(wanted), impersonator: caller.user };
}

/** Nobody becomes an administrator by constrained rights, and a service account or a node has no more than its name. Source: impersonation/mode.go. */
function isConstrainable({ uid, groups, extra }: User, mode: Mode): boolean {
  if (groups.includes(MASTERS)) return false;
  return mode === "user-info" || (groups.length === 0 && uid === "" && Object.keys(extra).length === 0);
}

function firstRefused(user: User, asked: readonly Attributes[], authorize: (attributes: Attributes) => Decision): Status | undefined {
  for (const attributes of asked) {
    const { decision, reason } = authorize(attributes);
    if (decision !== "allow") return notAllowed(user, attributes, reason);
  }
  return undefined;
}

type Mode = "serviceaccount" | "arbitrary-node" | "user-info";

function modeOf({ name }: User): Mode {
  if (serviceAccountOf(name)) return "serviceaccount";
  return name.startsWith(NODE_PREFIX) ? "arbitrary-node" : "user-info";
}

function partsOf({ name, uid, groups, extra }: User, mode: Mode): Part[] {
  const part = (
    legacy: Partial<ResourceAttributes> & { resource: string },
    constrained: Partial<ResourceAttributes> & { resource: string },
  ): Part => ({
    legacy: resourceAttributes({ verb: "impersonate", ...legacy }),
    constrained: resourceAttributes({ verb: `impersonate:${mode}`, group: AUTHENTICATION_GROUP, ...constrained }),
  });
  const inGroup = (resource: string, more: Partial<ResourceAttributes>): Part =>
    part({ group: AUTHENTICATION_GROUP, resource, ...more }, { resource, ...more });
  const account = serviceAccountOf(name);
  const who = account
    ? part({ resource: "serviceaccounts", ...account }, { resource: "serviceaccounts", ...account })
    : mode === "arbitrary-node"
      ? part({ resource: "users", name }, { resource: "nodes", name: "*" })
      : part({ resource: "users", name }, { resource: "users", name });
  return [
    who,
    ...groups.map((group) => part({ resource: "groups", name: group }, { resource: "groups", name: group })),
    ...(uid === "" ? [] : [inGroup("uids", { name: uid })]),
    ...Object.entries(extra).flatMap(([key, values]) => values.map((value) => inGroup("userextras", { subresource: key, name: value }))),
  ];
}

/** Groups that go without saying. Source: impersonation.go. */
function withImpliedGroups(user: User): User {
  const { name, groups } = user;
  const account = serviceAccountOf(name);
  const own = account && groups.length === 0 ? [SERVICE_ACCOUNTS, `${SERVICE_ACCOUNTS_PREFIX}${account.namespace}`] : groups;
  return { ...user, groups: [...new Set([...own, name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED])] };
}
