/**
 * kube-proxy, CoreDNS and, before a release, kube-controller-manager as they are, on a quiet cluster whose stores sleep: whatever watches end and begin
 * again meanwhile, nobody lists twice, and a change at the end reaches them all. Before a release it takes as long as client-go's longest watch.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AuditRecord } from "../../../../src/access/audit/audit-record";
import { root } from "../../../../scripts/running/root.mjs";
import { type Machine, Machines, type Running } from "../../../support/machines/machines";
import { isRelease } from "../../../support/server/is-release";
import { LONG_PATIENCE } from "../../../support/server/patience";
import { removeFolder, temporaryFolder } from "../../../support/server/server";

/** client-go's watches end after 5 to 10 minutes: in the long form each has been opened again. */
const QUIET_MS = isRelease ? 630_000 : 40_000;
/** Between two small changes. */
const CHANGE_MS = isRelease ? 90_000 : 12_000;

const HOST: Machine = { name: "quiet", address: "192.0.2.1" };
/** Those that the server leaves to kube-controller-manager (docs/clients.md). */
const HANDED_OVER = [
  "endpointslice-controller",
  "endpoints-controller",
  "endpointslice-mirroring-controller",
  "garbage-collector-controller",
];
const PROGRAMS = ["kube-proxy", "coredns", ...(isRelease ? ["kube-controller-manager"] : [])];
const folder = temporaryFolder();
const data = join(folder, "data");
const kubeconfig = join(data, "kubeconfig");
const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
const machines = new Machines({ cwd: root, env: own });
let server: Running;

const programs: Readonly<Record<string, string>> = {
  "kube-proxy": `--kubeconfig ${kubeconfig} --proxy-mode=nftables --hostname-override=${HOST.name} --conntrack-max-per-core=0`,
  coredns: `-conf ${join(folder, "Corefile")}`,
  "kube-controller-manager": `--kubeconfig ${kubeconfig} --secure-port=0 --leader-elect=false --controllers=${HANDED_OVER.join(",")}`,
};

const COREFILE = `.:1053 {
    errors
    kubernetes cluster.local {
        kubeconfig ${kubeconfig} servicenet
    }
}
`;

const ASK = `
  const resolver = new (require("node:dns").Resolver)({ timeout: 1000, tries: 2 });
  resolver.setServers(["127.0.0.1:1053"]);
  resolver.resolve4(process.argv[1] + ".default.svc.cluster.local", (error, addresses) => console.log(error ? error.code : addresses.join()));`;

const api = (method: string, path: string, body?: object, type = "application/json"): string => {
  const sent = body ? ` -H 'Content-Type: ${type}' -d '${JSON.stringify(body)}'` : "";
  const ca = `--cacert ${join(data, "ca.crt")} -H "Authorization: Bearer $(cat ${join(data, "admin-token")})"`;
  return machines.run(HOST.name, `curl --silent --show-error --fail-with-body ${ca} -X ${method}${sent} https://127.0.0.1:8787${path}`);
};

function pod(name: string, ip: string): void {
  const spec = { nodeName: HOST.name, containers: [{ name: "c", image: "example.com/c" }] };
  api("POST", "/api/v1/namespaces/default/pods", { metadata: { name, labels: { app: name } }, spec });
  const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] };
  api("PATCH", `/api/v1/namespaces/default/pods/${name}/status`, { status }, "application/strategic-merge-patch+json");
}

function service(name: string, clusterIP: string): void {
  const spec = { clusterIP, selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] };
  api("POST", "/api/v1/namespaces/default/services", { metadata: { name }, spec });
}

/** kube-proxy forwards the address to the Pod, for which a controller has made the slice; CoreDNS answers the name. */
async function expectSeen(name: string, clusterIP: string, ip: string): Promise<void> {
  await expect.poll(() => machines.run(HOST.name, `node -e '${ASK}' ${name}`), LONG_PATIENCE).toBe(`${clusterIP}\n`);
  const rules = () => machines.run(HOST.name, "nft list table ip kube-proxy 2>&1 || true");
  await expect.poll(rules, LONG_PATIENCE).toMatch(new RegExp(`${clusterIP.replaceAll(".", "\\.")} .*\\b80\\b`));
  await expect.poll(rules, LONG_PATIENCE).toContain(`${ip} . 8080`);
}

interface Reading {
  /** lists, and watches that begin with all objects */
  beginnings: number;
  watches: number;
}

