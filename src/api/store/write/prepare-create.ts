/** From a new object to what would be stored. Order of checks: upstream apiserver registry/generic/registry/store.go (Create). */
import type { KubeObject } from "../../meta/kubernetes";
import { revisionProblem } from "../../meta/preconditions";
import { alreadyExists, type Status, unclassified } from "../../meta/status";
import type { ResourceDefinition } from "../../registry/resource";
import type { ObjectKey, WriteOptions } from "../../rpc/store";
import type { FieldWriter } from "../state/field-tracking";
import { storageKey } from "../state/keys";
import { contextOf, type PrepareFacts, type Prepared, refuse } from "./prepared";
import { beforeCreate, nameFor } from "./strategy-order";

const GENERATE_ATTEMPTS = 8;

interface CreateOrder {
  namespace: string;
  /** undefined = the body's name, or a generated one */
  urlName: string | undefined;
  options: WriteOptions;
  /** undefined = managedFields are settled */
  writer: FieldWriter | undefined;
}

export function prepareCreate(object: KubeObject, order: CreateOrder, facts: PrepareFacts): Prepared {
  const { definition, clock, random } = facts;
  const { namespace, urlName, options, writer } = order;
  const named = (urlName ?? object.metadata?.name ?? "") !== "";
  const name = urlName ?? freeName(object, namespace, facts);
  const input = {
    namespace,
    name,
    now: clock.now(),
    uid: random.uuid(),
    context: contextOf(options, facts),
    ...(writer ? { writer } : {}),
  };
  const verdict = beforeCreate(definition, object, input);
  if (!verdict.ok) return refuse(verdict.error);
  const key = storageKey({ namespace: definition.namespaced ? namespace : "", name });
  const existing = facts.exists(key);
  if (existing) {
    const deleting = (JSON.parse(existing.data) as KubeObject).metadata?.deletionTimestamp !== undefined;
    return refuse(named ? alreadyExists(definition, name, deleting) : noUniqueName(definition, name));
  }
  return { kind: "put", key, after: object, before: undefined, code: 201, dryRun: options.dryRun, warnings: verdict.value };
}

/** A write to the URL of a missing object: it creates the object. */
export function prepareNamedCreate(
  object: KubeObject,
  { key, options, writer }: { key: ObjectKey; options: WriteOptions; writer: FieldWriter | undefined },
  facts: PrepareFacts,
): Prepared {
  const problem = revisionProblem(object.metadata?.resourceVersion ?? "");
  if (problem !== undefined) return refuse(unclassified(problem));
  delete object.metadata?.resourceVersion;
  return prepareCreate(object, { namespace: key.namespace, urlName: key.name, options, writer }, facts);
}

/** The given or a generated name; a generated one is drawn again while it is taken (upstream: up to 8 times). */
function freeName(object: KubeObject, namespace: string, facts: PrepareFacts): string {
  const { definition, random } = facts;
  for (let attempt = 1; ; attempt++) {
    const name = nameFor(definition, object, random);
    if (object.metadata?.name || name === "" || attempt === GENERATE_ATTEMPTS) return name;
    const key = storageKey({ namespace: definition.namespaced ? namespace : "", name });
    if (!facts.exists(key) && !facts.reserved(key)) return name;
  }
}

function noUniqueName(definition: ResourceDefinition, name: string): Status {
  const status = alreadyExists(definition, name);
  return {
    ...status,
    message: `${status.message ?? ""}, the server was not able to generate a unique name for the object`,
    details: { ...status.details, retryAfterSeconds: 1 },
  };
}
