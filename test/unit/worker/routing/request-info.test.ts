import { describe, expect, it } from "vitest";
import { requestTarget } from "../../../../src/worker/routing/request-info";
import type { ServedVersion } from "../../../../src/worker/routing/served";
import { AUTHORIZATION, CORE, NETWORKING } from "../fakes";

interface Row {
  ask: string;
  want: string;
  served?: ServedVersion;
  watch?: boolean;
}

/** `verb resource namespace/name/subresource`, or `code message`. */
function summary({ ask, served = CORE, watch = false }: Row): string {
  const [method = "", rest = ""] = ask.split(" ");
  const target = requestTarget("default", served, rest, method, watch);
  switch (target.kind) {
    case "refused":
      return `${target.status.code} ${target.status.message ?? ""}`;
    case "review":
      return `review ${target.review.resource} ${target.namespace}`;
    case "action":
      return `${target.action.name} of ${target.info.definition.resource} ${target.info.namespace}/${target.info.name}`;
    case "report":
      return `${target.info.verb} ${target.report} of ${target.info.definition.resource} ${target.info.namespace}/${target.info.name}`;
    case "connect":
      return `${target.info.verb} ${target.connect.name} of ${target.info.definition.resource} ${target.info.name} at ${JSON.stringify(target.path)}`;
    case "view":
      return `${target.info.verb} ${target.view} of ${target.info.definition.resource} ${target.info.namespace}/${target.info.name}`;
    case "resource": {
      const { verb, definition, namespace, name, subresource } = target.info;
      return `${verb} ${definition.resource} ${namespace}/${name}/${subresource}`;
    }
  }
}

const NO_RESOURCE = "404 the server could not find the requested resource";
const NO_METHOD = "405 the server does not allow this method on the requested resource";

