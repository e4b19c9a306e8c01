import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type EndpointKeeper, runAgent, SentApi, type StateFiles, type Stop } from "servicenet/agent";

const [server = "http://127.0.0.1:8787", name = "machine-1", address = "192.0.2.1"] = process.argv.slice(2);
const folder = join("state", name);
await mkdir(folder, { recursive: true });

const clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  after: (ms: number, work: () => void) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};
const random = { next: () => Math.random(), uuid: () => crypto.randomUUID() };
const files: StateFiles = {
  read: (file) =>
    readFile(join(folder, file), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      return undefined;
    }),
  write: (file, text) => writeFile(join(folder, file), text, { flush: true }),
};
const api = new SentApi((path, init) => fetch(server + path, init as RequestInit), clock, random);
const recorder = { log: (_level: string, event: string) => console.log(event) };
/** This machine has no endpoints: PodKeeper is the one that keeps some. */
const endpoints: EndpointKeeper = { start: () => undefined, stop: () => Promise.resolve(), abandon: () => undefined };
const asked = new Promise<Stop>((resolve) => process.once("SIGINT", () => resolve("leave")));

const { code, message } = await runAgent(
  { clock, random, recorder, api, files },
  {
    machine: {
      name,
      hostname: name,
      addresses: [address],
      labels: { "kubernetes.io/hostname": name },
      nodeInfo: {
        ...{ architecture: "amd64", operatingSystem: "linux", kernelVersion: "", osImage: "", containerRuntimeVersion: "" },
        ...{ bootID: "", machineID: "", systemUUID: "", kubeletVersion: "", kubeProxyVersion: "" },
      },
      capacity: { pods: "0" },
    },
    syncPeriodMs: 30_000,
    askProxy: undefined,
    leaveAfterMs: 0,
    endpoints: () => endpoints,
    onReady: () => console.log(`${name} is a node`),
  },
  asked,
);
console.log(message);
process.exit(code);
