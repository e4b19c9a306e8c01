/**
 * The one private thing of Miniflare: the code of its KV namespaces, by its files (scripts/serve/workerd/key-value.ts). A failure after an upgrade: compare
 * `kv` in Miniflare's dist/src/index.js, write its services anew there, see that old data are read, then change MINIFLARE_VERSION.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type * as MiniflarePackage from "miniflare";
import { expect, it } from "vitest";
import { requirePackage } from "../../../scripts/running/root.mjs";
import { MINIFLARE_VERSION, namespaceExtension, namespaceServices } from "../../../scripts/serve/workerd/key-value";

interface Module {
  name: string;
  esModule?: { text: string } | string;
}
interface Service {
  name: string;
  disk?: object;
  worker?: { modules: Module[]; bindings: { name: string; service?: unknown; durableObjectNamespace?: object; text?: string }[] };
}

const { KV_PLUGIN } = requirePackage("miniflare") as typeof MiniflarePackage;
const packagePath = join(dirname(requirePackage.resolve("miniflare")), "../../package.json");
const { version } = JSON.parse(readFileSync(packagePath, "utf8")) as { version: string };

it(`Miniflare's KV is that of ${MINIFLARE_VERSION}: its services differ from ours in names, and in the socket that ours do without`, async () => {
  expect(version, "see the head of this file").toBe(MINIFLARE_VERSION);
  const options = { options: { kvNamespaces: { A: { id: "a" } } }, sharedOptions: {}, defaultPersistRoot: "/state", tmpPath: "/tmp/none" };
  const theirs = (await KV_PLUGIN.getServices(options as never)) as Service[];
  const names: Record<string, string> = { "kv:ns:a": "kv:a", "kv:ns": "kv", "kv:storage": "kv:disk" };
  const renamed = JSON.parse(
    JSON.stringify(theirs).replaceAll(/"(kv:ns:a|kv:ns|kv:storage)"/g, (_, name: string) => `"${names[name] ?? ""}"`),
  ) as Service[];
  const ours = namespaceServices(["a"], "/state/kv") as unknown as Service[];
  const byName = (services: Service[]) => Object.fromEntries(services.map((service) => [service.name, shown(service)]));
  expect(byName(renamed)).toEqual(byName(ours));
});

it("the modules that the code of Miniflare's KV imports: are there, or those of the runtime", () => {
  const code = ["shared/object-entry", "kv/namespace"].map((name) =>
    readFileSync(join(dirname(requirePackage.resolve("miniflare")), "workers", `${name}.worker.js`), "utf8"),
  );
  const imported = new Set(code.flatMap((text) => [...text.matchAll(/from "((?!node:)[^"]+)"/g)].map(([, name]) => name)));
  const { modules } = namespaceExtension() as unknown as { modules: Module[] };
  expect([...imported]).toEqual(modules.map(({ name }) => name));
});

/** A service without the text of its modules, of which the file is compared, and without the socket. */
function shown({ worker, ...service }: Service): object {
  if (!worker) return service;
  const { modules, bindings, ...rest } = worker;
  const kept = bindings.filter(({ name }) => name !== "MINIFLARE_LOOPBACK");
  return {
    ...service,
    ...rest,
    modules: modules.map(({ name, esModule }) => [name, fingerprintOf(esModule)]),
    bindings: kept.map(({ service: name, ...binding }) => ({ ...binding, ...(name === undefined ? {} : { service: serviceName(name) }) })),
  };
}

function serviceName(name: unknown): unknown {
  return typeof name === "string" ? name : (name as { name: string }).name;
}

/** Of the code: ours names a file, Miniflare's has its text and the place of the file. */
function fingerprintOf(esModule: Module["esModule"]): string {
  const text = typeof esModule === "object" ? (/^embed "(.*)"$/.exec(esModule.text)?.[1] ?? "") : (esModule ?? "");
  const content = existsSync(text) ? readFileSync(text, "utf8") : text;
  const code = content.replace(/\n?\/\/# source\w+=.*/g, "").trim();
  return createHash("sha256").update(code).digest("hex");
}
