/**
 * What a request asks for, as upstream's metrics of requests name it.
 * Upstream: apiserver endpoints/metrics/metrics.go (cleanVerb, CleanScope, cleanDryRun).
 */
import type { Verb } from "../../../api/registry/resource";
import { patchTypeOf } from "../read/content-type";

export interface CountedRequest {
  verb: Verb | "connect";
  group: string;
  version: string;
  resource: string;
  /** "" = the object or collection itself */
  subresource: string;
  namespace: string;
  name: string;
  headers: Headers;
}

/** The labels that all metrics of requests have. */
export interface RequestLabels {
  verb: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  scope: string;
  component: "apiserver";
}

const METHODS: Readonly<Record<Verb | "connect", string>> = {
  create: "POST",
  get: "GET",
  list: "LIST",
  watch: "WATCH",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
  connect: "CONNECT",
};

export function labelsOf({ verb, group, version, resource, subresource, namespace, name, headers }: CountedRequest): RequestLabels {
  const isApply = verb === "patch" && patchTypeOf(headers.get("Content-Type")) === "apply";
  return {
    verb: isApply ? "APPLY" : METHODS[verb],
    group,
    version,
    resource,
    subresource,
    scope: name !== "" || verb === "create" ? "resource" : namespace !== "" ? "namespace" : "cluster",
    component: "apiserver",
  };
}

/** "" = not given, "All", or "invalid". */
export function dryRunLabel(query: URLSearchParams): string {
  const values = query.getAll("dryRun").filter((value) => value !== "");
  if (values.length === 0) return "";
  return values.every((value) => value === "All") ? "All" : "invalid";
}