describe("requestTarget", () => {
  const rows: Row[] = [
    { ask: "POST namespaces/x/machines/a/binding", want: "binding of machines x/a" },
    { ask: "POST namespaces/x/bindings", want: "binding of machines x/" },
    { ask: "POST bindings", want: NO_RESOURCE },
    { ask: "POST namespaces/x/bindings/a", want: NO_RESOURCE },
    { ask: "GET namespaces/x/bindings", want: NO_METHOD },
    { ask: "GET namespaces/x/machines/a/binding", want: NO_METHOD },
    { ask: "POST namespaces/x/services/a/binding", want: NO_RESOURCE },
    { ask: "POST namespaces/x/machines/a%2Fb/binding", want: `400 Name parameter invalid: "a/b": may not contain '/'` },
    { ask: "GET nodes/a/proxy-config", want: "get proxy-config of nodes /a" },
    { ask: "HEAD nodes/a/proxy-config/", watch: true, want: "get proxy-config of nodes /a" },
    { ask: "PUT nodes/a/proxy-config", want: NO_METHOD },
    { ask: "GET watch/nodes/a/proxy-config", want: NO_METHOD },
    { ask: "GET nodes/a%2Fb/proxy-config", want: `400 Name parameter invalid: "a/b": may not contain '/'` },
    { ask: "GET nodes/a/proxy-config/x", want: NO_RESOURCE },
    { ask: "PUT nodes/a/proxy-health", want: "update proxy-health of nodes /a" },
    { ask: "POST nodes/a/proxy-health", want: "create proxy-health of nodes /a" },
    { ask: "GET nodes/a/proxy-health", want: NO_METHOD },
    { ask: "PUT watch/nodes/a/proxy-health", want: NO_METHOD },
    { ask: "PUT pods/a/proxy-health", want: NO_RESOURCE },
    { ask: "GET nodes/a/proxy", want: 'get proxy of nodes a at ""' },
    { ask: "HEAD nodes/a:10256/proxy/", watch: true, want: 'get proxy of nodes a:10256 at "/"' },
    { ask: "OPTIONS nodes/http:a:10256/proxy/healthz", want: 'get proxy of nodes http:a:10256 at "/healthz"' },
    { ask: "PATCH nodes/a%3A10256/proxy/healthz/", want: 'patch proxy of nodes a:10256 at "/healthz/"' },
    { ask: "POST nodes/a/proxy//b//c", want: 'create proxy of nodes a at "/b//c"' },
    { ask: "PUT nodes/a/proxy/b", want: 'update proxy of nodes a at "/b"' },
    { ask: "DELETE nodes/a/proxy//", want: 'delete proxy of nodes a at "/"' },
    { ask: "TRACE nodes/a/proxy", want: NO_METHOD },
    { ask: "GET nodes//proxy", want: NO_RESOURCE },
    { ask: "GET nodes/a%2Fb/proxy", want: `400 Name parameter invalid: "a/b": may not contain '/'` },
    { ask: "GET watch/nodes/a/proxy", want: NO_RESOURCE },
    { ask: "GET namespaces/x/nodes/a/proxy", want: NO_RESOURCE },
    {
      ask: "GET namespaces/x/services/a/proxy",
      want: `${NO_RESOURCE}: services/proxy is not served; see kubectl api-resources and docs/compatibility.md for what is`,
    },
    { ask: "GET namespaces/x/nodes/a/proxy-config", want: NO_RESOURCE },
    { ask: "GET namespaces/x/services/a/proxy-config", want: NO_RESOURCE },
    { ask: "GET services", want: "list services //" },
    { ask: "HEAD services", want: "list services //" },
    { ask: "GET services/", want: "list services //" },
    { ask: "GET services", watch: true, want: "watch services //" },
    { ask: "GET namespaces/x/services", want: "list services x//" },
    { ask: "POST namespaces/x/services", want: "create services x//" },
    { ask: "DELETE namespaces/x/services", want: "deletecollection services x//" },
    { ask: "GET namespaces/x/services/a", want: "get services x/a/" },
    { ask: "GET namespaces/x/services/a", watch: true, want: "get services x/a/" },
    { ask: "PUT namespaces/x/services/a", want: "update services x/a/" },
    { ask: "PATCH namespaces/x/services/a", want: "patch services x/a/" },
    { ask: "DELETE namespaces/x/services/a", want: "delete services x/a/" },
    { ask: "GET namespaces/x/services/a/status", want: "get services x/a/status" },
    { ask: "PUT namespaces/x/services/a/status", want: "update services x/a/status" },
    { ask: "PATCH namespaces/x/services/a/status", want: "patch services x/a/status" },
    { ask: "DELETE namespaces/x/services/a/status", want: NO_METHOD },
    { ask: "POST namespaces/x/services/a/status", want: NO_METHOD },
    { ask: "GET namespaces/x/services/a/finalize", want: NO_RESOURCE },
    { ask: "GET namespaces", want: "list namespaces //" },
    { ask: "POST namespaces", want: "create namespaces //" },
    { ask: "DELETE namespaces", want: NO_METHOD },
    { ask: "GET namespaces/x", want: "get namespaces /x/" },
    { ask: "GET namespaces/x/", want: "get namespaces /x/" },
    { ask: "GET namespaces/x/status", want: "get namespaces /x/status" },
    { ask: "PUT namespaces/x/finalize", want: "update namespaces /x/finalize" },
    { ask: "GET namespaces/x/finalize", want: NO_METHOD },
    { ask: "PATCH namespaces/x/finalize", want: NO_METHOD },
    { ask: "GET nodes/n/status", want: "get nodes /n/status" },
    { ask: "GET namespaces/x/nodes", want: NO_RESOURCE },
    { ask: "GET services/a", want: NO_RESOURCE },
    { ask: "POST services", want: NO_METHOD },
    { ask: "DELETE services", want: NO_METHOD },
    { ask: "PUT services", want: NO_METHOD },
    { ask: "OPTIONS services", want: NO_METHOD },
    { ask: "GET pods", want: NO_RESOURCE },
    { ask: "GET namespaces/x/pods", want: NO_RESOURCE },
    { ask: "GET namespaces/x/services/a/status/more", want: NO_RESOURCE },
    { ask: "GET namespaces//services", want: "list services //" },
    { ask: "GET namespaces//services//", want: "list services //" },
    { ask: "GET namespaces//services", watch: true, want: "watch services //" },
    { ask: "GET watch/namespaces//services", want: "watch services //" },
    { ask: "POST namespaces//services", want: "create services //" },
    { ask: "DELETE namespaces//services", want: "deletecollection services //" },
    { ask: "GET namespaces//services/a", want: "400 Namespace parameter required." },
    { ask: "DELETE namespaces//services/a", want: "400 Namespace parameter required." },
    { ask: "GET namespaces//services/a/status", want: "400 Namespace parameter required." },
    { ask: "GET namespaces/x/services//status", want: "400 name must be provided" },
    { ask: "GET namespaces//status", want: "400 name must be provided" },
    { ask: "POST namespaces//bindings", want: "400 Namespace parameter required." },
    { ask: "POST namespaces//machines/a/binding", want: "400 Namespace parameter required." },
    { ask: "GET services//", want: "list services //" },
    { ask: "GET services///", want: "list services //" },
    { ask: "GET namespaces//", want: "list namespaces //" },
    { ask: "GET namespaces//nodes", want: NO_RESOURCE },
    { ask: "GET /services", want: NO_RESOURCE },
    { ask: "GET namespaces///services", want: NO_RESOURCE },
    { ask: "GET namespaces/x//services", want: NO_RESOURCE },
    { ask: "GET namespaces/x//a", want: NO_RESOURCE },
    { ask: "POST namespaces/x/statics", want: NO_METHOD },
    { ask: "GET statics", watch: true, want: '405 watch is not supported on resources of kind "statics"' },
    { ask: "GET watch/services", want: "watch services //" },
    { ask: "GET watch/namespaces/x/services", want: "watch services x//" },
    { ask: "GET watch/namespaces/x/services/a", want: "watch services x/a/" },
    { ask: "POST watch/services", want: NO_METHOD },
    { ask: "GET ipaddresses/2001%3Adb8%3A%3A1", served: NETWORKING, want: "get ipaddresses /2001:db8::1/" },
    { ask: "GET ipaddresses/2001%3adb8%3a%3a1", served: NETWORKING, want: "get ipaddresses /2001:db8::1/" },
    { ask: "GET ipaddresses/2001:db8::1", served: NETWORKING, want: "get ipaddresses /2001:db8::1/" },
    { ask: "GET namespaces/x", served: NETWORKING, want: NO_RESOURCE },
  ];
  it.each(rows)("$ask (watch: $watch): its verb, resource and name", (row) => {
    expect(summary(row)).toBe(row.want);
  });

  it.each<Row>([
    { ask: "GET namespaces/x/services/a%2Fb", want: "400 Name parameter invalid: \"a/b\": may not contain '/'" },
    { ask: "GET namespaces/x/services/a%2Fstatus", want: "400 Name parameter invalid: \"a/status\": may not contain '/'" },
    { ask: "GET namespaces/x%2Fservices%2Fa/services", want: "400 Namespace parameter invalid: \"x/services/a\": may not contain '/'" },
    { ask: "GET namespaces/x/services/a/stat%2Fus", want: NO_RESOURCE },
    { ask: "GET namespaces%2Fx%2Fservices", want: NO_RESOURCE },
    { ask: "GET namespaces/x/services%2Fa", want: NO_RESOURCE },
    { ask: "GET namespaces/x/services/100%25", want: "400 Name parameter invalid: \"100%\": may not contain '%'" },
    { ask: "GET namespaces/x/services/%2e%2e", want: "400 Name parameter invalid: \"..\": may not be '..'" },
    { ask: "GET namespaces/x/services/%zz", want: "400 the URL of the request contains an invalid percent-encoding" },
    { ask: "GET namespaces/x/services/%ff", want: "400 the URL of the request contains an invalid percent-encoding" },
  ])("$ask: the encoded segment reaches no other resource", (row) => {
    expect(summary(row)).toBe(row.want);
  });

  it.each<Row>([
    { ask: "POST selfsubjectaccessreviews", want: "review selfsubjectaccessreviews " },
    { ask: "GET selfsubjectaccessreviews", want: NO_METHOD },
    { ask: "GET selfsubjectaccessreviews/x", want: NO_RESOURCE },
    { ask: "POST localsubjectaccessreviews", want: NO_RESOURCE },
    { ask: "POST namespaces/x/localsubjectaccessreviews", want: "review localsubjectaccessreviews x" },
    { ask: "POST namespaces//localsubjectaccessreviews", want: "400 Namespace parameter required." },
    { ask: "POST namespaces/x/selfsubjectaccessreviews", want: NO_RESOURCE },
  ])("review $ask: served for POST on its own scope alone", (row) => {
    expect(summary({ ...row, served: AUTHORIZATION })).toBe(row.want);
  });
});
