/** What `npm run bench -- --only profile-creates` makes of a profile. */
import { expect, it } from "vitest";
import { transformSync } from "esbuild";
import { type CpuProfile, profiledFunctions } from "../../../scripts/dev/bench/profile/profiled-functions";

const SOURCE = `function outer() {
  inner();
}
function inner() {}
outer();
`;

const { code } = transformSync(SOURCE, { sourcemap: "inline", sourcefile: "src/some.ts", minifyWhitespace: true });

/** The place of a function as V8 has it: that of its parameters. */
function frame(functionName: string) {
  const head = code.slice(0, code.indexOf(`function ${functionName}`)).split("\n");
  return { functionName, url: "index.js", lineNumber: head.length - 1, columnNumber: head.at(-1)?.length ?? 0 };
}

const native = (functionName: string) => ({ functionName, url: "", lineNumber: -1, columnNumber: -1 });

const PROFILE: CpuProfile = {
  nodes: [
    { id: 1, callFrame: native("(root)"), children: [2, 3, 6] },
    { id: 2, callFrame: native("(idle)") },
    { id: 3, callFrame: frame("outer"), children: [4, 5] },
    { id: 4, callFrame: frame("inner"), children: [7] },
    { id: 5, callFrame: native("exec") },
    { id: 6, callFrame: native("(program)") },
    { id: 7, callFrame: native("") },
  ],
  samples: [1, 2, 2, 3, 4, 4, 5, 6, 7, 7, 7],
};

it("a profile: shares by function, with places of the sources, and code of the runtime by its caller; idle time does not count", () => {
  const rows = profiledFunctions(PROFILE, code).map(({ name, self, total }) => [name, self.toFixed(3), total.toFixed(3)]);
  expect(rows).toEqual([
    ["(native) of inner src/some.ts:4", "0.375", "0.375"],
    ["inner src/some.ts:4", "0.250", "0.625"],
    ["outer src/some.ts:1", "0.125", "0.875"],
    ["exec", "0.125", "0.125"],
    ["(program)", "0.125", "0.125"],
  ]);
});

it("a function that calls itself: counts once", () => {
  const nodes = [
    { id: 1, callFrame: native("(root)"), children: [2] },
    { id: 2, callFrame: frame("outer"), children: [3] },
    { id: 3, callFrame: frame("outer") },
  ];
  expect(profiledFunctions({ nodes, samples: [2, 3] }, code)).toEqual([{ name: "outer src/some.ts:1", self: 1, total: 1 }]);
});

it("a bundle without a source map: refused", () => {
  expect(() => profiledFunctions(PROFILE, SOURCE)).toThrow("source map");
});
