/** `npm run check` against the started server, and against servers that are something else. */
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseOptions } from "../../../../scripts/check/options";
import type { CheckOutcome } from "../../../../scripts/check/run";
import { decodeContinue, encodeContinue } from "../../../../src/api/meta/continue-token";
import { listEnvelope } from "../../../../src/api/meta/list";
import { Api } from "../../../support/clients/api";
import { runningPod } from "../../../support/clients/running-pod";
import { ipAddress, service, serviceCIDR } from "../../../support/worlds/checked-cluster";
import { runProgram } from "../../../support/server/program";
import { getJson } from "../../../support/server/server";
import { NODES_ARE_NAMES, serverForTests } from "../../../support/server/server-for-tests";

const server = serverForTests(NODES_ARE_NAMES);

async function report(args: readonly string[]): Promise<{ code: number | null; outcome: CheckOutcome }> {
  const { code, out, err } = await runProgram("check", [...args, "--output", "json"]);
  expect(err).toBe("");
  return { code, outcome: JSON.parse(out) as CheckOutcome };
}

async function post(path: string, body: object): Promise<void> {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  expect((await fetch(server.url + path, init)).status).toBe(201);
}

describe("a healthy cluster", () => {
  it("healthy cluster whose Services come and go: found healthy in text, in JSON and at GET /check", async () => {
    const cluster = "/clusters/busy";
    await post(`${cluster}/api/v1/namespaces/default/services`, { metadata: { name: "stays" }, spec: { ports: [{ port: 80 }] } });
    let over = false;
    const writing = (async () => {
      for (let i = 0; !over; i++) {
        const name = `churn-${i}`;
        await post(`${cluster}/api/v1/namespaces/default/services`, {
          metadata: { name },
          spec: { type: "NodePort", ports: [{ port: 80 }] },
        });
        await fetch(`${server.url}${cluster}/api/v1/namespaces/default/services/${name}`, { method: "DELETE" });
      }
    })();
    const target = ["--server", server.url, "--cluster", "busy"];
    const [text, json, raw] = await Promise.all([
      runProgram("check", target),
      report(target),
      getJson<CheckOutcome>(`${server.url}${cluster}/check`),
    ]);
    over = true;
    await writing;
    expect(text).toMatchObject({ code: 0, err: "" });
    expect(text.out).toMatch(/Services, \d+ IPAddresses, 1 ServiceCIDRs, 1 owners with \d+ rows\n[^]*Nothing is wrong\.\n$/);
    expect(json).toMatchObject({ code: 0, outcome: { server: `${server.url}${cluster}`, wrong: [], unchecked: [] } });
    expect(json.outcome.checked.services).toBeGreaterThanOrEqual(2);
    expect(raw).toMatchObject({ wrong: [], unchecked: [] });
    expect(Object.keys(json.outcome).sort()).toEqual(["server", ...Object.keys(raw)].sort());
  });

  it("ServiceCIDR around a Node, its Pods and the API server: notices in the text and at GET /check, exit code 0", async () => {
    const cluster = "/clusters/crowded";
    await post(`${cluster}/api/v1/nodes`, { metadata: { name: "one" }, spec: { podCIDR: "10.96.7.0/24", podCIDRs: ["10.96.7.0/24"] } });
    const status = { addresses: [{ type: "InternalIP", address: "10.96.3.4" }] };
    const patched = await fetch(`${server.url}${cluster}/api/v1/nodes/one/status`, {
      method: "PATCH",
      headers: { "Content-Type": "application/merge-patch+json" },
      body: JSON.stringify({ status }),
    });
    expect(patched.status).toBe(200);
    await post(`${cluster}/apis/discovery.k8s.io/v1/namespaces/default/endpointslices`, {
      metadata: { name: "kubernetes" },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.96.200.1"] }],
    });
    const { code, outcome } = await report(["--server", server.url, "--cluster", "crowded"]);
    const range = "10.96.0.0/16 of the ServiceCIDR kubernetes";
    const notices = [
      `${range} overlaps the podCIDR 10.96.7.0/24 of the Node one`,
      `${range} contains the InternalIP 10.96.3.4 of the Node one`,
      `${range} contains 10.96.200.1, an address of the API servers (endpoints of default/kubernetes)`,
    ];
    expect([code, outcome.wrong, outcome.notices.map(({ message }) => message)]).toEqual([0, [], notices]);
    const raw = await getJson<CheckOutcome>(`${server.url}${cluster}/check`);
    expect(raw.notices.map(({ message }) => message)).toEqual(notices);
  });

  it("a Service whose Pods come and go: EndpointSlices agree with them, in the program and at GET /check", async () => {
    const base = `${server.url}/clusters/serving`;
    const api = new Api(() => base);
    await api.must("POST", "/api/v1/nodes", { body: { metadata: { name: "n1", labels: { "topology.kubernetes.io/zone": "z1" } } } });
    const spec = { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] };
    await api.must("POST", "/api/v1/namespaces/default/services", { body: { metadata: { name: "web" }, spec } });
    await runningPod(api, "stays", "10.244.0.1");
    let over = false;
    const writing = (async () => {
      for (let i = 0; !over; i++) {
        await runningPod(api, `churn-${i}`, `10.244.1.${1 + (i % 250)}`);
        await api.must("DELETE", `/api/v1/namespaces/default/pods/churn-${i}`, { query: { gracePeriodSeconds: "0" } });
      }
    })();
    const [{ code, outcome }, raw] = await Promise.all([
      report(["--server", server.url, "--cluster", "serving"]),
      getJson<CheckOutcome>(`${base}/check`),
    ]);
    over = true;
    await writing;
    expect([code, outcome.wrong, outcome.notices, outcome.unchecked]).toEqual([0, [], [], []]);
    expect([raw.wrong, raw.notices, raw.unchecked]).toEqual([[], [], []]);
  });

  it("a Service with a selector where endpointslice-controller is off: a notice, exit code 0", async () => {
    const cluster = "/clusters/unkept";
    const headers = { "Content-Type": "application/json" };
    const controllers = JSON.stringify({ controllers: ["*", "-endpointslice-controller"] });
    expect((await fetch(server.url + cluster, { method: "PUT", headers, body: controllers })).status).toBe(201);
    await post(`${cluster}/api/v1/namespaces/default/services`, {
      metadata: { name: "web" },
      spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
    });
    const { code, outcome } = await report(["--server", server.url, "--cluster", "unkept"]);
    const notices = ["EndpointSlices were not compared with Pods: endpointslice-controller is switched off in this cluster"];
    expect([code, outcome.wrong, outcome.notices.map(({ message }) => message)]).toEqual([0, [], notices]);
    const raw = await getJson<CheckOutcome>(`${server.url}${cluster}/check`);
    expect(raw.notices.map(({ message }) => message)).toEqual(notices);
  });

  it("cluster named by its kubeconfig: reached", async () => {
    expect(await report(["--kubeconfig", server.kubeconfig, "--repair"])).toMatchObject({
      code: 0,
      outcome: { server: server.url, wrong: [], repaired: [] },
    });
  });
});

