/** Integers of 64 bits beyond 2^53, which JavaScript rounds, through every way in and out. */
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Api, APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from "../../support/clients/api";
import { encodeProtobuf } from "../../../src/api/schema/protobuf/encode-protobuf";
import { PodSchema } from "../../../src/api/schema/kinds/core-pods";
import { PROTOBUF } from "../../support/values/protobuf-answers";
import { runProgram } from "../../support/server/program";
import { removeFolder, temporaryFolder } from "../../support/server/server";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const PODS = "/api/v1/namespaces/default/pods";
const MOST = "9223372036854775807";
const LARGE = "9007199254740993";

const cluster = clusterForTests();
const api = new Api(() => cluster.url);
const otherClusters = new Api(() => cluster.origin);

const toleration = (seconds: string) => `{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":${seconds}}`;
const pod = (name: string, seconds: string) =>
  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{"containers":[{"name":"c","image":"i"}],"tolerations":[${toleration(seconds)}]}}`;

/** The tolerationSeconds of a text, digit by digit, without those of the tolerations that every Pod gets. */
const secondsIn = (text: string) =>
  [...text.matchAll(/"?tolerationSeconds"?: ?(-?\d+)/g)].map(([, digits]) => digits).filter((digits) => digits !== "300");

async function sent(method: string, path: string, body: string | Uint8Array, type = "application/json") {
  const { code, text } = await api.send(method, path, { body, headers: { "Content-Type": type } });
  expect({ code, text: code < 300 ? "" : text }).toEqual({ code: method === "POST" ? 201 : 200, text: "" });
  return secondsIn(text);
}

describe("an integer beyond 2^53 in a write", () => {
  it("create and update in JSON: answered and stored as sent", async () => {
    expect(await sent("POST", PODS, pod("json", LARGE))).toEqual([LARGE]);
    expect(await sent("PUT", `${PODS}/json`, (await api.get(`${PODS}/json`)).text)).toEqual([LARGE]);
    expect(secondsIn((await api.get(`${PODS}/json`)).text)).toEqual([LARGE]);
  });

  it("create in YAML and in protobuf: stored as sent", async () => {
    const yaml = `{apiVersion: v1, kind: Pod, metadata: {name: yaml}, spec: {containers: [{name: c, image: i}], tolerations: [{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: ${MOST}}]}}`;
    expect(await sent("POST", PODS, yaml, "application/yaml")).toEqual([MOST]);
    const spec = {
      containers: [{ name: "c", image: "i" }],
      tolerations: [{ key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: -(2n ** 63n) }],
    };
    const body = encodeProtobuf({ metadata: { name: "protobuf" }, spec }, PodSchema, { apiVersion: "v1", kind: "Pod" });
    expect(await sent("POST", PODS, body, PROTOBUF)).toEqual(["-9223372036854775808"]);
  });

  it("each kind of patch: stored as sent, and what it leaves alone stays", async () => {
    await sent("POST", PODS, pod("patched", LARGE));
    const path = `${PODS}/patched`;
    const both = `[${toleration(LARGE)},${toleration(MOST).replace('"k"', '"m"')}]`;
    expect(await sent("PATCH", path, '{"metadata":{"labels":{"a":"b"}}}', MERGE_PATCH)).toEqual([LARGE]);
    expect(await sent("PATCH", path, `{"spec":{"tolerations":${both}}}`, MERGE_PATCH)).toEqual([LARGE, MOST]);
    expect(await sent("PATCH", path, '{"metadata":{"labels":{"c":"d"}}}', STRATEGIC_PATCH)).toEqual([LARGE, MOST]);
    const copied =
      '[{"op":"test","path":"/spec/tolerations/0/tolerationSeconds","value":9007199254740993},{"op":"copy","from":"/spec/tolerations/1","path":"/spec/tolerations/-"},{"op":"replace","path":"/spec/tolerations/4/key","value":"n"}]';
    expect(await sent("PATCH", path, copied, JSON_PATCH)).toEqual([LARGE, MOST, MOST]);
    const other = await api.send("PATCH", path, {
      body: '[{"op":"test","path":"/spec/tolerations/0/tolerationSeconds","value":9007199254740992}]',
      headers: { "Content-Type": JSON_PATCH },
    });
    expect(other.code).toBe(422);
  });

  it("server-side apply: stored as sent; the neighbour that JavaScript takes for the same: a conflict", async () => {
    const apply = (manager: string, seconds: string) =>
      api.send("PATCH", `${PODS}/applied`, {
        query: { fieldManager: manager },
        // It tolerates everything, so that no default changes the list, which has one owner.
        body: pod("applied", seconds).replace(/\]\}\}$/, ',{"operator":"Exists"}]}}'),
        headers: { "Content-Type": APPLY_PATCH },
      });
    expect(secondsIn((await apply("one", LARGE)).text)).toEqual([LARGE]);
    expect((await apply("two", "9007199254740992")).code).toBe(409);
    const { code, text } = await apply("two", LARGE);
    expect([code, secondsIn(text)]).toEqual([200, [LARGE]]);
  });

  it("the status of a node: stored as sent", async () => {
    await api.send("POST", "/api/v1/nodes", { body: { metadata: { name: "n" } } });
    const body = `{"status":{"images":[{"names":["i"],"sizeBytes":${MOST}}]}}`;
    const { text } = await api.send("PATCH", "/api/v1/nodes/n/status", { body, headers: { "Content-Type": MERGE_PATCH } });
    expect(text).toContain(`"sizeBytes":${MOST}`);
  });

  it("an integer beyond 64 bits: refused with its digits", async () => {
    const { code, body } = await api.send("POST", PODS, { body: pod("wide", "9223372036854775808") });
    expect([code, body.message]).toEqual([
      400,
      'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number 9223372036854775808 into Go struct field Toleration.spec.tolerations.tolerationSeconds of type int64',
    ]);
  });
});

describe("an integer beyond 2^53 in an answer", () => {
  it.each(["application/json", "application/yaml", "application/json;as=Table;g=meta.k8s.io;v=v1"])("%s: every digit", async (Accept) => {
    await otherClusters.send("PUT", "/clusters/shown", {});
    await otherClusters.send("POST", `/clusters/shown${PODS}`, { body: pod("shown", LARGE) });
    for (const path of [`${PODS}/shown?pretty=true`, `${PODS}/shown`, PODS]) {
      const asked = `/clusters/shown${path}${path.includes("?") ? "&" : "?"}includeObject=Object`;
      const { text } = await otherClusters.send("GET", asked, { headers: { Accept } });
      expect(secondsIn(text)).toEqual([LARGE]);
    }
  });

  it("protobuf: every digit", async () => {
    await api.send("POST", PODS, { body: pod("in-protobuf", MOST) });
    const { body } = await api.send("GET", `${PODS}/in-protobuf`, { headers: { Accept: PROTOBUF } });
    expect(body.spec).toMatchObject({ tolerations: [{ tolerationSeconds: 9223372036854775807n }, {}, {}] });
  });

  it("a watch with a selector that the object leaves: every digit", async () => {
    const created = await api.send("POST", PODS, {
      body: pod("left", LARGE).replace('"name":"left"', '"name":"left","labels":{"in":"y"}'),
    });
    const from = created.body.metadata?.resourceVersion ?? "";
    await api.send("PATCH", `${PODS}/left`, { body: '{"metadata":{"labels":null}}', headers: { "Content-Type": MERGE_PATCH } });
    const { text } = await api.send("GET", PODS, {
      query: { watch: "1", labelSelector: "in=y", resourceVersion: from, timeoutSeconds: "1" },
    });
    expect(text).toContain('"type":"DELETED"');
    expect(secondsIn(text)).toEqual([LARGE]);
  });
});

it("backup and restore: every digit", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  const file = join(folder, "cluster.jsonl");
  for (const name of ["saved", "restored"]) await otherClusters.send("PUT", `/clusters/${name}`, {});
  await otherClusters.must("POST", `/clusters/saved${PODS}`, { body: pod("saved", LARGE) });
  expect(await runProgram("backup", ["--server", cluster.origin, "--cluster", "saved", "--file", file])).toMatchObject({
    code: 0,
    err: "",
  });
  expect(await runProgram("restore", ["--server", cluster.origin, "--cluster", "restored", "--file", file])).toMatchObject({
    code: 0,
    err: "",
  });
  expect(secondsIn((await otherClusters.get(`/clusters/restored${PODS}/saved`)).text)).toEqual([LARGE]);
}, 60_000);

describe("the longest grace period", () => {
  /** A pod on a node, which stays when it is deleted. */
  const patient = (name: string) => pod(name, LARGE).replace('"spec":{', `"spec":{"nodeName":"x","terminationGracePeriodSeconds":${MOST},`);
  const graceIn = (text: string) => [...text.matchAll(/"deletionGracePeriodSeconds":(-?\d+)/g)].map(([, digits]) => digits);
  const byQuery = { query: { gracePeriodSeconds: MOST } };
  const inBody = { body: `{"gracePeriodSeconds":${MOST}}` };
  const force = { query: { gracePeriodSeconds: "0" } };

  /** Makes a namespace with a pod. Answers the path of its pods. */
  async function namespaceWith(name: string): Promise<string> {
    await api.must("POST", "/api/v1/namespaces", { body: { metadata: { name } } });
    const path = `/api/v1/namespaces/${name}/pods`;
    await api.must("POST", path, { body: patient("patient") });
    return path;
  }

  it.each([
    ["of the pod", {}],
    ["of the query", byQuery],
    ["of the options", inBody],
  ])("a DELETE with the grace period %s, and again: the pod is marked, 292 years ahead, with every digit", async (of, sent) => {
    const path = await namespaceWith(`grace-${of.replaceAll(" ", "-")}`);
    for (let time = 1; time <= 2; time++) {
      const { code, body, text } = await api.send("DELETE", `${path}/patient`, sent);
      expect([code, body.metadata?.deletionTimestamp?.slice(0, 2), graceIn(text)]).toEqual([200, "23", [MOST]]);
    }
    expect(graceIn((await api.get(path)).text)).toEqual([MOST]);
    const { body } = await api.send("GET", path, { headers: { Accept: PROTOBUF } });
    expect(body).toMatchObject({ items: [{ metadata: { deletionGracePeriodSeconds: 9223372036854775807n } }] });
  });

  it("a marked pod: written by PUT and PATCH, and gone when it is forced", async () => {
    const path = `${await namespaceWith("grace-forced")}/patient`;
    await api.must("DELETE", path);
    const put = await api.send("PUT", path, { body: (await api.get(path)).text });
    const patched = await api.patch(path, MERGE_PATCH, { metadata: { labels: { a: "b" } } });
    expect([put.code, graceIn(put.text), patched.code, graceIn(patched.text)]).toEqual([200, [MOST], 200, [MOST]]);
    const { code, text } = await api.send("DELETE", path, { query: { gracePeriodSeconds: LARGE } });
    expect([code, graceIn(text)]).toEqual([200, [LARGE]]);
    expect((await api.send("DELETE", path, force)).code).toBe(200);
    expect((await api.get(path)).code).toBe(404);
  });

  it("a DELETE of the collection and an eviction: the same grace", async () => {
    const path = await namespaceWith("grace-many");
    await api.must("POST", path, { body: patient("evicted") });
    const eviction = `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"evicted"},"deleteOptions":{"gracePeriodSeconds":${MOST}}}`;
    for (let time = 1; time <= 2; time++) {
      expect((await api.send("POST", `${path}/evicted/eviction`, { body: eviction })).code).toBe(201);
      expect((await api.send("DELETE", path, time === 1 ? inBody : byQuery)).code).toBe(200);
      expect(graceIn((await api.get(path)).text)).toEqual([MOST, MOST]);
    }
  });

  it("a namespace with a marked pod: is gone once the pod is", async () => {
    const path = await namespaceWith("grace-namespace");
    await api.must("DELETE", `${path}/patient`);
    await api.must("DELETE", "/api/v1/namespaces/grace-namespace");
    const namespace = () => api.get("/api/v1/namespaces/grace-namespace");
    await api.until(async () => (await namespace()).text.includes('"SomeResourcesRemain"'), "the pod is told");
    expect((await namespace()).text).toContain('"ContentDeleted"');
    await api.must("DELETE", `${path}/patient`, force);
    await api.until(async () => (await namespace()).code === 404, "the namespace is gone");
  }, 90_000);
});
