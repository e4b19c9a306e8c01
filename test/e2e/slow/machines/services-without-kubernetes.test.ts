/**
 * The two machines of docs/services-without-kubernetes.md, with the page's own commands: server, agents, kube-proxy and CoreDNS as they are, in network
 * namespaces.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kubectlCommand } from "../../../support/clients/kubectl-command";
import { type Machine, Machines, type Running } from "../../../support/machines/machines";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { root } from "../../../../scripts/running/root.mjs";
import { LONG_PATIENCE } from "../../../support/server/patience";

const page = readFileSync(join(root, "docs", "services-without-kubernetes.md"), "utf8");
const [, walk = ""] = /^## Two machines, one Service\n([^]*?)^## /m.exec(page) ?? [];
const blocks = [...walk.matchAll(/^```(sh)?\n([^]*?)^```$/gm)].map(([, , text = ""]) => text.trimEnd());

const SERVER: Machine = { name: "server", address: "192.0.2.1" };
const ONE: Machine = { name: "one", address: "192.0.2.11" };
const TWO: Machine = { name: "two", address: "192.0.2.12" };
const folder = temporaryFolder();
const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
const path = `${join(folder, "bin")}${delimiter}${process.env["PATH"] ?? ""}`;
const machines = new Machines({ cwd: root, env: { ...own, PATH: path, XDG_STATE_HOME: join(folder, "state") } });

/** The page's block that begins with these words; the page's folder is the test's. */
function block(words: string): string {
  const [found, ...more] = blocks.filter((text) => text.startsWith(words));
  if (found === undefined || more.length > 0) throw new Error(`the page has not one block "${words}"`);
  return found.replaceAll(".servicenet/", `${folder}/data/`);
}

/** What the page says of `one`, on this machine. */
const of = ({ name, address }: Machine, command: string): string =>
  command.replaceAll(ONE.address, address).replaceAll(/(--node |--hostname-override=|\/)one\b/g, `$1${name}`);

const kubectl = (args: string): string => machines.run("server", `kubectl --kubeconfig ${folder}/data/kubeconfig ${args}`);

beforeAll(() => {
  mkdirSync(join(folder, "bin"));
  const built = (name: string): string | undefined => [join(root, ".cache", name)].find(existsSync);
  for (const [name, program] of Object.entries({
    kubectl: kubectlCommand(),
    "kube-proxy": built("kube-proxy"),
    coredns: built("coredns"),
  })) {
    if (program === undefined) throw new Error(`there is no ${name}: run .ci/run once`);
    if (isAbsolute(program)) symlinkSync(program, join(folder, "bin", name));
  }
  machines.make([SERVER, ONE, TWO]);
  writeFileSync(join(folder, "Corefile"), block(".:53 {"));
});
afterAll(async () => {
  await machines.end();
  removeFolder(folder);
});

const WEB = `
  require("node:http").createServer(({ url }, response) => {
    if (url === "/healthz") return response.end("ok");
    setTimeout(() => response.end(process.argv[1] + "\\n"), 50);
  }).listen(8080);`;

/** Asks for the name every 50 ms over a connection of its own, and says who answers, or what went wrong. */
const CLIENT = `
  const { get } = require("node:http");
  setInterval(() => {
    const asked = get("http://web.default.svc.cluster.local/", { agent: false, timeout: 60000 }, (response) => {
      response.setEncoding("utf8").on("data", (text) => process.stdout.write(text)).on("error", ({ message }) => console.log("FAILED " + message));
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer")));
    asked.on("error", ({ message }) => console.log("FAILED " + message));
  }, 50);`;

const program = (machine: Machine, text: string): Running => machines.start(machine.name, `node -e '${text}' ${machine.name}`);
const shown = (running: Running, pattern: RegExp) => expect.poll(() => running.output(), LONG_PATIENCE).toMatch(pattern);

it(
  "docs/services-without-kubernetes.md: a name leads to both machines, and one that stops costs no request",
  { timeout: 600_000 },
  async () => {
    const server = machines.start("server", `${block("npm start")} --data-dir ${folder}/data`);
    await shown(server, /ready at https:\/\/192\.0\.2\.1:8787/);
    machines.run("server", block("umask"));
    const agents = [ONE, TWO].map((machine) => {
      program(machine, WEB);
      return machines.start(machine.name, of(machine, block("npm run agent")));
    });
    for (const machine of [ONE, TWO]) {
      // The kernel's limits are not a namespace's to change (docs/clients.md).
      machines.start(machine.name, `${of(machine, block("kube-proxy"))} --conntrack-max-per-core=0`);
      machines.resolves(machine.name, "nameserver 127.0.0.1\n");
      machines.start(machine.name, block("coredns").replace("Corefile", `${folder}/Corefile`));
    }
    for (const agent of agents) await shown(agent, /an endpoint is ready/);
    machines.run("server", `export KUBECONFIG=${folder}/data/kubeconfig\n${block("kubectl apply")}`);

    const [, two] = agents;
    if (!two) throw new Error("there are two");
    await expect.poll(() => kubectl("get nodes --no-headers"), LONG_PATIENCE).toMatch(/^one +Ready .*\ntwo +Ready .*\n$/);
    await expect
      .poll(() => kubectl("get --raw /nodes/two/healthz"), LONG_PATIENCE)
      .toMatch(/"healthy":true,"status":\{"IPv4":\{"lastUpdated"/);
    // Names and addresses are there as soon as CoreDNS and kube-proxy have heard of the Service.
    const curl = () => machines.run("two", `${block("curl")} --silent --max-time 5 || true`);
    await expect.poll(curl, LONG_PATIENCE).toMatch(/^(one|two)\n$/);

    const client = program(ONE, CLIENT);
    await shown(client, /one\n[^]*two\n[^]*one\n[^]*two\n/);
    const before = client.output();
    two.child.kill("SIGTERM");
    const states = () =>
      kubectl(
        `get endpointslices -l kubernetes.io/service-name=web -o jsonpath='{range .items[*].endpoints[*]}{.nodeName} {.conditions}{"\\n"}{end}'`,
      );
    await expect.poll(states, LONG_PATIENCE).toContain(`two {"ready":false,"serving":true,"terminating":true}`);
    expect(await two.ended).toBe(0);
    const mark = client.output().length;
    await expect.poll(() => client.output().slice(mark), LONG_PATIENCE).toMatch(/(one\n){50}/);
    expect(client.output().slice(mark)).not.toContain("two");
    expect(client.output()).not.toContain("FAILED");
    expect(before).toContain("two");
    await expect.poll(states, LONG_PATIENCE).not.toContain("two");
  },
);
