/** What needs no types. Rules that do are in .oxlintrc.json: their findings may come from a change of another file, so they are never kept. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import js from "@eslint/js";
import { tsImport } from "tsx/esm/api";
import tseslint from "typescript-eslint";

const root = fileURLToPath(new URL(".", import.meta.url));
/** @type {typeof import("./scripts/dev/layers")} */
const { importViolation } = await tsImport("./scripts/dev/layers.ts", import.meta.url);

/** ESLint keeps results by the versions of plugins, so the table and this file are the version of theirs. */
const tableHash = createHash("sha256")
  .update(readFileSync(fileURLToPath(import.meta.url)))
  .update(readFileSync(join(root, "scripts", "dev", "layers.ts")))
  .digest("hex");

/** Imports only go down; the table and its reasons are in scripts/dev/layers.ts. */
const layers = {
  meta: { type: "problem", schema: [] },
  create(context) {
    const file = relative(root, context.filename).split(sep).join("/");
    const check = (node) => {
      if (typeof node.source?.value !== "string") return;
      const violation = importViolation(file, node.source.value, node.importKind === "type" || node.exportKind === "type");
      if (violation) context.report({ node, message: violation });
    };
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check, ImportExpression: check };
  },
};

const clock = "time comes from the Clock port (src/core/base/ports.ts), so that the simulation can replay a history from its seed";
const random = "randomness comes from the Random port (src/core/base/ports.ts), so that the simulation can replay a history from its seed";
const recorder = "log lines go through the Recorder port (src/core/base/ports.ts)";

/** One style for the events of the log. */
/** Arguments stand on the stack, which a list as long as clients can make it overflows. */
const manyArguments = ["Math", "String"].map((name) => ({
  selector: `CallExpression[callee.object.name='${name}'] > SpreadElement`,
  message: "the list may be too long for arguments: leastOf, greatestOf, or a loop",
}));

const eventNames = {
  selector: "CallExpression[callee.property.name='log'] > Literal[value=/^[a-z]+\\.[a-z]/i]",
  message: "an event of the log is a short phrase (docs/metrics.md)",
};

/** Acknowledging before the disk has it, forbidden wherever storage is touched. */
const unsafeStorage = [
  {
    selector: ":matches(Property, MemberExpression, AssignmentExpression) > Identifier[name=/^allow(Unconfirmed|Concurrency)$/]",
    message: "a success that a client saw must survive a crash (I4): no unconfirmed writes, no open input gate",
  },
  {
    selector: "Literal[value=/^allow(Unconfirmed|Concurrency)$/]",
    message: "a success that a client saw must survive a crash (I4): no unconfirmed writes, no open input gate",
  },
  {
    selector: "CallExpression[callee.property.name='transactionSync'] > :matches(ArrowFunctionExpression, FunctionExpression)[async=true]",
    message: "an async callback commits silently at its first await: transactionSync takes synchronous code only",
  },
];

export default tseslint.config(
  { ignores: ["node_modules/", "dist/", ".servicenet/", ".wrangler/", ".cache/", "coverage/"] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "prefer-const": "error",
      "no-undef": "off",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "separate-type-imports" }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true }],
    },
  },
  {
    files: ["src/**/*.ts", "durable-objects/**/*.ts"],
    plugins: { servicenet: { meta: { name: "servicenet", version: tableHash }, rules: { layers } } },
    rules: {
      "servicenet/layers": "error",
      "no-restricted-syntax": ["error", ...unsafeStorage, eventNames, ...manyArguments],
      "@typescript-eslint/no-non-null-assertion": "error",
    },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/worker/**"],
    rules: {
      "no-restricted-globals": [
        "error",
        { name: "console", message: recorder },
        ...["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "scheduler", "performance"].map((name) => ({
          name,
          message: clock,
        })),
      ],
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now", message: clock },
        { object: "Math", property: "random", message: random },
        { object: "crypto", property: "randomUUID", message: random },
        { object: "crypto", property: "getRandomValues", message: random },
      ],
      "no-restricted-syntax": [
        "error",
        ...unsafeStorage,
        eventNames,
        ...manyArguments,
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: clock },
        { selector: "CallExpression[callee.name='Date']", message: clock },
        { selector: "ExportDefaultDeclaration", message: "names are given once, by the exporting file" },
      ],
    },
  },
  {
    files: ["scripts/**/*.mjs", "*.config.js"],
    languageOptions: { globals: { process: "readonly", console: "readonly" } },
  },
);