describe("any other API server", () => {
  /** What is answered on a path, whatever the lists have. */
  type Answers = Readonly<Record<string, { code: number; body: object }>>;

  /** Serves the lists of an upstream cluster, to whom it knows. */
  function upstream(lists: Record<string, object[]>, token: string, answers: Answers): Promise<HttpServer> {
    const http = createServer((request, response) => {
      const [path = ""] = (request.url ?? "").split("?");
      const items = lists[path];
      const isKnown = request.headers.authorization === `Bearer ${token}`;
      const listed = items
        ? { code: 200, body: { kind: "List", metadata: { resourceVersion: "7" }, items } }
        : { code: 404, body: { kind: "Status", code: 404, message: "no" } };
      const { code, body } = isKnown ? (answers[path] ?? listed) : { code: 401, body: { kind: "Status", code: 401, message: "no" } };
      response.writeHead(code, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    });
    return new Promise((resolve) => http.listen(0, "127.0.0.1", () => resolve(http)));
  }
  const whole = () => ({
    "/api/v1/services": [service("kubernetes", "10.96.0.1"), service("web", "10.96.0.2")],
    "/apis/networking.k8s.io/v1/ipaddresses": [ipAddress("10.96.0.1", "kubernetes"), ipAddress("10.96.0.2", "web")],
    "/apis/networking.k8s.io/v1/servicecidrs": [serviceCIDR("kubernetes", ["10.96.0.0/16"])],
  });

  async function against(lists: Record<string, object[]>, args: readonly string[] = ["--token", "secret"], answers: Answers = {}) {
    const http = await upstream(lists, "secret", answers);
    try {
      return await runProgram("check", ["--server", `http://127.0.0.1:${(http.address() as AddressInfo).port}`, ...args]);
    } finally {
      http.close();
    }
  }

  it("upstream's server: checked by what it serves", async () => {
    const { code, out } = await against(whole());
    expect([code, out.split("\n").slice(1)]).toEqual([0, ["", "Nothing is wrong.", ""]]);
    expect(out).toContain(": 2 Services, 2 IPAddresses, 1 ServiceCIDRs\n");
  });

  it("upstream's EndpointSlices: compared with its Pods", async () => {
    const metadata = { namespace: "default", uid: "1", labels: { app: "web" } };
    const labels = {
      "kubernetes.io/service-name": "web",
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    };
    const conditions = { ready: true, serving: true, terminating: false };
    const targetRef = { kind: "Pod", namespace: "default", name: "p", uid: "1" };
    const endpoint = { addresses: ["10.244.0.1"], conditions, targetRef, nodeName: "n" };
    const web = {
      ...service("web", "10.96.0.2"),
      spec: { ...service("web", "10.96.0.2").spec, selector: { app: "web" }, ports: [{ port: 80 }] },
    };
    const lists = {
      ...whole(),
      "/api/v1/services": [service("kubernetes", "10.96.0.1"), web],
      "/api/v1/nodes": [{ metadata: { name: "n" } }],
      "/api/v1/pods": [
        {
          metadata: { ...metadata, name: "p" },
          spec: { nodeName: "n", containers: [] },
          status: { podIPs: [{ ip: "10.244.0.1" }], conditions: [{ type: "Ready", status: "True" }] },
        },
      ],
      "/apis/discovery.k8s.io/v1/endpointslices": [
        {
          metadata: { ...metadata, name: "web-1", labels },
          addressType: "IPv4",
          ports: [{ name: "", protocol: "TCP", port: 80 }],
          endpoints: [endpoint],
        },
      ],
    };
    const { code, out } = await against(lists);
    expect([code, out.split("\n").slice(1)]).toEqual([0, ["", "Nothing is wrong.", ""]]);
  });

  it("Service without its IPAddress: named, exit code 1", async () => {
    const lists = whole();
    lists["/apis/networking.k8s.io/v1/ipaddresses"].pop();
    const { code, out } = await against(lists);
    expect(code).toBe(1);
    expect(out).toMatch(/\nWrong: 1\n {2}I2: default\/web holds 10\.96\.0\.2, which has no IPAddress\n$/);
  });

  const nodes = [{ metadata: { name: "one", uid: "1" }, spec: { podCIDR: "10.96.7.0/24" }, status: { addresses: [] } }];
  const endpoints = { subsets: [{ addresses: [{ ip: "10.96.200.1" }] }] };

  it("ranges around a podCIDR and around the API server: notices, exit code 0", async () => {
    const { code, out } = await against({ ...whole(), "/api/v1/nodes": nodes }, undefined, {
      "/api/v1/namespaces/default/endpoints/kubernetes": { code: 200, body: endpoints },
    });
    expect([code, out.split("\n").slice(1)]).toEqual([
      0,
      [
        "",
        "Notices: 2",
        "  10.96.0.0/16 of the ServiceCIDR kubernetes overlaps the podCIDR 10.96.7.0/24 of the Node one",
        "  10.96.0.0/16 of the ServiceCIDR kubernetes contains 10.96.200.1, an address of the API servers (endpoints of default/kubernetes)",
        "",
        "Nothing is wrong.",
        "",
      ],
    ]);
  });

  it("Nodes that the client may not list: left out, exit code 0", async () => {
    const { code, out } = await against({ ...whole(), "/api/v1/nodes": nodes }, undefined, {
      "/api/v1/nodes": { code: 403, body: { kind: "Status", code: 403 } },
    });
    expect([code, out.split("\n").slice(1)]).toEqual([0, ["", "Nothing is wrong.", ""]]);
  });

  it("kinds that the server does not serve: not checked, exit code 2", async () => {
    const { code, out } = await against({ "/api/v1/services": whole()["/api/v1/services"] });
    expect(code).toBe(2);
    expect(out).toMatch(/\nNot checked: 2\n[^]*\nNothing is wrong in what was checked\.\n$/);
  });

  it("token: read from a file; a wrong one refused", async () => {
    const file = join(server.folder, "token");
    writeFileSync(file, "secret\n");
    expect((await against(whole(), ["--token", `@${file}`])).code).toBe(0);
    const { code, err } = await against(whole(), ["--token", "other"]);
    expect([code, err.split("\n").length]).toEqual([2, 2]);
    expect(err).toMatch(/^check: .* answers 401/);
  });
});

describe("an object whose stored text is no JSON", () => {
  /** Serves `names` as Services page by page, as Servicenet does, but breaks the texts of some. */
  function damaged(names: readonly string[], broken: readonly string[]): Promise<HttpServer> {
    const http = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://h");
      if (pathname !== "/api/v1/services") return void response.writeHead(404).end("{}");
      const token = decodeContinue(searchParams.get("continue") ?? "");
      const behind = token.ok ? names.indexOf(token.value.start.replace("default/", "")) + 1 : 0;
      const page = names.slice(behind, behind + Math.min(3, Number(searchParams.get("limit"))));
      const start = `default/${page.at(-1) ?? ""}`;
      const more = page.at(-1) !== names.at(-1) ? { continue: encodeContinue({ revision: 7, start, incarnation: "i", madeAt: 0 }) } : {};
      const { head, tail } = listEnvelope("Service", "v1", { resourceVersion: "7", ...more });
      const rows = page.map((name) =>
        broken.includes(name) ? '{"metadata":{' : JSON.stringify(service(name, "None", { clusterIPs: [] })),
      );
      response.writeHead(200, { "Content-Type": "application/json" }).end(head + rows.join(",") + tail);
    });
    return new Promise((resolve) => http.listen(0, "127.0.0.1", () => resolve(http)));
  }

  it.each([
    ["in the middle of a page", ["c"], ["Service default/c"]],
    ["the first of the list and its neighbour", ["a", "b"], ["Service default/a", "Service default/b"]],
    ["the last of the list, which no token names", ["z"], ["Service behind default/kubernetes"]],
  ])("unreadable Service, %s: named, and the others are checked", async (_, broken, labels) => {
    const http = await damaged(["a", "b", "c", "d", "e", "kubernetes", "z"], broken);
    try {
      const { outcome } = await report(["--server", `http://127.0.0.1:${(http.address() as AddressInfo).port}`]);
      expect(outcome.checked.services).toBe(7 - broken.length);
      expect(outcome.wrong.flatMap(({ rule, objects }) => (rule === "object" ? objects : []))).toEqual(labels);
    } finally {
      http.close();
    }
  });
});

