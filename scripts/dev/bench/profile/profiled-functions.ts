/** A CPU profile by function: names and places of the sources, not of the bundle. */
import { SourceMap, type SourceMapPayload } from "node:module";

/** As the DevTools protocol has it. */
export interface CpuProfile {
  nodes: readonly {
    id: number;
    /** `lineNumber` and `columnNumber` from 0; without a url it is no function of JavaScript */
    callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number };
    children?: readonly number[];
  }[];
  /** ids of the nodes that were seen running */
  samples: readonly number[];
}

export interface ProfiledFunction {
  /** as `put src/api/store/state/revisions.ts:326`, or `(garbage collector)` */
  name: string;
  /** of all samples, those that were in the function itself */
  self: number;
  /** the same with what it calls */
  total: number;
}

const NATIVE = "(native)";
/** Names of time in which nothing runs. */
const IDLE: readonly string[] = ["(idle)", "(root)"];

/** Shares of the samples in which anything ran, the largest `self` first. `bundle`: the text that runs, with its source map. */
export function profiledFunctions({ nodes, samples }: CpuProfile, bundle: string): ProfiledFunction[] {
  const places = sourceMapOf(bundle);
  const named = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame, places)]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  // Functions of the runtime often have no name.
  const names = new Map([...named].map(([id, name]) => [id, name || `${NATIVE} of ${named.get(parents.get(id) ?? 0) ?? "nobody"}`]));
  const functions = new Map<string, ProfiledFunction>();
  const busy = samples.filter((id) => !IDLE.includes(names.get(id) ?? ""));
  for (const sample of busy) {
    const stack = new Set<string>();
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) stack.add(names.get(id) ?? "");
    const [own] = stack;
    for (const name of stack) {
      const known = functions.get(name) ?? { name, self: 0, total: 0 };
      known.total += 1 / busy.length;
      if (name === own) known.self += 1 / busy.length;
      functions.set(name, known);
    }
  }
  return [...functions.values()].filter(({ name }) => !IDLE.includes(name)).sort((a, b) => b.self - a.self);
}

function sourceMapOf(bundle: string): SourceMap {
  const [, base64 = ""] = /\n\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/.exec(bundle) ?? [];
  if (base64 === "") throw new Error("the bundle has no source map");
  return new SourceMap(JSON.parse(Buffer.from(base64, "base64").toString()) as SourceMapPayload);
}

/** "" = code of the runtime without a name */
function nameOf({ functionName, url, lineNumber, columnNumber }: CpuProfile["nodes"][number]["callFrame"], places: SourceMap): string {
  if (url === "") return functionName;
  const name = functionName === "" ? "(anonymous)" : functionName;
  const { originalSource, originalLine } = places.findEntry(lineNumber, columnNumber) as { originalSource?: string; originalLine?: number };
  return originalSource === undefined || originalLine === undefined ? name : `${name} ${originalSource}:${String(originalLine + 1)}`;
}
