/** The fields of one environment (CLOUDFLARE_ENV), as wrangler takes them from [env.NAME] and from the top level. */
import { isTable, type Table, tableIn } from "./fields";

/** What the local server does as the fields say. An environment inherits the first ones. */
const INHERITED = ["name", "main", "compatibility_date", "compatibility_flags", "triggers", "migrations"];
const NOT_INHERITED = ["vars", "secrets", "define", "durable_objects", "kv_namespaces"];

/** Fields of a deployment, or of wrangler's own bundling and development server: the local server does without. */
const WITHOUT_EFFECT = new Set([
  ...["$schema", "account_id", "alias", "base_dir", "build", "cache", "compliance_region", "dev", "find_additional_modules"],
  ...[
    "first_party_worker",
    "jsx_factory",
    "jsx_fragment",
    "keep_names",
    "keep_vars",
    "legacy_env",
    "limits",
    "logpush",
    "minify",
    "no_bundle",
  ],
  ...["observability", "placement", "preserve_file_names", "preview_urls", "previews", "python_modules", "route", "routes", "rules"],
  ...["send_metrics", "tsconfig", "upload_source_maps", "workers_dev"],
]);

/** Fields that give a Worker something that the local server does not have. */
const UNSUPPORTED = new Set([
  ...[
    "ai",
    "ai_search",
    "ai_search_namespaces",
    "analytics_engine_datasets",
    "artifacts",
    "assets",
    "browser",
    "cloudchamber",
    "containers",
  ],
  ...["d1_databases", "data_blobs", "dispatch_namespaces", "flagship", "hyperdrive", "images", "logfwdr", "media", "mtls_certificates"],
  ...["node_compat", "pages_build_output_dir", "pipelines", "queues", "r2_buckets", "ratelimits", "secrets_store_secrets", "send_email"],
  ...[
    "services",
    "site",
    "stream",
    "streaming_tail_consumers",
    "tail_consumers",
    "text_blobs",
    "unsafe",
    "unsafe_hello_world",
    "vectorize",
  ],
  ...["version_metadata", "vpc_networks", "vpc_services", "wasm_modules", "worker_loaders", "workflows"],
]);

/** Bindings without which the Worker does: the local server has none of them. Others of these fields are refused. */
const SPARED: Readonly<Record<string, string>> = {
  version_metadata: "CF_VERSION_METADATA",
  r2_buckets: "BACKUPS",
  analytics_engine_datasets: "FLEET_METRICS",
};

export interface Chosen {
  fields: Table;
  /** one line each; the fields count all the same */
  warnings: string[];
}

/** `name`: of the environment; undefined or "" = the top level. Throws an error of one line, also for a field that asks for what the local server does not have. */
export function chooseEnvironment(top: Table, name: string | undefined): Chosen {
  const warnings = unknownFields(top, "", ["env"]);
  if (!name) return { fields: picked(top, [...INHERITED, ...NOT_INHERITED]), warnings };
  const environments = tableIn(top, "env");
  const own = environments[name];
  const suffixed = typeof top["name"] === "string" ? { name: `${top["name"]}-${name}` } : {};
  const inherited = { ...picked(top, INHERITED), ...suffixed };
  if (own === undefined) {
    const names = Object.keys(environments).join(", ");
    if (names !== "") throw new Error(`there is no environment "${name}" of $CLOUDFLARE_ENV (there is ${names})`);
    const absent = `there is no environment "${name}" of $CLOUDFLARE_ENV; the top level counts`;
    return { fields: { ...inherited, ...picked(top, NOT_INHERITED) }, warnings: [...warnings, absent] };
  }
  if (!isTable(own)) throw new Error(`"env.${name}" must be a table`);
  const missing = NOT_INHERITED.filter((field) => top[field] !== undefined && own[field] === undefined).map(
    (field) => `"${field}" of the top level does not count in "env.${name}", which has none of its own`,
  );
  const fields = { ...inherited, ...picked(own, [...INHERITED, ...NOT_INHERITED]) };
  return { fields, warnings: [...warnings, ...unknownFields(own, `env.${name}.`, []), ...missing] };
}

/** One line where there are some. Throws for a field that asks for what the local server does not have. */
function unknownFields(table: Table, where: string, further: readonly string[]): string[] {
  const known = new Set([...INHERITED, ...NOT_INHERITED, ...further]);
  const others = Object.keys(table).filter((field) => !known.has(field) && !WITHOUT_EFFECT.has(field));
  const unsupported = others.filter((field) => UNSUPPORTED.has(field) && !isSpared(field, table[field]));
  if (unsupported.length > 0) throw new Error(`the local server does not have ${quoted(unsupported, where)}`);
  const unknown = others.filter((field) => !UNSUPPORTED.has(field));
  return unknown.length > 0 ? [`unknown fields: ${quoted(unknown, where)}`] : [];
}

/** Whether all bindings of the field are spared. An empty field has none. */
function isSpared(field: string, value: unknown): boolean {
  const bindings = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  return isEmpty(value) || bindings.every((one) => isTable(one) && one["binding"] !== undefined && one["binding"] === SPARED[field]);
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isTable(value) && Object.values(value).every(isEmpty);
}

function quoted(fields: readonly string[], where: string): string {
  return fields.map((field) => `"${where}${field}"`).join(", ");
}

function picked(table: Table, fields: readonly string[]): Table {
  return Object.fromEntries(fields.filter((field) => table[field] !== undefined).map((field) => [field, table[field]]));
}
