/**
 * The layers of the code, lowest first: one table. The lint rule (eslint.config.js) and the tidy check refuse imports against it.
 *
 * A wing is a subject. A file imports from its own folder, from folders of its own wing on a lower step, and from wings on a lower storey. Wings of
 * one storey do not see each other. scripts/ and test/ import everything; nothing imports them.
 */
import { dirname, join, normalize } from "node:path/posix";

interface Wing {
  readonly path: string;
  /** its folders, lowest first, also those inside a folder, as "store/list"; files that stand in the wing's own folder are above them all */
  readonly steps: readonly (readonly string[])[];
  /** it speaks to the server as any client does, so nothing of the server imports it; each of its folders names in index.ts what is public */
  readonly isClient?: true;
}

/** Storeys of the house, lowest first. */
export const storeys: readonly (readonly Wing[])[] = [
  [{ path: "src/core", steps: [["base"], ["turns"], ["encoding", "tables"], ["net", "bitmap", "telemetry"], ["config"]] }],
  [
    {
      path: "src/api",
      steps: [
        ["schema", "meta"],
        ["schema/json"],
        ["schema/protobuf", "schema/kinds"],
        ["schema/openapi"],
        ["fields", "patch", "registry", "rpc"],
        ["store/state"],
        ["store/write", "store/hub"],
        ["store/engine"],
        ["store/list", "store/feeds"],
        ["store/watch"],
        ["store/quota"],
        ["store", "events", "client", "relay"],
      ],
    },
  ],
  [
    {
      path: "src/controllers",
      steps: [["followed"], ["frame"], ["advertised", "garbage-collection", "namespaces", "quotas", "every-namespace", "cluster-roles"]],
    },
    { path: "src/tenancy", steps: [] },
    {
      path: "src/access",
      steps: [["identity"], ["authorization"], ["rbac", "nodes", "fairness", "authentication", "audit"]],
    },
  ],
  [
    {
      path: "src/addresses",
      steps: [
        ["rpc"],
        ["alloc", "topology", "ranges", "metrics"],
        ["ledger", "node-ports"],
        ["coordinator/state"],
        ["clusterip", "coordinator", "repair"],
      ],
    },
    {
      path: "src/endpoints",
      steps: [["rpc"], ["sources", "metrics"], ["slices", "endpoints", "merge"], ["mirroring", "proxy-config"], ["controller"]],
    },
    { path: "src/fleet", steps: [] },
    { path: "src/leases", steps: [["election"], ["identity"]] },
    { path: "src/nodes", steps: [["pods"], ["lifecycle", "pod-collection", "taint-eviction"]] },
    { path: "src/pools", steps: [["load-balancers"]] },
    { path: "src/proxy-health", steps: [["rules"], ["pushed"]] },
  ],
  [{ path: "src/tools", steps: [["check"], ["backup", "import"]] }],
  [
    { path: "durable-objects", steps: [["sql"], ["platform"], ["peers", "answers"]] },
    {
      path: "src/clients",
      steps: [
        ["elector", "ranges", "services", "allocator"],
        ["dns", "proxy", "agent/ports"],
        ["agent/node", "agent/endpoints"],
        ["agent"],
      ],
      isClient: true,
    },
  ],
  [
    {
      path: "src/worker",
      steps: [
        ["http"],
        ["http/read"],
        ["http/negotiate"],
        ["http/answer"],
        ["http/connection"],
        ["routing"],
        ["access", "backups"],
        ["system"],
        ["system/discovery", "system/clusters"],
        ["handlers"],
        ["dispatch"],
      ],
    },
  ],
];

/** Packages, and the folders that alone may import them. `types` allows type-only imports in further folders. */
export const packages: readonly { name: string; folders: readonly string[]; types?: readonly string[]; reason: string }[] = [
  { name: "ipaddr.js", folders: ["src/core/net"], reason: "it parses loosely; src/core/net wraps it in one strict parser" },
  { name: "hono", folders: ["src/worker"], reason: "HTTP routing belongs to the Worker" },
  { name: "jose", folders: ["src/access/authentication"], reason: "signed tokens are read and made in one place" },
  { name: "fast-json-patch", folders: ["src/api/patch"], reason: "patching is pure API machinery" },
  {
    name: "yaml",
    folders: ["src/api/schema/json", "src/worker"],
    reason: "one reader of YAML that hostile texts cannot exhaust; answers are printed at the edge",
  },
  {
    name: "@kubernetes/client-node",
    folders: [],
    types: ["src/api/meta"],
    reason: "the types of Kubernetes objects, and only the types, come from src/api/meta/kubernetes",
  },
  { name: "cloudflare:", folders: ["durable-objects", "src/worker"], types: [], reason: "pure code knows no platform" },
];

