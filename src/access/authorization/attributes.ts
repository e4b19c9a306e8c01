/** What a request asks for, as authorizers see it. Source: upstream apiserver pkg/authorization/authorizer. */
export interface ResourceAttributes {
  readonly kind: "resource";
  /** get, list, watch, create, update, patch, delete, deletecollection; of reviews and special rights any other word */
  readonly verb: string;
  /** "" for core */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** "" = none */
  readonly subresource: string;
  /** "" = none, or all of them */
  readonly namespace: string;
  /** "" = none */
  readonly name: string;
  /** raw selectors of a list, a watch or a deletion of a collection; absent = none */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

export interface PathAttributes {
  readonly kind: "path";
  /** the method in lower case: `head` is not `get` */
  readonly verb: string;
  /** inside the cluster, decoded as upstream's URL.Path */
  readonly path: string;
}

export type Attributes = ResourceAttributes | PathAttributes;

/** `reason` is "" where an authorizer says nothing. A denial ends the question; without an opinion the next authorizer is asked. */
export interface Decision {
  readonly decision: "allow" | "deny" | "noOpinion";
  readonly reason: string;
}

export const NO_OPINION: Decision = { decision: "noOpinion", reason: "" };

/** The attributes of a question for a verb on a resource. An empty selector is none. */
export function resourceAttributes({
  fieldSelector = "",
  labelSelector = "",
  ...asked
}: Partial<ResourceAttributes> & Pick<ResourceAttributes, "verb" | "resource">): ResourceAttributes {
  return {
    ...{ kind: "resource", group: "", version: "v1", subresource: "", namespace: "", name: "" },
    ...asked,
    ...(fieldSelector !== "" && { fieldSelector }),
    ...(labelSelector !== "" && { labelSelector }),
  };
}
