/** What `npm run demo:drain` prints, and whether it is as promised. */
import type { DrainResult } from "./drain";
import type { Phase } from "./phases";

const NODES = ["node-1", "node-2", "node-3"];
const columns = (cells: readonly (string | number)[]): string =>
  cells.map((cell, i) => (i === 0 ? String(cell).padEnd(40) : String(cell).padStart(10))).join("");

interface Claim {
  readonly text: string;
  readonly isSo: boolean;
}

/** Prints a table of the phases and a line for each claim; true = all are so. */
export function printResult(gate: boolean, result: DrainResult, print: (line: string) => void): boolean {
  print(columns(["new connections + held ones at", "seconds", ...NODES, "answered", "failed"]));
  for (const { name, seconds, nodes, requests } of result.phases) {
    const atNodes = nodes.map(({ given, held }) => `${String(given)}+${String(held)}`);
    print(columns([name, seconds.toFixed(1), ...atNodes, requests.answered, requests.failed]));
  }
  print("");
  const claims = gate ? claimsOn(result) : claimsOff(result);
  for (const { text, isSo } of claims) print(`${isSo ? "ok " : "NOT SO "} ${text}`);
  print("");
  return claims.every(({ isSo }) => isSo);
}

/** The phases up to the end of node-1, and the others. */
function halves(phases: readonly Phase[]): [drained: readonly Phase[], silenced: readonly Phase[]] {
  const at = phases.findIndex(({ name }) => name.startsWith("node-2"));
  return [phases.slice(0, at), phases.slice(at)];
}

const sum = (phases: readonly Phase[], of: "answered" | "failed"): number => phases.reduce((total, phase) => total + phase.requests[of], 0);
const requestsOf = (phases: readonly Phase[]): number => sum(phases, "answered") + sum(phases, "failed");
const givenTo = (phases: readonly Phase[], node: number): number => phases.reduce((total, phase) => total + at(phase, node, "given"), 0);
const phaseOf = (phases: readonly Phase[], start: string): Phase | undefined => phases.find(({ name }) => name.startsWith(start));
/** At a node in a phase. */
const at = (phase: Phase | undefined, node: number, what: "given" | "held"): number => phase?.nodes[node - 1]?.[what] ?? NaN;

function claimsOn({ phases, restarts }: DrainResult): Claim[] {
  const late = at(phaseOf(phases, "node-1 drains"), 1, "given");
  const heldIn = (name: string): number => at(phaseOf(phases, name), 1, "held");
  const [before, during, last, after] = [
    heldIn("before"),
    heldIn("node-1 drains"),
    heldIn("node-1 has no Node"),
    heldIn("node-1 is removed"),
  ];
  const [livez, healthz] = [restarts?.["/livez"] ?? NaN, restarts?.["/healthz"] ?? NaN];
  const failed = sum(phases, "failed");
  return [
    { text: `${String(failed)} of ${String(requestsOf(phases))} requests failed`, isSo: failed === 0 },
    triedOnce(phases),
    { text: `${String(late)} new connections at node-1 after its /healthz was 503`, isSo: late === 0 },
    {
      text: `held connections at node-1: ${String(before)} before the taint, ${String(during)} while it drains, ${String(last)} until it is removed, ${String(after)} then`,
      isSo: before > 0 && before === during && before === last && after === 0,
    },
    silence(phases),
    { text: `liveness probe at /livez of a draining node: ${String(livez)} restarts of the proxy`, isSo: livez === 0 },
    { text: `liveness probe at /healthz of a draining node: ${String(healthz)} restarts, without an end`, isSo: healthz >= 2 },
  ];
}

function claimsOff({ phases }: DrainResult): Claim[] {
  const [drained, silenced] = halves(phases);
  const late = at(phaseOf(phases, "node-1 has the taint"), 1, "given");
  const [failed, failedLater] = [sum(drained, "failed"), sum(silenced, "failed")];
  return [
    { text: `${String(failed)} of ${String(requestsOf(drained))} requests failed until node-1 was gone`, isSo: failed > 0 },
    triedOnce(phases),
    { text: `${String(late)} new connections at node-1 after its taint`, isSo: late > 0 },
    silence(phases),
    { text: `${String(failedLater)} of ${String(requestsOf(silenced))} requests failed after that`, isSo: failedLater === 0 },
  ];
}

/** A balancer that tries a request again gives it to a second node. */
function triedOnce(phases: readonly Phase[]): Claim {
  const [requests, given] = [requestsOf(phases), NODES.reduce((total, _, i) => total + givenTo(phases, i + 1), 0)];
  return {
    text: `${String(requests)} requests were ${String(given)} connections to nodes: none was tried at a second one`,
    isSo: requests === given,
  };
}

/** The claim about node-2, whose proxy goes on without its agent. */
function silence(phases: readonly Phase[]): Claim {
  const given = at(phaseOf(phases, "node-2 is silent"), 2, "given");
  return { text: `${String(given)} new connections at node-2 after the silence of its agent was noticed`, isSo: given === 0 };
}