/** What each informer of a program has read, by the program, what it reads and how it selects. */
function readings(): Map<string, Reading> {
  const found = new Map<string, Reading>();
  for (const [, text = ""] of server.output().matchAll(/^(\{.*"event":"audit".*\})$/gm)) {
    const { record } = JSON.parse(text) as { record: AuditRecord };
    const [program = ""] = (record.userAgent ?? "").split("/", 1);
    if (!["list", "watch"].includes(record.verb) || !PROGRAMS.includes(program) || record.responseStatus.code >= 400) continue;
    const { pathname, searchParams } = new URL(record.requestURI, "http://server");
    const selectors = ["labelSelector", "fieldSelector"].map((name) => searchParams.get(name) ?? "");
    // The last part of a name is that of one controller.
    const [, informer = ""] = /\/([a-z-]+)$/.exec(record.userAgent ?? "") ?? [];
    const key = [program, informer, pathname, ...selectors].filter((part) => part !== "").join(" ");
    const reading = found.get(key) ?? { beginnings: 0, watches: 0 };
    found.set(key, reading);
    if (record.verb === "watch") reading.watches++;
    if (record.verb === "list" || searchParams.has("sendInitialEvents")) reading.beginnings++;
  }
  return found;
}

beforeAll(() => {
  for (const name of PROGRAMS) if (!existsSync(join(root, ".cache", name))) throw new Error(`there is no ${name}: run .ci/run once`);
  machines.make([HOST]);
  machines.run(HOST.name, "ip route add default dev bridge");
  writeFileSync(join(folder, "Corefile"), COREFILE);
});
afterAll(async () => {
  await machines.end();
  removeFolder(folder);
});

it(
  `${PROGRAMS.join(", ")} for ${String(QUIET_MS / 1_000)} s over sleeping watches: nobody lists twice, and each hears of the last change`,
  { timeout: QUIET_MS + 400_000 },
  async () => {
    const handedOver = isRelease ? HANDED_OVER.map((name) => `,-${name}`).join("") : "";
    // Nobody renews the Lease of the Node.
    const controllers = `*,-node-lifecycle-controller,-pod-garbage-collector-controller${handedOver}`;
    const variables = `--var AUDIT_POLICY=writes=Metadata,reads=Metadata --var 'CONTROLLERS=${controllers}'`;
    server = machines.start(HOST.name, `npm start -- --data-dir ${data} --log json ${variables}`);
    await expect.poll(() => server.output(), LONG_PATIENCE).toMatch(/ready at https:/);
    const addresses = [{ type: "InternalIP", address: HOST.address }];
    api("POST", "/api/v1/nodes", { metadata: { name: HOST.name } });
    api("PATCH", `/api/v1/nodes/${HOST.name}/status`, { status: { addresses } }, "application/merge-patch+json");
    const running = PROGRAMS.map((name) => machines.start(HOST.name, `${join(root, ".cache", name)} ${programs[name] ?? ""}`));
    pod("first", "192.0.2.51");
    service("first", "10.96.0.81");
    await expectSeen("first", "10.96.0.81", "192.0.2.51");

    for (const endAt = Date.now() + QUIET_MS; Date.now() < endAt;) {
      await sleep(Math.min(CHANGE_MS, Math.max(0, endAt - Date.now())));
      api(
        "PATCH",
        "/api/v1/namespaces/default/services/first",
        { metadata: { annotations: { "example.com/at": String(Date.now()) } } },
        "application/merge-patch+json",
      );
    }
    pod("last", "192.0.2.52");
    service("last", "10.96.0.82");
    await expectSeen("last", "10.96.0.82", "192.0.2.52");
    for (const { child } of running) expect(child.exitCode).toBeNull();

    // An audit record is written when its answer is over.
    for (const { child, ended } of running) {
      child.kill("SIGTERM");
      await ended;
    }
    await sleep(2_000);
    const seen = readings();
    console.log(
      [...seen]
        .map(([what, { beginnings, watches }]) => `${what}: ${String(beginnings)} beginnings, ${String(watches)} watches`)
        .join("\n"),
    );
    for (const [what, { beginnings }] of seen) expect([what, beginnings]).toEqual([what, 1]);
    for (const name of PROGRAMS) expect([...seen.keys()].filter((what) => what.startsWith(`${name} `)).length, name).toBeGreaterThan(1);
    if (isRelease) for (const [what, { watches }] of seen) expect([what, watches >= 2]).toEqual([what, true]);
  },
);