describe("the command line", () => {
  it.each([
    ["an unknown option", ["--force"], /^Unknown option '--force'.*\(npm run check -- --help shows the options\)$/],
    ["a server that is no URL", ["--server", "here"], /^--server here: must be a URL$/],
    ["a cluster that is no name", ["--cluster", "A_b"], /^--cluster A_b: must be a DNS label$/],
    ["an unknown format", ["--output", "xml"], /^--output xml: must be one of text, json$/],
    ["a wait that is no number", ["--wait", "soon"], /^--wait soon: must be a whole number from 0 to 99999$/],
    ["a context without a kubeconfig", ["--context", "x"], /^--context: goes with --kubeconfig$/],
    ["a kubeconfig that is not there", ["--kubeconfig", "/nowhere/config"], /^--kubeconfig \/nowhere\/config: ENOENT/],
    ["a token file that is not there", ["--token", "@/nowhere/token"], /^--token @\/nowhere\/token: ENOENT/],
  ])("%s: one line", async (_, args, message) => {
    await expect(parseOptions(args)).rejects.toThrow(message);
  });

  it("absent options: defaults", async () => {
    expect(await parseOptions([])).toMatchObject({ repair: false, waitMs: 120_000, json: false });
    const given = await parseOptions(["--server", "https://here/", "--cluster", "blue", "--token", "t", "--wait", "5"]);
    const options = { headers: { Authorization: "Bearer t" } };
    expect(given).toMatchObject({ target: { url: "https://here/clusters/blue", options }, waitMs: 5_000 });
  });

  it("a server that does not answer: one line, exit code 2; --help: exit code 0", async () => {
    const [refused, help] = await Promise.all([runProgram("check", ["--server", "http://127.0.0.1:1"]), runProgram("check", ["--help"])]);
    expect([refused.code, refused.out]).toEqual([2, ""]);
    expect(refused.err).toMatch(/^check: http:\/\/127\.0\.0\.1:1 does not answer: GET .*ECONNREFUSED.*\n$/);
    expect([help.code, help.out.startsWith("Usage: npm run check")]).toEqual([0, true]);
  });

  it.each([
    ["check", 2],
    ["backup", 1],
  ] as const)("%s of an absent cluster: one line that names the cluster, exit code %i", async (program, exitCode) => {
    const file = program === "backup" ? ["--file", join(server.folder, "nobody.jsonl")] : [];
    const { code, err } = await runProgram(program, ["--server", server.url, "--cluster", "nobody", ...file]);
    expect([code, err]).toEqual([exitCode, `${program}: ${server.url}/clusters/nobody: clusters "nobody" not found\n`]);
  });
});
