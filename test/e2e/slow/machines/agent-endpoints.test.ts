/** `npm run agent` beside a process: the process is an endpoint of a Service, ready as its check says, and drains before the agent ends. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { EndpointSlice, Pod } from "../../../../src/api/meta/kubernetes";
import { Api } from "../../../support/clients/api";
import { startProgram } from "../../../support/server/program";
import { serverForTests } from "../../../support/server/server-for-tests";
import { PATIENCE } from "../../../support/server/patience";

const ADDRESS = "192.0.2.1";
const server = serverForTests();
const api = new Api(() => server.url);

/** The Service's endpoints: `192.0.2.1 ready`, also `serving` alone and `terminating`. */
async function endpoints(): Promise<string[]> {
  const { body } = await api.get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
    labelSelector: "kubernetes.io/service-name=web",
  });
  const { items } = body as { items?: EndpointSlice[] };
  return (items ?? []).flatMap(({ endpoints, ports }) =>
    (endpoints ?? []).map(({ addresses, conditions = {}, nodeName = "" }) => {
      const states = (["ready", "serving", "terminating"] as const).filter((state) => conditions[state]);
      return [`${addresses.join()}:${ports?.[0]?.port ?? ""}`, nodeName, ...states].join(" ");
    }),
  );
}

it(
  "a process of a machine: an endpoint of its Service as long as its check is good, and terminating before it goes",
  { timeout: 300_000 },
  async () => {
    let health = 200;
    const agents: (string | undefined)[] = [];
    const web = createServer((request, response) => {
      agents.push(request.headers["user-agent"]);
      response.writeHead(health).end();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void web.close());
    await once(web, "listening");
    const { port } = web.address() as AddressInfo;

    const file = join(server.folder, "endpoints.yaml");
    // The test's machine does not have the node's address.
    const check = `{http: {path: /healthz, host: 127.0.0.1}, periodSeconds: 1, timeoutSeconds: 30, failureThreshold: 1}`;
    const text = `- {name: web, port: ${String(port)}, labels: {app: web}, drainSeconds: 30, check: ${check}}\n`;
    writeFileSync(file, text);
    await api.must("POST", "/api/v1/namespaces/default/services", {
      body: { metadata: { name: "web" }, spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: "web" }] } },
    });
    const args = [
      "--node",
      "n1",
      "--server",
      server.url,
      "--address",
      ADDRESS,
      "--state",
      join(server.folder, "agent"),
      "--endpoints",
      file,
    ];
    const agent = await startProgram("agent", args, /The agent of n1 is ready/);
    const place = `${ADDRESS}:${String(port)} n1`;

    await expect.poll(endpoints, PATIENCE).toEqual([`${place} ready serving`]);
    expect(agents[0]).toBe("kube-probe/1.36");
    health = 503;
    await expect.poll(endpoints, PATIENCE).toEqual([place]);
    health = 200;
    await expect.poll(endpoints, PATIENCE).toEqual([`${place} ready serving`]);

    writeFileSync(file, "- {name: web");
    await expect.poll(() => agent.output(), PATIENCE).toContain("the last good set stays");
    writeFileSync(file, `${text}- {name: other, port: 9, labels: {app: other}, drainSeconds: 0}\n`);
    await expect.poll(async () => (await api.get("/api/v1/namespaces/default/pods/other.n1")).code, PATIENCE).toBe(200);
    await expect.poll(endpoints, PATIENCE).toEqual([`${place} ready serving`]);

    const ended = agent.stop();
    await expect.poll(endpoints, PATIENCE).toEqual([`${place} serving terminating`]);
    expect(await ended).toBe(0);
    await expect.poll(endpoints, PATIENCE).toEqual([]);
    expect((await api.get("/api/v1/nodes/n1")).code).toBe(200);
  },
);

