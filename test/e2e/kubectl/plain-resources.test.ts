/** ConfigMaps, Secrets, ServiceAccounts and PodTemplates with kubectl. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubectlInCluster, table } from "../../support/clients/kubectl";
import { removeFolder, temporaryFolder } from "../../support/server/server";

const kubectl = kubectlInCluster();
const { ok, refused } = kubectl;

/** A pair for tests alone: nothing trusts it. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBgzCCASmgAwIBAgIUeG6ucOUGTXMZU0DWTHPa93Oo+lkwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLZXhhbXBsZS5jb20wIBcNMjYxMTIzMDI0MTU2WhgPMjEyNjEw
MzAwMjQxNTZaMBYxFDASBgNVBAMMC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEUz/TBF6bNreZ8yeMRZc1KFVNzPPMy3TuWYDNR3R/XdFC/RXy
99EXRxMXoRhzo9CEdp9uRVK2bexhoKx3+80l06NTMFEwHQYDVR0OBBYEFI66jPn2
Eg9AcD1i516jfotnGaiGMB8GA1UdIwQYMBaAFI66jPn2Eg9AcD1i516jfotnGaiG
MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAMUgIwytU9pLOZXk
EEjlaWaJIZcfcsekI4Zktpi4G5MYAiBSEmNH3+AUOZp7f+KqJr8cxDwcWZWRZffF
vxHrX2J96g==
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgKii38hPMUicG5pUf
nWCuSZVXSoL2ozKuNZxaQ0B0kPGhRANCAARTP9MEXps2t5nzJ4xFlzUoVU3M88zL
dO5ZgM1HdH9d0UL9FfL30RdHExehGHOj0IR2n25FUrZt7GGgrHf7zSXT
-----END PRIVATE KEY-----
`;

const folder = temporaryFolder();
const file = (name: string): string => join(folder, name);
beforeAll(() => {
  mkdirSync(file("site"));
  const files = {
    "app.conf": "a=1\n",
    "app.env": "USER=me\nLEVEL=3\n",
    "blob.bin": Buffer.from([0, 1, 255]),
    "tls.crt": CERTIFICATE,
    "tls.key": KEY,
    "site/kustomization.yaml": [
      "configMapGenerator: [{ name: site, literals: [color=blue] }]",
      "secretGenerator: [{ name: site, literals: [token=t] }]",
      "generatorOptions: { disableNameSuffixHash: true }",
    ].join("\n"),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(file(name), content);
});
afterAll(() => removeFolder(folder));

describe("kubectl create configmap", () => {
  it("from texts, files and an env file: their keys", () => {
    expect(ok(`create configmap web --from-literal=color=blue --from-file=${file("app.conf")} --from-file=${file("blob.bin")}`)).toBe(
      "configmap/web created",
    );
    expect(JSON.parse(ok("get cm web -o jsonpath={.data}"))).toEqual({ color: "blue", "app.conf": "a=1\n" });
    expect(ok("get cm web -o jsonpath={.binaryData}")).toBe('{"blob.bin":"AAH/"}');
    ok(`create configmap env --from-env-file=${file("app.env")}`);
    expect(table(ok("get configmaps"))).toEqual([
      ["NAME", "DATA", "AGE"],
      ["env", "2", "AGE"],
      ["web", "3", "AGE"],
    ]);
    const described = ok("describe configmap web");
    expect(described).toContain("app.conf:\n----\na=1\n");
    expect(described).toContain("blob.bin: 3 bytes");
  });

  it("a name that is taken, and a key that cannot be one: refused in upstream's words", () => {
    expect(refused("create configmap web")).toBe('error: failed to create configmap: configmaps "web" already exists');
    const bad = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "bad" }, data: { "a b": "" } });
    expect(refused("create -f -", { input: bad })).toContain(
      `The ConfigMap "bad" is invalid: data[a b]: Invalid value: "a b": a valid config key must consist of`,
    );
  });

  it("immutable: only metadata changes", () => {
    ok('patch configmap env -p {"immutable":true}');
    expect(refused('patch configmap env -p {"data":{"LEVEL":"4"}}')).toBe(
      'The ConfigMap "env" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    );
    expect(ok("label configmap env tier=front")).toBe("configmap/env labeled");
  });
});

describe("kubectl create secret", () => {
  const data = (name: string): Record<string, string> => JSON.parse(ok(`get secret ${name} -o jsonpath={.data}`)) as Record<string, string>;

  it("generic, docker-registry and tls: their types and keys", () => {
    expect(ok(`create secret generic opaque --from-literal=token=t --from-file=${file("app.conf")}`)).toBe("secret/opaque created");
    expect(data("opaque")).toEqual({ token: "dA==", "app.conf": "YT0xCg==" });
    ok("create secret generic typed --type=example.com/x --from-literal=token=t");
    ok("create secret docker-registry pull --docker-server=registry.example --docker-username=me --docker-password=pw");
    expect(Object.keys(data("pull"))).toEqual([".dockerconfigjson"]);
    ok(`create secret tls web --cert=${file("tls.crt")} --key=${file("tls.key")}`);
    expect(Object.keys(data("web")).sort()).toEqual(["tls.crt", "tls.key"]);
    expect(table(ok("get secrets"))).toEqual([
      ["NAME", "TYPE", "DATA", "AGE"],
      ["opaque", "Opaque", "2", "AGE"],
      ["pull", "kubernetes.io/dockerconfigjson", "1", "AGE"],
      ["typed", "example.com/x", "1", "AGE"],
      ["web", "kubernetes.io/tls", "2", "AGE"],
    ]);
  });

  it("describe: sizes, no values", () => {
    const described = ok("describe secret opaque");
    expect(described).toMatch(/^token: +1 bytes$/m);
    expect(described).not.toContain("dA==");
  });

  it("field selector type: those of the type", () => {
    expect(ok("get secrets -o name --field-selector=type=example.com/x")).toBe("secret/typed");
    expect(ok("get secrets -o name --field-selector=type!=Opaque,metadata.name!=web").split("\n")).toEqual(["secret/pull", "secret/typed"]);
    expect(refused("get secrets --field-selector=data=x")).toContain("field label not supported: data");
  });

  it("stringData by apply, client and server side: in data, and shown nowhere else", () => {
    const manifest = (text: string): string =>
      JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "applied" }, stringData: { token: text } });
    expect(ok("apply -f -", manifest("one"))).toBe("secret/applied created");
    expect(ok("apply -f -", manifest("two"))).toBe("secret/applied configured");
    expect(data("applied")).toEqual({ token: Buffer.from("two").toString("base64") });
    expect(ok("apply --server-side --force-conflicts -f -", manifest("three"))).toBe("secret/applied serverside-applied");
    expect(data("applied")).toEqual({ token: Buffer.from("three").toString("base64") });
    expect(ok("get secret applied -o jsonpath={.stringData}")).toBe("");
  });

  it("another type: refused in upstream's words", () => {
    expect(refused('patch secret opaque -p {"type":"example.com/y"}')).toBe(
      'The Secret "opaque" is invalid: type: Invalid value: "example.com/y": field is immutable',
    );
  });

  it("wait for a key: answered by the watch", () => {
    expect(ok("wait secret/opaque --for=jsonpath={.data.token}=dA== --timeout=10s")).toBe("secret/opaque condition met");
  });
});

describe("kubectl and ServiceAccounts", () => {
  it("create, get, describe, patch, delete: the columns and lines of kubectl", () => {
    expect(ok("create serviceaccount robot")).toBe("serviceaccount/robot created");
    expect(table(ok("get sa robot"))).toEqual([
      ["NAME", "AGE"],
      ["robot", "AGE"],
    ]);
    ok('patch serviceaccount robot -p {"imagePullSecrets":[{"name":"pull"}],"secrets":[{"name":"opaque"}]}');
    expect(ok("describe serviceaccount robot")).toMatch(/^Image pull secrets: +pull$/m);
    ok('patch serviceaccount robot -p {"secrets":[{"name":"typed"}]}');
    expect(ok("get sa robot -o jsonpath={.secrets[*].name}").split(" ").sort()).toEqual(["opaque", "typed"]);
    expect(ok("delete sa robot")).toBe('serviceaccount "robot" deleted from default namespace');
  });
});

describe("kubectl and PodTemplates", () => {
  it("create, get, describe, patch: the columns of kubectl, and a new generation", () => {
    const spec = { containers: [{ name: "main", image: "example.com/main:1" }] };
    const object = {
      apiVersion: "v1",
      kind: "PodTemplate",
      metadata: { name: "t" },
      template: { metadata: { labels: { app: "a" } }, spec },
    };
    expect(ok("create -f -", JSON.stringify(object))).toBe("podtemplate/t created");
    expect(table(ok("get podtemplates"))).toEqual([
      ["NAME", "CONTAINERS", "IMAGES", "POD LABELS"],
      ["t", "main", "example.com/main:1", "app=a"],
    ]);
    expect(ok("describe podtemplate t")).toContain("example.com/main:1");
    ok('patch podtemplate t -p {"template":{"spec":{"containers":[{"name":"side","image":"example.com/side:1"}]}}}');
    expect(ok("get podtemplate t -o jsonpath={.metadata.generation}/{.template.spec.containers[*].name}")).toBe("2/side main");
  });
});

it("kubectl apply -k: the ConfigMap and the Secret of the generators", () => {
  expect(ok(`apply -k ${file("site")}`).split("\n")).toEqual(["configmap/site created", "secret/site created"]);
  expect(ok(`diff -k ${file("site")}`)).toBe("");
  expect(ok(`delete -k ${file("site")}`).split("\n")).toEqual([
    'configmap "site" deleted from default namespace',
    'secret "site" deleted from default namespace',
  ]);
});

it("kubectl apply --applyset: what is no longer there goes", () => {
  const set = (...names: string[]): string =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "List",
      items: names.map((name) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } })),
    });
  const apply = (input: string): string => {
    const { code, out, err } = kubectl.run("apply --prune --applyset=set -n default -f -", { input, env: { KUBECTL_APPLYSET: "true" } });
    expect({ code, err: err.replace(/^Warning: .*$/gm, "").trim() }).toEqual({ code: 0, err: "" });
    return out;
  };
  expect(apply(set("one", "two"))).toContain("configmap/two");
  expect(apply(set("one"))).toContain("configmap/two pruned");
  expect(ok("get configmap one -o name")).toBe("configmap/one");
});

it("kubectl delete --all: the resources of the namespace are gone", () => {
  for (const type of ["configmaps", "secrets", "serviceaccounts", "podtemplates"]) {
    kubectl.run(`delete ${type} --all`);
    expect(kubectl.run(`get ${type}`)).toMatchObject({ code: 0, out: "" });
  }
});
