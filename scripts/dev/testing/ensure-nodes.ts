/** The versions of Node that are supported beside the oldest one: `npm test` runs on each of them in .ci/run. */
import { delimiter, join } from "node:path";
import { root } from "./commands";
import { type Counts, oneFailed, onePassed } from "./counts";
import { type NodeVersion, type OtherNode, otherNode } from "./other-node";

const VERSIONS: readonly NodeVersion[] = [
  {
    version: "22.23.3",
    integrity: {
      "linux-x64": "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
      "linux-arm64": "sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==",
    },
  },
  {
    version: "24.21.0",
    integrity: {
      "linux-x64": "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
      "linux-arm64": "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
    },
  },
];

/** Installs what is missing; a machine that cannot fails this step loudly. */
export function ensureNodes(): { nodes: readonly OtherNode[]; counts: Counts } {
  try {
    return { nodes: VERSIONS.map((version) => otherNode(version, { cache: join(root, ".cache", "nodes") })), counts: onePassed };
  } catch (error) {
    console.error(`FAILED Node could not be installed: ${error instanceof Error ? error.message : String(error)}`);
    return { nodes: [], counts: oneFailed("further versions of Node") };
  }
}

/** The variables of a command that shall run on `node`, with all that it starts. */
export function variablesFor({ folder }: OtherNode): { PATH: string } {
  return { PATH: [folder, process.env["PATH"] ?? ""].join(delimiter) };
}