/** Where a file stands. */
export interface Place {
  readonly wing: string;
  readonly storey: number;
  /** below the wing; "" = in the wing's own folder */
  readonly folder: string;
  /** -1 = the table does not name the folder */
  readonly step: number;
  readonly isClient: boolean;
}

/** The place of a path below the project's root; undefined for scripts, tests and configuration. */
export function placeOf(path: string): Place | undefined {
  for (const [storey, wings] of storeys.entries()) {
    for (const wing of wings) {
      const { isClient = false } = wing;
      if (!path.startsWith(`${wing.path}/`)) continue;
      const folder = folderIn(wing, path.slice(wing.path.length + 1));
      const step = folder === "" ? wing.steps.length : wing.steps.findIndex((folders) => folders.includes(folder));
      return { wing: wing.path, storey, folder, step, isClient };
    }
  }
  return undefined;
}

/** The innermost folder that the table names, or the outermost where it names none; "" = a file in the wing's own folder. */
function folderIn({ steps }: Wing, below: string): string {
  const [first = "", ...rest] = below.split("/").slice(0, -1);
  const folders = rest.reduce((found, name) => [...found, `${found.at(-1) ?? ""}/${name}`], [first]);
  return folders.findLast((folder) => steps.some((named) => named.includes(folder))) ?? first;
}

/**
 * What is wrong with an import, or undefined.
 *
 * @param file path of the importing file below the project's root, with forward slashes
 * @param specifier the text between the quotes
 * @param typeOnly true for `import type`
 */
export function importViolation(file: string, specifier: string, typeOnly: boolean): string | undefined {
  const from = placeOf(file);
  if (!from) return privateViolation(file, specifier);
  if (from.step < 0) return `${from.wing}/${from.folder} is not in the table of scripts/dev/layers.ts`;
  if (!specifier.startsWith(".")) return packageViolation(from, specifier, typeOnly);
  const target = normalize(join(dirname(file), specifier));
  const to = placeOf(target);
  if (!to) return `${file} must not import ${target}: nothing below imports scripts or tests`;
  if (to.isClient && to.wing !== from.wing)
    return `${folderOf(from)} must not import ${folderOf(to)}: only scripts import a client of the server`;
  if (to.storey < from.storey) return undefined;
  if (to.wing === from.wing && (to.folder === from.folder || to.step < from.step)) return undefined;
  return `${folderOf(from)} must not import ${folderOf(to)}: imports only go down (scripts/dev/layers.ts)`;
}

/** Programs use what a client's folder names as public; its tests see all of it. */
function privateViolation(file: string, specifier: string): string | undefined {
  if (!file.startsWith("scripts/") || !specifier.startsWith(".")) return undefined;
  const target = normalize(join(dirname(file), specifier));
  const to = placeOf(target);
  if (!to?.isClient) return undefined;
  const index = `${to.wing}/${to.folder.split("/")[0] ?? ""}/index`;
  return target.replace(/\.ts$/, "") === index ? undefined : `${file} must not import ${target}: ${index}.ts names what is public`;
}

function folderOf({ wing, folder }: Place): string {
  return folder === "" ? wing : `${wing}/${folder}`;
}

function packageViolation(from: Place, specifier: string, typeOnly: boolean): string | undefined {
  const rule = packages.find((p) =>
    p.name.endsWith(":") ? specifier.startsWith(p.name) : specifier === p.name || specifier.startsWith(`${p.name}/`),
  );
  if (!rule) return `${specifier} is not in the table of packages in scripts/dev/layers.ts`;
  const within = (folders: readonly string[] = []): boolean => folders.includes(from.wing) || folders.includes(folderOf(from));
  if (within(rule.folders) || (typeOnly && within(rule.types))) return undefined;
  return `${folderOf(from)} must not import ${specifier}: ${rule.reason}`;
}
