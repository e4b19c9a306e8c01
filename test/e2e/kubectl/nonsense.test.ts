import { describe, expect, it } from "vitest";
import { kubectlInCluster } from "../../support/clients/kubectl";
import { lease, service } from "./objects";

const kubectl = kubectlInCluster();
const { refused } = kubectl;

const invalidName = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'";

describe("kubectl: names and namespaces that are not there", () => {
  it.each([
    { line: "get service missing", err: 'Error from server (NotFound): services "missing" not found' },
    { line: "get service kubernetes -n nowhere", err: 'Error from server (NotFound): namespaces "nowhere" not found' },
    { line: "describe servicecidr missing", err: 'Error from server (NotFound): servicecidrs.networking.k8s.io "missing" not found' },
    { line: "delete node missing", err: 'Error from server (NotFound): nodes "missing" not found' },
    { line: "patch service missing -p {}", err: 'Error from server (NotFound): services "missing" not found' },
    { line: "label pod missing a=b", err: 'Error from server (NotFound): pods "missing" not found' },
    { line: "annotate namespace missing a=b", err: 'Error from server (NotFound): namespaces "missing" not found' },
    { line: "get nosuch", err: `error: the server doesn't have a resource type "nosuch"` },
    { line: "get service,nosuch", err: `error: the server doesn't have a resource type "nosuch"` },
    {
      line: "create service clusterip a --tcp=80 -n nowhere",
      err: 'error: failed to create ClusterIP service: namespaces "nowhere" not found',
    },
  ])("$line: refused with the reason", ({ line, err }) => {
    expect(refused(line)).toBe(err);
  });
});

