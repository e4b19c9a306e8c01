/** POST of a TokenRequest: a token of a ServiceAccount. Upstream: pkg/registry/core/serviceaccount/storage/token.go, which signs for a dry run, too. */
import { err, ok, type Result } from "../../core/base/result";
import type { KubeObject, Pod, TokenRequest } from "../../api/meta/kubernetes";
import { badRequest, conflict, forbidden, invalid, type Status } from "../../api/meta/status";
import { rfc3339Seconds } from "../../api/meta/time";
import { apiVersionOf } from "../../api/meta/type-meta";
import type { ActionDefinition } from "../../api/registry/resource";
import { resourceAttributes } from "../../access/authorization/attributes";
import { serviceAccountClaims, type BoundObject } from "../../access/authentication/service-account-token";
import type { ClaimedObject } from "../../access/authentication/service-account-claims";
import { otherBoundUid, otherPodAccount, tokenRequestNameErrors, tokenSpec } from "../../access/authentication/token-request";
import { agentNodeOf, nodeOf, unknownNode } from "../../access/nodes/node-identity";
import { AUDIENCE_VERB, podTokenProblem, runsAs, unboundTokenProblem } from "../../access/nodes/node-tokens";
import { signingKeys, storeStub } from "../../../durable-objects/peers/peers";
import type { NamedResource } from "../access/service-accounts";
import { namespaceMismatch } from "../http/read/body-names";
import { readObject } from "../http/read/read-object";
import { shownResponse } from "../http/answer/respond";
import { parseWriteOptions } from "../http/read/write-options";
import { call } from "../routing/call";
import { bootstrapProblem, refuse, type ResourceRequest } from "./resource-request";

type BoundReference = NonNullable<TokenRequest["spec"]["boundObjectRef"]>;

export async function requestToken(request: ResourceRequest, action: ActionDefinition): Promise<Response> {
  const { definition, version } = request.info;
  const { query, userAgent } = request;
  const options = parseWriteOptions("CreateOptions", query, { userAgent, group: definition.group, version });
  if (!options.ok) return refuse(request, options.error);
  const body = await readObject(request, action, options.value.fieldValidation);
  if (!body.ok) return refuse(request, body.error);
  const { object, warnings } = body.value;
  const made = await make(request, action, object as TokenRequest);
  if (!made.ok) return refuse(request, made.error, warnings);
  const shown = {
    typeMeta: { kind: action.kind, apiVersion: apiVersionOf(action.group, action.version) },
    schema: action.schema,
    text: JSON.stringify(made.value.answer),
  };
  return shownResponse(201, shown, request.rendering, [...warnings, ...made.value.warnings]);
}

interface MadeToken {
  answer: TokenRequest;
  warnings: string[];
}

async function make(request: ResourceRequest, action: ActionDefinition, document: TokenRequest): Promise<Result<MadeToken, Status>> {
  const { namespace, name } = request.info;
  const named = { ...action, resource: "" };
  const mismatch = namespaceMismatch(document, namespace);
  if (mismatch) return err(mismatch);
  const restricted = await nodeRestriction(request, document);
  if (restricted) return err(restricted);
  const nameErrors = tokenRequestNameErrors(document.metadata ?? {}, { name, namespace });
  if (nameErrors.length > 0) return err(invalid(named, name, nameErrors));
  const problem = await bootstrapProblem(request);
  if (problem) return err(problem);
  const account = await read(request, { resource: "serviceaccounts", namespace, name });
  if (!account.ok) return account;
  const { audiences, expirationSeconds, boundObjectRef } = (document as Partial<TokenRequest>).spec ?? {};
  // A number that is no float64 is out of bounds in any case.
  const spec = tokenSpec({
    audiences: audiences ?? [],
    expirationSeconds: expirationSeconds === undefined ? null : Number(expirationSeconds),
  });
  if (!spec.ok) return err(invalid(named, "", spec.error));
  const bound = boundObjectRef ? await boundTo(request, boundObjectRef) : ok(undefined);
  if (!bound.ok) return bound;
  const nowMs = Date.now();
  const { warning, ...asked } = spec.value;
  const claims = serviceAccountClaims(
    {
      namespace,
      serviceAccount: claimed(account.value),
      ...(bound.value ? { bound: bound.value } : {}),
      audiences: asked.audiences,
      seconds: asked.expirationSeconds,
      id: crypto.randomUUID(),
    },
    nowMs,
  );
  const { env, info, timeoutMs } = request;
  const signed = await call(() => signingKeys(env, info.cluster).signServiceAccountToken(claims), {
    what: "credentials.signServiceAccountToken",
    repeatable: true,
    timeoutMs,
  });
  if (!signed.ok) return signed;
  const answer = {
    metadata: { ...document.metadata, name, namespace, uid: account.value.metadata?.uid ?? "", creationTimestamp: rfc3339Seconds(nowMs) },
    spec: { ...document.spec, audiences: [...asked.audiences], expirationSeconds: asked.expirationSeconds },
    status: { token: signed.value, expirationTimestamp: rfc3339Seconds(claims.exp * 1_000) },
  };
  return ok({ answer, warnings: warning === undefined ? [] : [warning] });
}

