/**
 * KV namespaces of a local server: those of Miniflare, whose data folders exist. They are the only code of Miniflare that runs here. Its Node side
 * would open two more sockets, which do not authenticate (SECURITY.md). Files of the package are no public interface: `npm test` compares them with
 * what is written here (test/e2e/serve/key-value.test.ts).
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { requirePackage } from "../../running/root.mjs";
import { type ConfigValue, embedded } from "./config-text";

/** What the files below `dist/src/workers` are of. */
export const MINIFLARE_VERSION = "4.20260426.0";
const DATE = "2023-07-24";
const [STORE, DISK, CLASS] = ["kv", "kv:disk", "KVNamespaceObject"];

/** Name of the service of a namespace. */
export function namespaceService(id: string): string {
  return `kv:${id}`;
}

/** The services of the namespaces, which keep their data in the folder. */
export function namespaceServices(ids: readonly string[], folder: string): ConfigValue[] {
  const namespaces = ids.map((id) => ({
    name: namespaceService(id),
    worker: {
      modules: [{ name: "object-entry.worker.js", esModule: code("shared/object-entry") }],
      compatibilityDate: DATE,
      bindings: [
        { name: "MINIFLARE_NAMESPACE", text: id },
        { name: "MINIFLARE_OBJECT", durableObjectNamespace: { serviceName: STORE, className: CLASS } },
      ],
    },
  }));
  const store = {
    name: STORE,
    worker: {
      modules: [{ name: "namespace.worker.js", esModule: code("kv/namespace") }],
      compatibilityDate: DATE,
      compatibilityFlags: ["nodejs_compat", "experimental"],
      durableObjectNamespaces: [{ className: CLASS, uniqueKey: `miniflare-${CLASS}` }],
      durableObjectStorage: { localDisk: DISK },
      // Without "MINIFLARE_LOOPBACK": errors come to the log of the runtime.
      bindings: [{ name: "MINIFLARE_BLOBS", service: DISK }],
    },
  };
  return [...namespaces, store, { name: DISK, disk: { path: folder, writable: true } }];
}

/** What the code of the namespaces imports. */
export function namespaceExtension(): ConfigValue {
  return { modules: [{ name: "miniflare:shared", esModule: code("shared/index") }] };
}

function code(name: string): ConfigValue {
  const path = join(dirname(requirePackage.resolve("miniflare")), "workers", `${name}.worker.js`);
  if (!existsSync(path)) throw new Error(`the package miniflare has no ${path}: this is written for version ${MINIFLARE_VERSION}`);
  return embedded(path);
}