describe("kubectl: files that make no sense", () => {
  const file = (content: unknown) => kubectl.file("nonsense.yaml", content);
  it.each<{ what: string; content: unknown; err: RegExp }>([
    {
      what: "no YAML",
      content: "a: [1\nb: {",
      err: /^error: error parsing \S+: error converting YAML to JSON: yaml: line \d+: did not find expected/,
    },
    { what: "an empty file", content: "", err: /^error: no objects passed to create$/ },
    {
      what: "no kind",
      content: "apiVersion: v1\nmetadata: {name: a}\n",
      err: /^error: error validating "\S+": error validating data: kind not set; /,
    },
    {
      what: "no apiVersion",
      content: "kind: Service\nmetadata: {name: a}\n",
      err: /^error: error validating "\S+": error validating data: apiVersion not set; /,
    },
    {
      // kubectl looks among the custom resource definitions for a kind that OpenAPI does not have
      what: "an unknown kind",
      content: { apiVersion: "v1", kind: "Sirvice", metadata: { name: "a" } },
      err: /no matches for kind "Sirvice" in version "v1"\nensure CRDs are installed first$/,
    },
    {
      what: "an unknown version",
      content: { ...service("a"), apiVersion: "v9" },
      err: /no matches for kind "Service" in version "v9"\nensure CRDs are installed first$/,
    },
    {
      what: "an object where a list belongs",
      content: service("a", { ports: { port: 80 } }),
      err: /^Error from server \(BadRequest\): error when creating "\S+": Service in version "v1" cannot be handled as a Service: json: cannot unmarshal object into Go struct field ServiceSpec\.spec\.ports of type \[\]v1\.ServicePort$/,
    },
    {
      what: "a number where text belongs, as YAML reads it",
      content: "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {selector: {app: y}, ports: [{port: 80}]}\n",
      err: /json: cannot unmarshal bool into Go struct field ServiceSpec\.spec\.selector of type string$/,
    },
    {
      what: "a namespace that is not there",
      content: service("a", undefined, { namespace: "nowhere" }),
      err: /^Error from server \(NotFound\): error when creating "\S+": namespaces "nowhere" not found$/,
    },
    {
      what: "a bad name",
      content: service("Bad_Name"),
      err: /^The Service "Bad_Name" is invalid: metadata\.name: Invalid value: "Bad_Name": a (DNS-1035|lowercase RFC 1123) label must consist of lower case alphanumeric characters or '-'/,
    },
    {
      what: "no name",
      content: { ...lease("a"), metadata: {} },
      err: /^The Lease "" is invalid: metadata\.name: Required value: name or generateName is required$/,
    },
  ])("create -f of $what: refused with the reason", ({ content, err }) => {
    expect(refused(`create -f ${file(content)}`)).toMatch(err);
  });

  it("several mistakes of an object: all reported at once", () => {
    const spec = { type: "Foo", sessionAffinity: "Bar", ports: [{ port: 0 }, { port: 70000, protocol: "X" }] };
    expect(refused(`create -f ${file(service("invalid", spec))}`).split("\n")).toEqual([
      'The Service "invalid" is invalid: ',
      "* spec.ports[0].name: Required value",
      "* spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
      "* spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
      "* spec.ports[1].name: Required value",
      "* spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
      '* spec.ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      "* spec.ports[1].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
      '* spec.sessionAffinity: Unsupported value: "Bar": supported values: "ClientIP", "None"',
      '* spec.type: Unsupported value: "Foo": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ]);
  });

  it("-n that differs from the file: refused by kubectl", () => {
    expect(refused(`-n default create -f ${file(service("a", undefined, { namespace: "other" }))}`)).toBe(
      `error: the namespace from the provided object "other" does not match the namespace "default". You must pass '--namespace=other' to perform this operation.`,
    );
  });
});

describe("kubectl: selectors, options and patches that make no sense", () => {
  const notFoundBy = (label: string, field: string, why: string) =>
    `Error from server (BadRequest): Unable to find "/v1, Resource=services" that match label selector "${label}", field selector "${field}": ${why}`;
  it.each([
    { line: "get svc -l 'a in'", err: notFoundBy("a in", "", "unable to parse requirement: found '' expected: '('") },
    {
      line: "get svc -l 'a b'",
      err: notFoundBy("a b", "", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
    },
    { line: "get svc --field-selector spec.nope=1", err: notFoundBy("", "spec.nope=1", "field label not supported: spec.nope") },
    {
      line: "create namespace Bad_Name",
      err: `The Namespace "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": ${invalidName}`,
    },
    { line: "create service clusterip a", err: "error: at least one tcp port specifier must be provided" },
    {
      line: "create service clusterip a --tcp=80 --clusterip=1.2.3.4",
      err: 'error: failed to create ClusterIP service: Service "a" is invalid: spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: ',
    },
    {
      line: "create service clusterip a --tcp=80 --clusterip=nope",
      err: 'error: failed to create ClusterIP service: Service "a" is invalid: spec.clusterIPs[0]: Invalid value: "nope": must be a valid IP address',
    },
    { line: `patch svc kubernetes -p '{"spec":'`, err: "Error from server (BadRequest): unexpected end of JSON input" },
    {
      line: "patch svc kubernetes -p []",
      err: "Error from server (BadRequest): json: cannot unmarshal array into Go value of type map[string]interface {}",
    },
    {
      line: "patch svc kubernetes --type=merge -p '{a}'",
      err: "Error from server (BadRequest): error decoding patch: invalid character 'a' looking for beginning of object key string",
    },
    {
      line: "patch svc kubernetes --type=json -p {}",
      err: "Error from server (BadRequest): error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    },
    {
      line: `patch svc kubernetes -p '{"spec":{"ports":[{"targetPort":1}]}}'`,
      err: "Error from server: map: map[targetPort:1] does not contain declared merge key: port",
    },
    {
      line: `patch svc kubernetes -p '{"metadata":{"name":"other"}}'`,
      err: "Error from server (BadRequest): the name of the object (other) does not match the name on the URL (kubernetes)",
    },
  ])("$line: refused with the reason", ({ line, err }) => {
    expect(refused(line)).toContain(err);
  });

  it("an unknown field in a patch: a warning, as kubectl patch asks for no validation", () => {
    expect(kubectl.run(`patch svc kubernetes -p '{"spec":{"nope":1}}'`)).toEqual({
      code: 0,
      out: "service/kubernetes patched (no change)\n",
      err: 'Warning: unknown field "spec.nope"\n',
    });
  });
});
