/** The agent of a machine: its node and its processes as endpoints, kept true on any API server. */
export { runAgent, type Ending, type Stop } from "./agent";
export { readEndpointFlag } from "./endpoints/endpoint-flag";
export { EndpointSet } from "./endpoints/endpoint-set";
export type { EndpointText, HttpAnswer, ProbePorts } from "./endpoints/machine-ports";
export { PodKeeper } from "./endpoints/pod-keeper";
export { REDIRECTS } from "./endpoints/run-probe";
export type { Machine } from "./node/node-object";
export type { AskProxy } from "./node/proxy-reporter";
export type { AgentPorts, EndpointKeeper, StateFiles } from "./ports/agent-ports";
export { SentApi } from "./ports/api-client";