/** Why a node or an agent gets no such token; asked before anything tells which accounts there are. A Pod of another node or account is treated as missing. */
async function nodeRestriction(request: ResourceRequest, document: TokenRequest): Promise<Status | undefined> {
  const { access, info } = request;
  const { definition, namespace, name } = info;
  const { user } = access.caller;
  const node = nodeOf(user) ?? agentNodeOf(user);
  if (node === undefined) return undefined;
  if (node === "") return forbidden(definition, name, unknownNode(user.name));
  const { spec = {} } = document as { spec?: Partial<TokenRequest["spec"]> };
  const unbound = unboundTokenProblem(spec);
  if (unbound !== undefined) return forbidden(definition, name, unbound);
  const found = await read(request, { resource: "pods", namespace, name: spec.boundObjectRef?.name ?? "" });
  if (!found.ok && found.error.code !== NOT_FOUND) return found.error;
  const pod = found.ok ? (found.value as Pod) : undefined;
  const unrelated = access.hides?.(pod && runsAs(pod, name) ? pod : undefined);
  if (unrelated) return unrelated;
  if (!found.ok) return found.error;
  const mayAsk = (audience: string): boolean =>
    access.judge(user, resourceAttributes({ verb: AUDIENCE_VERB, resource: audience, namespace, name })).decision === "allow";
  const uid = spec.boundObjectRef?.uid ?? "";
  const isOther = uid !== found.value.metadata?.uid;
  const problem = isOther ? otherBoundUid(uid) : podTokenProblem({ node, user: user.name }, spec, found.value as Pod, mayAsk);
  return problem === undefined ? undefined : forbidden(definition, name, problem);
}

const NOT_FOUND = 404;

/** The object that the token is to live and die with. */
async function boundTo(request: ResourceRequest, reference: BoundReference): Promise<Result<BoundObject, Status>> {
  const { apiVersion = "", kind = "", name = "", uid = "" } = reference;
  const { namespace, name: account } = request.info;
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  if (group !== "" || !isBoundKind(kind)) return err(badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`));
  const found = await read(request, { resource: BOUND[kind], namespace: kind === "Node" ? "" : namespace, name });
  if (!found.ok) return found;
  const { spec } = found.value as Pod;
  if (kind === "Pod" && spec?.serviceAccountName !== account) return err(badRequest(otherPodAccount(account)));
  const object = claimed(found.value);
  if (uid !== "" && uid !== object.uid) return err(conflict({ group: "", resource: kind, kind }, name, otherBoundUid(uid)));
  if (kind === "Secret") return ok({ kind, secret: object });
  if (kind === "Node") return ok({ kind, node: object });
  const node = spec?.nodeName ? await read(request, { resource: "nodes", namespace: "", name: spec.nodeName }) : undefined;
  // A node that is not there is not named.
  return ok({ kind, pod: object, ...(node?.ok ? { node: claimed(node.value) } : {}) });
}

const BOUND = { Pod: "pods", Node: "nodes", Secret: "secrets" } as const;

function isBoundKind(kind: string): kind is keyof typeof BOUND {
  return Object.hasOwn(BOUND, kind);
}

function claimed({ metadata }: KubeObject): ClaimedObject {
  return { name: metadata?.name ?? "", uid: metadata?.uid ?? "" };
}

/** An object of the core group, or the Status that says why there is none. */
async function read(request: ResourceRequest, { resource, namespace, name }: NamedResource): Promise<Result<KubeObject, Status>> {
  const { env, info, timeoutMs } = request;
  const answer = await call(() => storeStub(env, info.cluster, { group: "", resource }).get({ namespace, name }, ""), {
    what: `${resource}.get`,
    repeatable: true,
    timeoutMs,
  });
  if (!answer.ok) return answer;
  return answer.value.ok ? ok(JSON.parse(answer.value.object) as KubeObject) : err(answer.value.status);
}
