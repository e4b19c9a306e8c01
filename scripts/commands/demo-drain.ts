/** `npm run demo:drain`: a load balancer takes a node out before it goes, because it asks at /nodes/{node}/healthz; without the gate it does not. */
import { constants } from "node:os";
import { printResult } from "../demo/result";
import { oneOf, parseCommandLine, runProgram } from "../terminal/command-line";
import { progressOn } from "../terminal/progress";

const GATES = ["on", "off", "both"] as const;
/** A shell's exit code for a program that a signal has ended is the signal's number and this. */
const BY_SIGNAL = 128;

const usage = `Usage: npm run demo:drain -- [options]

Runs a server, three nodes with agents and proxies, a small load balancer and its clients on loopback addresses (127.180.0.0 and up).
node-1 is tainted and removed as the cluster autoscaler does it, then the agent of node-2 is killed. Prints connections before, during and after
(docs/load-balancer-health-checks.md).

  --gate on|off|both  the gate KubeProxyDrainingTerminatingNodes of the server (both: one run after the other)
  --short             phases of one second instead of five
  --help              this text

Exit code: 0 no request failed with the gate on, and some did with it off; 1 it was not so, or it did not work; 2 wrong options;
130 Ctrl-C.`;

const code = await runProgram({
  name: "demo",
  usage,
  parse: (args) => {
    const parsed = parseCommandLine("npm run demo:drain", {
      args,
      options: { gate: { type: "string", default: "both" }, short: { type: "boolean", default: false } },
    });
    if (parsed === "help") return "help";
    const { gate, short } = parsed.values;
    const chosen = oneOf("--gate", gate, GATES);
    return { gates: chosen === "both" ? [true, false] : [chosen === "on"], phaseSeconds: short ? 1 : 5 };
  },
  main: async ({ gates, phaseSeconds }) => {
    const { demoDrain } = await import("../demo/drain");
    const progress = progressOn(process.stderr);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => {
        progress.clear();
        process.exit(BY_SIGNAL + constants.signals[signal]);
      });
    }
    let isAsPromised = true;
    for (const gate of gates) {
      console.log(`KubeProxyDrainingTerminatingNodes=${String(gate)}`);
      const result = await demoDrain({ gate, phaseSeconds, log: (line) => progress.wait(line) });
      progress.clear();
      isAsPromised = printResult(gate, result, (line) => console.log(line)) && isAsPromised;
    }
    return isAsPromised ? 0 : 1;
  },
});
process.exit(code);
