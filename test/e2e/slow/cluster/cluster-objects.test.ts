/** Clusters as objects, in kubectl's hands. */
import { expect, it, vi } from "vitest";
import { kubectlInCluster, table } from "../../../support/clients/kubectl";

const kubectl = kubectlInCluster({ args: ["--var", "IMPLICIT_CLUSTERS=false"] });
const { background, file, ok, refused, run } = kubectl;
const root = (line: string): string => `--server ${kubectl.cluster.origin} ${line}`;

function clusterFile(name: string, spec: object, labels: Record<string, string> = {}): string {
  const object = { apiVersion: "servicenet.dev/v1alpha1", kind: "Cluster", metadata: { name, labels }, spec };
  return file(`${name}.json`, object);
}

it("a cluster: created, waited for, used, labelled, watched and deleted as an object", async () => {
  expect(ok(root("wait --for=condition=Ready cluster/default --timeout=20s"))).toContain("condition met");
  expect(ok(root(`create -f ${clusterFile("red", { controllers: ["*", "-namespace"] }, { team: "a" })}`))).toBe(
    "cluster.servicenet.dev/red created",
  );
  expect(ok(root("wait --for=condition=Ready cluster/red --timeout=20s"))).toContain("condition met");
  const watch = background(root("get clusters --watch --output-watch-events"));
  await watch.until(/ADDED +red +Active +True/);
  const shown = JSON.parse(ok(root("get --raw /clusters/red"))) as { controllers: string[]; status: { phase: string } };
  expect([shown.controllers, shown.status.phase]).toEqual([["*", "-namespace-controller"], "Active"]);
  const there = `--server ${kubectl.cluster.origin}/clusters/red`;
  expect(ok(`${there} get services -o name`)).toBe("service/kubernetes");
  const profile = "get clusterprofile red -n kube-public -o";
  const address = "{.status.accessProviders[0].cluster.server}";
  expect(ok(root(`${profile} jsonpath='${address}'`))).toBe(`${kubectl.cluster.origin}/clusters/red`);
  expect(ok(root("wait --for=condition=ControlPlaneHealthy clusterprofile/red -n kube-public --timeout=20s"))).toContain("condition met");
  expect(table(ok(root("get clusterprofiles -A -l team=a")))).toEqual([
    ["NAMESPACE", "NAME", "AGE"],
    ["kube-public", "red", "AGE"],
  ]);
  expect(refused(root("delete clusterprofile red -n kube-public"))).toContain(
    "the server does not allow this method on the requested resource",
  );
  expect(ok(root("label cluster red stage=test"))).toBe("cluster.servicenet.dev/red labeled");
  expect(ok(root("get clusters -l stage=test,team=a -o name"))).toBe("cluster.servicenet.dev/red");
  expect(ok(root('patch cluster red --type=merge -p \'{"spec":{"controllers":null}}\''))).toContain("patched");
  const controllers = () => (JSON.parse(ok(root("get --raw /clusters/red"))) as { controllers: string[] | null }).controllers;
  await vi.waitFor(() => expect(controllers()).toBeNull(), { timeout: 20_000, interval: 200 });
  expect(ok(root("delete cluster red --timeout=60s"))).toContain('"red" deleted');
  expect(run(root("get --raw /clusters/red")).err).toContain("not found");
  await watch.until(/DELETED +red +Terminating/);
  watch.stop();
});

it("a cluster of PUT: is an object, which tells of its end by DELETE", async () => {
  const body = file("body.json", "{}");
  ok(root(`replace --raw /clusters/blue -f ${body}`));
  expect(ok(root("wait --for=condition=Ready cluster/blue --timeout=20s"))).toContain("condition met");
  expect(table(ok(root("get clusters -o wide"))).slice(0, 2)).toEqual([
    ["NAME", "PHASE", "READY", "AGE", "LOCATION", "URL", "WIPED"],
    ["blue", "Active", "True", "AGE", "/clusters/blue"],
  ]);
  ok(root("delete --raw /clusters/blue"));
  expect(ok(root("wait --for=delete cluster/blue --timeout=60s"))).not.toContain("timed out");
  ok(root(`replace --raw /clusters/blue -f ${body}`));
  expect(ok(root("wait --for=condition=Ready cluster/blue --timeout=20s"))).toContain("condition met");
});

it("what is refused: another place, an unknown one, an unknown controller, the end of default, and a name that nobody made", () => {
  ok(root(`create -f ${clusterFile("green", { location: "weur" })}`));
  ok(root("wait --for=condition=Ready cluster/green --timeout=20s"));
  expect(refused(root('patch cluster green --type=merge -p \'{"spec":{"location":"enam"}}\''))).toBe(
    'The Cluster "green" is invalid: spec.location: Invalid value: "enam": field is immutable',
  );
  expect(refused(root(`create -f ${clusterFile("x", { location: "mars" })}`))).toContain(
    'spec.location: Unsupported value: "mars": supported values: "afr"',
  );
  expect(refused(root(`create -f ${clusterFile("x", { controllers: ["*", "mars"] })}`))).toContain(
    '"mars" is not in the list of known controllers',
  );
  expect(refused(root(`create -f ${clusterFile("x.y", {})}`))).toContain("must not contain dots");
  expect(refused(root("delete cluster default"))).toContain(
    'clusters.servicenet.dev "default" is forbidden: this cluster may not be deleted',
  );
  expect(refused(root("delete cluster nosuch"))).toContain('clusters.servicenet.dev "nosuch" not found');
});

it("other clusters: do not have the kind, and the root explains it", () => {
  expect(ok(root("api-resources --api-group=servicenet.dev -o name"))).toBe("clusters.servicenet.dev");
  const there = `--server ${kubectl.cluster.origin}/clusters/green`;
  expect(ok(`${there} api-resources --api-group=servicenet.dev -o name`)).toBe("");
  expect(refused(`${there} get clusters`)).toContain(`the server doesn't have a resource type "clusters"`);
  expect(run(root("get --raw /clusters/green/apis/servicenet.dev/v1alpha1/clusters")).err).toContain(
    "could not find the requested resource",
  );
  expect(ok(root("explain cluster.spec.location"))).toContain("It cannot be changed");
  expect(ok(root("explain clusterprofile.status.accessProviders.cluster.server"))).toContain("The address of the cluster's server");
});
