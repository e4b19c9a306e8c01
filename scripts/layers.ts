/**
 * The layers of the code, lowest first: one table that the lint rule (eslint.config.js) and the tidy check read.
 *
 * A file imports from its own folder, from folders on a lower step, and from those of its own step that `beside` names.
 * scripts/ and test/ import everything; nothing imports them.
 */
import { dirname, join, normalize } from "node:path/posix";

interface Folder {
  readonly path: string;
  /** folders of the same step that it may import */
  readonly beside?: readonly string[];
}

/** Steps of the ladder; the folders on one step do not see each other. */
export const steps: readonly (readonly Folder[])[] = [
  [{ path: "src/base" }],
  [
    { path: "src/net" },
    { path: "src/bitmap" },
    { path: "src/meta", beside: ["src/schema"] },
    { path: "src/schema" },
    { path: "src/fields", beside: ["src/meta", "src/schema"] },
    { path: "src/telemetry" },
  ],
  [
    { path: "src/config" },
    { path: "src/registry" },
    { path: "src/alloc", beside: ["src/rpc"] },
    { path: "src/topology", beside: ["src/rpc"] },
    { path: "src/ranges" },
    { path: "src/check", beside: ["src/ranges", "src/topology"] },
    { path: "src/backup", beside: ["src/check", "src/registry"] },
    { path: "src/import", beside: ["src/ranges", "src/topology"] },
    { path: "src/rpc", beside: ["src/config"] },
    { path: "src/tenancy", beside: ["src/rpc"] },
  ],
  [{ path: "src/store" }, { path: "src/events" }],
  [{ path: "src/coordinator" }, { path: "src/clusterip" }, { path: "src/controllers" }],
  [{ path: "durable-objects" }],
  [{ path: "src/worker" }],
];

/** Packages, and the folders that alone may import them. `types` allows type-only imports in further folders. */
export const packages: readonly { name: string; folders: readonly string[]; types?: readonly string[]; reason: string }[] = [
  { name: "ipaddr.js", folders: ["src/net"], reason: "it parses loosely; src/net wraps it in one strict parser" },
  { name: "hono", folders: ["src/worker"], reason: "HTTP routing belongs to the Worker" },
  { name: "fast-json-patch", folders: ["src/meta"], reason: "patching is pure API machinery" },
  {
    name: "yaml",
    folders: ["src/meta", "src/worker"],
    reason: "one reader of YAML that hostile texts cannot exhaust; answers are printed at the edge",
  },
  {
    name: "@kubernetes/client-node",
    folders: [],
    types: ["src/meta"],
    reason: "the types of Kubernetes objects, and only the types, come from src/meta/kubernetes",
  },
  { name: "cloudflare:", folders: ["durable-objects", "src/worker"], types: [], reason: "pure code knows no platform" },
];

const folders = steps.flatMap((step, level) => step.map((folder) => ({ ...folder, level })));

/** The row of the table that a path below the project's root belongs to; undefined for scripts, tests and configuration. */
export function folderOf(path: string): { path: string; level: number; beside?: readonly string[] } | undefined {
  return folders.find((folder) => path.startsWith(`${folder.path}/`));
}

/**
 * What is wrong with an import, or undefined.
 *
 * @param file path of the importing file below the project's root, with forward slashes
 * @param specifier the text between the quotes
 * @param typeOnly true for `import type`
 */
export function importViolation(file: string, specifier: string, typeOnly: boolean): string | undefined {
  const from = folderOf(file);
  if (!from) return undefined;
  if (!specifier.startsWith(".")) return packageViolation(from.path, specifier, typeOnly);
  const target = normalize(join(dirname(file), specifier));
  const to = folderOf(target);
  if (!to) return `${from.path} must not import ${target}: nothing below imports scripts or tests`;
  if (to.path === from.path || to.level < from.level || from.beside?.includes(to.path)) return undefined;
  return `${from.path} must not import ${to.path}: imports only go down (scripts/layers.ts)`;
}

function packageViolation(folder: string, specifier: string, typeOnly: boolean): string | undefined {
  const rule = packages.find((p) =>
    p.name.endsWith(":") ? specifier.startsWith(p.name) : specifier === p.name || specifier.startsWith(`${p.name}/`),
  );
  if (!rule) return `${specifier} is not in the table of packages in scripts/layers.ts`;
  if (rule.folders.includes(folder) || (typeOnly && rule.types?.includes(folder))) return undefined;
  return `${folder} must not import ${specifier}: ${rule.reason}`;
}