/** The Pods: `web.n2 Running ready`; `…` = being deleted. */
async function pods(node: string): Promise<string[]> {
  const { body } = await api.get("/api/v1/pods", { fieldSelector: `spec.nodeName=${node}` });
  const { items } = body as { items?: Pod[] };
  return (items ?? [])
    .map(({ metadata, status }) => {
      const isReady = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True");
      return `${metadata?.name ?? ""} ${status?.phase ?? ""}${isReady ? " ready" : ""}${metadata?.deletionTimestamp ? " …" : ""}`;
    })
    .sort();
}

it(
  "Pods of a machine: adopted after kill -9, off when deleted, Failed when foreign, drained when the Node goes",
  { timeout: 300_000 },
  async () => {
    const file = join(server.folder, "n2.yaml");
    const args = ["--node", "n2", "--server", server.url, "--address", ADDRESS, "--state", join(server.folder, "n2"), "--endpoints", file];
    const start = (...more: string[]) => startProgram("agent", [...args, ...more], /The agent of n2 is ready/);
    const uid = async (name: string) => (await api.get(`/api/v1/namespaces/default/pods/${name}.n2`)).body.metadata?.uid;
    const write = (...names: string[]): void =>
      writeFileSync(file, `[${names.map((name) => `{name: ${name}, port: 9, drainSeconds: 10}`).join(", ")}]`);

    write("a", "b", "c");
    const first = await start();
    await expect.poll(() => pods("n2"), PATIENCE).toEqual(["a.n2 Running ready", "b.n2 Running ready", "c.n2 Running ready"]);
    const before = await uid("a");
    await first.kill();
    write("a", "b");
    const second = await start();
    await expect.poll(() => pods("n2"), PATIENCE).toEqual(["a.n2 Running ready", "b.n2 Running ready"]);
    expect(await uid("a")).toBe(before);

    await api.must("DELETE", "/api/v1/namespaces/default/pods/b.n2");
    expect(await pods("n2")).toEqual(["a.n2 Running ready", "b.n2 Running ready …"]);
    await expect.poll(() => pods("n2"), PATIENCE).toEqual(["a.n2 Running ready"]);
    await second.kill();
    const third = await start();
    await api.must("POST", "/api/v1/namespaces/default/pods", {
      body: { metadata: { name: "foreign" }, spec: { nodeName: "n2", containers: [{ name: "c", image: "i" }] } },
    });
    await expect.poll(() => pods("n2"), PATIENCE).toEqual(["a.n2 Running ready", "foreign Failed"]);
    expect((await api.get("/api/v1/namespaces/default/pods/foreign")).body.status).toMatchObject({ reason: "NodeCannotRunPods" });

    await api.must("DELETE", "/api/v1/nodes/n2");
    await expect.poll(() => pods("n2"), PATIENCE).toContain("a.n2 Running ready …");
    await expect.poll(() => third.output(), PATIENCE).toContain("agent: the Node n2 is deleted");
    expect(await third.stop()).toBe(0);
    expect((await api.get("/api/v1/namespaces/default/pods/a.n2")).code).toBe(404);
    const fourth = await start("--leave", "--leave-after", "0");
    await expect.poll(() => pods("n2"), PATIENCE).toEqual(expect.arrayContaining(["a.n2 Running ready", "b.n2 Running ready"]));

    await api.must("DELETE", "/api/v1/namespaces/default/pods/b.n2");
    await expect.poll(() => pods("n2"), PATIENCE).not.toContainEqual(expect.stringMatching(/^b/));
    writeFileSync(file, "[{name: a, port: 9, drainSeconds: 10}, {name: b, port: 9, drainSeconds: 11}]");
    await expect.poll(() => pods("n2"), PATIENCE).toContain("b.n2 Running ready");

    const left = fourth.stop();
    await expect.poll(() => pods("n2"), PATIENCE).toEqual(expect.arrayContaining(["a.n2 Running ready …", "b.n2 Running ready …"]));
    expect((await api.get("/api/v1/nodes/n2")).text).toContain("ToBeDeletedByClusterAutoscaler");
    expect(await left).toBe(0);
    expect((await api.get("/api/v1/nodes/n2")).code).toBe(404);
    expect(await pods("n2")).toEqual(["foreign Failed"]);
  },
);
