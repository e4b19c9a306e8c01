/** An agent on the ports of this machine. */
import {
  type AgentPorts,
  type AskProxy,
  type Ending,
  type EndpointKeeper,
  EndpointSet,
  PodKeeper,
  runAgent,
  SentApi,
  type Stop,
} from "../../src/clients/agent/index";
import type { LogLevel } from "../../src/core/base/log-level";
import { UserError } from "../terminal/user-error";
import { endpointFile } from "./endpoint-file";
import { machineOf } from "./machine";
import type { AgentOptions } from "./options";
import { probes } from "./probes";
import { stateFiles } from "./state-files";
import { targetSend } from "./target-send";

const clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  after: (ms: number, work: () => void) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};
const random = { next: () => Math.random(), uuid: () => crypto.randomUUID() };

/**
 * Resolves when the agent ends. Throws UserError for a file of endpoints that cannot be used.
 *
 * @param log gets a line for each thing that an operator should know
 */
export async function startAgent(
  options: AgentOptions,
  asked: Promise<Stop>,
  log: (line: string) => void,
  onReady: () => void,
): Promise<Ending> {
  const { target, tokenFile, stateFolder, syncPeriodMs, leaveAfterMs, proxyHealth, endpoints: flags, endpointsFile } = options;
  const recorder = {
    log: (_: LogLevel, event: string, fields: Record<string, string | number | boolean> = {}) => {
      const told = Object.entries(fields).map(([name, value]) => `${name}: ${String(value)}`);
      log(told.length > 0 ? `${event} (${told.join(", ")})` : event);
    },
  };
  const api = new SentApi(targetSend(target, tokenFile), clock, random);
  const ports = { clock, random, recorder, api, files: stateFiles(stateFolder) };
  const machine = machineOf(options);
  const askProxy = proxyHealth === undefined ? undefined : proxyAt(proxyHealth);
  const set = await EndpointSet.load(ports, { flags, file: endpointsFile === undefined ? undefined : endpointFile(endpointsFile) });
  if (!set.ok) throw new UserError(set.error);
  const endpoints = (held: AgentPorts): EndpointKeeper => new PodKeeper({ ...held, ...probes }, set.value);
  return runAgent(ports, { machine, syncPeriodMs, askProxy, leaveAfterMs, endpoints, onReady }, asked);
}

/** Each question is a connection of its own, as a load balancer's; its own time limit ends one that hangs. */
function proxyAt(url: string): AskProxy {
  return async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000), headers: { Connection: "close" }, redirect: "manual" });
    return { code: response.status, text: await response.text() };
  };
}
